package provider

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// TestWireBytes cuts each stream after every byte: the boundaries of network
// reads must not change an event.
func TestWireBytes(t *testing.T) {
	for name, d := range dialects {
		for _, b := range behaviours {
			if b.fails != nil || len(b.answers) > 1 || !exists(name, b.answers[0]) {
				continue
			}
			whole, err := d.events(fixture(t, name, b.answers[0]), func(r io.Reader) io.Reader { return r })
			if err != nil {
				t.Errorf("%s/%s: %v", name, b.answers[0], err)
			}
			pieces, err := d.events(fixture(t, name, b.answers[0]), iotest.OneByteReader)
			if diff := cmp.Diff(whole, pieces); err != nil || diff != "" {
				t.Errorf("%s/%s: %v (-whole +pieces)\n%s", name, b.answers[0], err, diff)
			}
		}
	}
}

// FuzzWire reads a stream that ends anywhere, in two pieces. It must end with a
// stop or an error, preceded by the same events as the whole stream.
func FuzzWire(f *testing.F) {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range dialects {
			if !yield(name) {
				return
			}
		}
	})
	for i, name := range names {
		files, _ := filepath.Glob(filepath.Join("testdata", "wire", name, "*.txt"))
		for _, file := range files {
			body := fixtureBody(f, fixture(f, name, strings.TrimSuffix(filepath.Base(file), ".txt")))
			f.Add(i, []byte(body), len(body)/2)
			f.Add(i, []byte(body[:len(body)*2/3]), 7)
		}
	}
	f.Fuzz(func(t *testing.T, i int, body []byte, cut int) {
		d := dialects[names[uint(i)%uint(len(names))]]
		res := func() *http.Response {
			return &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(body))}
		}
		whole, err := d.events(res(), func(r io.Reader) io.Reader { return r })
		stops := 0
		for i, ev := range whole {
			if ev == (llm.Event{}) {
				t.Error("an empty event")
			}
			if ev.Call != nil && !json.Valid(ev.Call.Input) {
				t.Errorf("input %s", ev.Call.Input)
			}
			if ev.Stop != "" {
				if stops++; i != len(whole)-1 {
					t.Errorf("%+v after the stop", whole[i+1])
				}
			}
		}
		if (stops == 1) == (err != nil) {
			t.Errorf("%d stops and error %v", stops, err)
		}
		cut = max(min(cut, len(body)), 0)
		two, err2 := d.events(res(), func(r io.Reader) io.Reader {
			return io.MultiReader(io.LimitReader(r, int64(cut)), r)
		})
		if diff := cmp.Diff(whole, two); diff != "" || (err == nil) != (err2 == nil) {
			t.Errorf("cut at %d: %v, %v (-whole +cut)\n%s", cut, err, err2, diff)
		}
	})
}

// TestWireCutAnywhere ends streams after each byte: the events are a prefix of the whole
// stream's events, followed by a stop or an error.
func TestWireCutAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of streams on one goroutine: nothing for the race detector")
	}
	for name, d := range dialects {
		for _, file := range []string{"text", "parallel"} {
			whole, err := d.events(fixture(t, name, file), func(r io.Reader) io.Reader { return r })
			if err != nil {
				t.Fatalf("%s/%s: %v", name, file, err)
			}
			body := fixtureBody(t, fixture(t, name, file))
			for n := range len(body) {
				got, err := d.events(fixture(t, name, file), func(r io.Reader) io.Reader { return io.LimitReader(r, int64(n)) })
				stopped := len(got) > 0 && got[len(got)-1].Stop != ""
				if stopped == (err != nil) || !stopped && len(got) > 0 && (len(got) > len(whole) || cmp.Diff(whole[:len(got)], got) != "") {
					t.Fatalf("%s/%s: after %d bytes %v, %+v", name, file, n, err, got)
				}
			}
		}
	}
}

// events decodes a response whose body is read through cut.
func (d dialect) events(res *http.Response, cut func(io.Reader) io.Reader) (events []llm.Event, err error) {
	emit := func(ev llm.Event) bool { events = append(events, ev); return true }
	res.Body = io.NopCloser(cut(res.Body))
	chunks, a := d.decode()
	for chunk, err := range chunks(res) {
		if err != nil {
			return events, err
		}
		if done, err := a.ReadChunk(chunk, emit); done || err != nil {
			return events, err
		}
	}
	return events, a.End(emit)
}
