package fixtures

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
)

func TestRecorder(t *testing.T) {
	const id = "0f4f1c3e-0000-4000-8000-000000000001"
	var b bytes.Buffer
	r := NewRecorder(&b)
	for _, l := range [][2]string{
		{client, `{"id":"initialize","method":"initialize"}`},
		{client, `{"method":"session/new","params":{"cwd":"/home/x/proj"}}`},
		{agent, `{"id":1,"result":{"sessionId":"` + id + `"}}`},
		{client, `{"sessionId":"` + id + `","path":"/home/x/proj/a","n":1.0}`},
		{client, `{nope`},
		{client, `[1]`},
		{client, "bad \xff bytes"},
		{client, `{"text":"$HOME"}`},
		{agent, `{"text":"<in /home/x/proj, session ` + id + `>"}`},
	} {
		r.Trace(l[0], []byte(l[1]))
	}
	want := `{"client": {"id":"initialize","method":"initialize"}}
{"client": {"method":"session/new","params":{"cwd":"/w"}}}
{"agent":  {"id":1,"result":{"sessionId":"$S"}}}
{"client": {"sessionId":"$S","path":"/w/a","n":1.0}}
{"client": "{nope"}
{"client": "[1]"}
{"client_base64": "YmFkIP8gYnl0ZXM="}
{"client": "{\"text\":\"$HOME\"}"}
{"agent":  {"text":"<in /w, session ${S}>"}}
`
	if got := b.String(); got != recorded+want || r.Err() != nil {
		t.Errorf("%v\n%s", r.Err(), got)
	}
	f, err := Parse("x.txtar", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.steps) != 9 {
		t.Errorf("%d steps", len(f.steps))
	}
}

func TestRecorderIsConcurrent(t *testing.T) {
	var b bytes.Buffer
	r := NewRecorder(&b)
	var all sync.WaitGroup
	for _, side := range []string{client, agent} {
		all.Go(func() {
			for range 100 {
				r.Trace(side, []byte(`{"a":1}`))
			}
		})
	}
	all.Wait()
	if n := strings.Count(b.String(), "\n"+`{"`); n != 200 {
		t.Errorf("%d lines", n)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestRecorderError(t *testing.T) {
	r := NewRecorder(full{})
	r.Trace(client, []byte(`{}`))
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Error(err)
	}
}
