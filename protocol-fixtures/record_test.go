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
		{
			client,
			`{"params":{"mcpServers":[{"name":"m","env":[{"name":"KEY","value":"secret"}]},{"headers":[{"name":"Authorization","value":"Bearer secret"}]},{"env":null}]}}`,
		},
		{client, `{"params":{"mcpServers":[{"name":"$HOME","env":[{"name":"KEY","value":"secret"}]}]}}`},
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
{"client": {"params":{"mcpServers":[{"name":"m","env":[{"name":"KEY","value":"xxxxx"}]},{"headers":[{"name":"Authorization","value":"xxxxx"}]},{"env":null}]}}}
{"client": "{\"params\":{\"mcpServers\":[{\"name\":\"$HOME\",\"env\":[{\"name\":\"KEY\",\"value\":\"xxxxx\"}]}]}}"}
{"agent":  {"text":"<in /w, session ${S}>"}}
`
	if got := b.String(); got != recordedPreamble+want || r.Err() != nil {
		t.Errorf("%v\n%s", r.Err(), got)
	}
	f, err := Parse("x.txtar", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.steps) != 11 {
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

// TestRecorderLoosens checks that values of this run or machine become "$ANY" or a
// name.
func TestRecorderLoosens(t *testing.T) {
	for name, c := range map[string]struct{ got, want []string }{
		"times": {
			[]string{
				`{"params":{"update":{"sessionUpdate":"session_info_update","title":"x","updatedAt":"2026-01-01T00:00:00Z"}}}`,
				`{"result":{"sessions":[{"updatedAt":"2026-01-01T00:00:00Z"},{"updatedAt":null}]}}`,
				`{"params":{"update":{"sessionUpdate":"tool_call","updatedAt":"x"}}}`,
			},
			[]string{
				`{"params":{"update":{"sessionUpdate":"session_info_update","title":"x","updatedAt":"$ANY"}}}`,
				`{"result":{"sessions":[{"updatedAt":"$ANY"},{"updatedAt":null}]}}`,
				`{"params":{"update":{"sessionUpdate":"tool_call","updatedAt":"x"}}}`,
			},
		},
		"the environment": {
			[]string{
				`{"method":"terminal/create","params":{"command":"ls","env":[{"name":"A","value":""}]}}`,
				`{"method":"other","params":{"env":[]}}`,
			},
			[]string{`{"method":"terminal/create","params":{"command":"ls","env":"$ANY"}}`, `{"method":"other","params":{"env":[]}}`},
		},
		"models": {
			[]string{
				`{"result":{"configOptions":[{"category":"mode","currentValue":"a:b"},{"category":"model","currentValue":"script:/m/x.jsonl","options":[{"value":"script:/m/x.jsonl"}]}]}}`,
				`{"text":"it is script:/m/x.jsonl"}`,
				`{"text":"the answers of /m/x.jsonl"}`,
			},
			[]string{
				`{"result":{"configOptions":[{"category":"mode","currentValue":"a:b"},{"category":"model","currentValue":"$MODEL","options":"$ANY"}]}}`,
				`{"text":"it is ${MODEL}"}`,
				`{"text":"$ANY"}`,
			},
		},
		"two models": {
			[]string{
				`{"result":{"configOptions":[{"category":"model","currentValue":"c:a","options":[]}]}}`,
				`{"params":{"update":{"configOptions":[{"category":"model","currentValue":"c:b","options":[]}]}}}`,
			},
			[]string{
				`{"result":{"configOptions":[{"category":"model","currentValue":"$MODEL","options":"$ANY"}]}}`,
				`{"params":{"update":{"configOptions":[{"category":"model","currentValue":"$MODEL1","options":"$ANY"}]}}}`,
			},
		},
		"the built-in model": {
			[]string{`{"result":{"configOptions":[{"category":"model","currentValue":"direct","options":[]}]}}`, `{"text":"direct"}`},
			[]string{`{"result":{"configOptions":[{"category":"model","currentValue":"direct","options":[]}]}}`, `{"text":"direct"}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			r := NewRecorder(&b)
			want := recordedPreamble
			for i, line := range c.got {
				r.Trace(agent, []byte(line))
				want += `{"agent":  ` + c.want[i] + "}\n"
			}
			if got := b.String(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
