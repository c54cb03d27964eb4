package fixtures

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
)

// serve runs a server that answers each line of its input with lines. At the end of
// the input it writes last.
func serve(t *testing.T, answer func(line string) []string, last ...string) Conn {
	in, clientOut := io.Pipe()
	clientIn, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer out.Close()
		for s := bufio.NewScanner(in); s.Scan(); {
			for _, l := range answer(s.Text()) {
				fmt.Fprintln(out, l)
			}
		}
		for _, l := range last {
			fmt.Fprintln(out, l)
		}
	}()
	t.Cleanup(func() { <-done })
	return Conn{In: clientOut, Out: clientIn, Workspace: "/real/w"}
}

// agentOf answers initialize, and the line {"say":LINES} with LINES.
func agentOf(line string) []string {
	if strings.Contains(line, `"initialize"`) {
		return []string{`{"jsonrpc":"2.0","id":"initialize","result":{}}`}
	}
	n, err := parseNode([]byte(line))
	if err != nil || n.member("say") == nil {
		return nil
	}
	var lines []string
	for _, v := range n.member("say").items {
		lines = append(lines, v.String())
	}
	return lines
}

func fixture(t *testing.T, frames string) *Fixture {
	t.Helper()
	f, err := Parse("dir/x.txtar", []byte("Why.\n\n-- frames.jsonl --\n"+frames))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// update is a session/update as a test writes it.
func update(session, text string) string {
	return fmt.Sprintf(`{"method":"session/update","params":{"sessionId":%q,"update":{"text":%q}}}`, session, text)
}

func TestPlay(t *testing.T) {
	a1, a2, b1 := update("a", "1"), update("a", "2"), update("b", "1")
	say := func(lines ...string) string { return `{"client": {"say":[` + strings.Join(lines, ",") + "]}}\n" }
	want := func(lines ...string) string {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(`{"agent":  ` + l + "}\n")
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		frames string
		last   []string
		err    string // part of the error; empty means none
	}{
		"in order":                    {say(a1, a2) + want(a1, a2), nil, ""},
		"out of order":                {say(a2, a1) + want(a1, a2), nil, `frames.jsonl:2: at params.update.text`},
		"sessions pass each other":    {say(b1, a1, a2) + want(a1, a2, b1), nil, ""},
		"not within a session":        {say(b1, a2, a1) + want(a1, a2, b1), nil, "params.update.text"},
		"what has no session doesn't": {say(b1, `{"id":null,"error":1}`) + want(`{"id":null,"error":1}`, b1), nil, "frames.jsonl:2"},
		"not past the client":         {say(b1, a1) + want(a1) + say() + want(b1), nil, "frames.jsonl:2: unexpected frame"},
		"any order":                   {say(a2, b1, a1) + want("["+a1+","+b1+","+a2+"]"), nil, ""},
		"any order, but these":        {say(a2, a2) + want("["+a1+","+a2+"]"), nil, "frames.jsonl:2"},
		"one too many":                {say(a1, a2) + want(a1), nil, "after the last line the agent wrote"},
		"one at the end":              {say(a1) + want(a1), []string{a2}, "after the last line the agent wrote"},
		"names": {
			say(update("s-1", "x")) + want(update("$S", "x")) + `{"client": {"say":[` + update("$S", "to ${S}") + "]}}\n" + want(update("$S", "to s-1")),
			nil,
			"",
		},
		"an unbound name":  {`{"client": {"id":"$X"}}`, nil, "$X is not bound"},
		"the workspace":    {say(update("a", "/w/x")) + want(update("a", "/w/x")), nil, ""},
		"sent as it is":    {`{"client": "{\"say\":[{\"a\":\"/real/w\",\"b\":\"$X\"}]}"}` + "\n" + want(`{"a":"/w","b":"$ANY"}`), nil, ""},
		"base64":           {`{"client_base64": "eyJzYXkiOlt7fV19"}` + "\n" + want("{}"), nil, ""},
		"nothing recorded": {say(a1) + want("null"), nil, "run with -update"},
		"no initialize of its own": {
			`{"client": {"id":"initialize","method":"initialize"}}` + "\n" + want(`{"jsonrpc":"2.0","id":"initialize","result":{}}`),
			nil,
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := Play(fixture(t, tt.frames), serve(t, agentOf, tt.last...))
			switch {
			case tt.err == "" && err != nil:
				t.Error(err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

// TestPlayToADeadServer checks that a server's early end is an error.
func TestPlayToADeadServer(t *testing.T) {
	f := fixture(t, `{"client": {"method":"initialize"}}`+"\n"+`{"agent":  {"id":1}}`)
	in, clientOut := io.Pipe()
	clientIn, out := io.Pipe()
	go func() { _, _ = in.Read(make([]byte, 1)); in.Close(); out.Close() }()
	err := Play(f, Conn{In: clientOut, Out: clientIn})
	if err == nil {
		t.Error("Play with a server that ended: got no error")
	}
}

func TestRewrite(t *testing.T) {
	const id, id2 = "0f4f1c3e-0000-4000-8000-000000000001", "0f4f1c3e-0000-4000-8000-000000000002"
	f := fixture(t, `{"client": {"say":[{"id":1,"result":{"sessionId":"`+id+`","modes":[1]}},{"id":2,"error":"session `+id+` /real/w"}]}}
{"agent":  {"id":1,"result":{"sessionId":"$S","modes":"$ANY","gone":1}}}

{"client": {"say":[`+update("$S", "x")+`,{"z":"`+id2+`","a":1.0}]}}
{"agent":  null}
`)
	got, err := Rewrite(f, serve(t, agentOf))
	if err != nil {
		t.Fatal(err)
	}
	want := `Why.

-- frames.jsonl --
{"client": {"say":[{"id":1,"result":{"sessionId":"` + id + `","modes":[1]}},{"id":2,"error":"session ` + id + ` /real/w"}]}}
{"agent":  {"id":1,"result":{"sessionId":"$S","modes":"$ANY"}}}
{"agent":  {"id":2,"error":"session ${S} /w"}}

{"client": {"say":[` + update("$S", "x") + `,{"z":"` + id2 + `","a":1.0}]}}
{"agent":  ` + update("$S", "x") + `}
{"agent":  {"z":"$U1","a":1.0}}
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	again, err := Parse("x.txtar", got)
	if err != nil {
		t.Fatal(err)
	}
	if err := Play(again, serve(t, agentOf)); err != nil {
		t.Error(err)
	}
}

// TestRewriteKeepsTheOrderOfAnArray checks that the frames of an array keep the
// file's order.
func TestRewriteKeepsTheOrderOfAnArray(t *testing.T) {
	file := func(said string) string {
		return `{"client": {"say":[` + said + "]}}\n" + `{"agent":  [{"id":1,"result":1}, {"id":2,"result":2}, {"id":3,"result":3}]}` + "\n"
	}
	const said = `{"id":3,"result":3},{"id":1,"result":1},{"id":2,"result":2}`
	got, err := Rewrite(fixture(t, file(said)), serve(t, agentOf))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(got), file(said)) {
		t.Errorf("got\n%s", got)
	}
}

// TestRewriteLoosens checks that values of this run become "$ANY" or a name, and
// that the file's other values stay.
func TestRewriteLoosens(t *testing.T) {
	for name, c := range map[string]struct{ said, was, want string }{
		"a model of the run": {
			`{"result":{"configOptions":[{"category":"model","currentValue":"script:/real/m","options":[1]}]}}`,
			"null",
			`{"result":{"configOptions":[{"category":"model","currentValue":"$MODEL","options":"$ANY"}]}}`,
		},
		"a model with a name": {
			`{"result":{"configOptions":[{"category":"model","currentValue":"script:/real/m","options":[1]}]}}`,
			`{"result":{"configOptions":[{"category":"model","currentValue":"$X","options":"$ANY"}]}}`,
			`{"result":{"configOptions":[{"category":"model","currentValue":"$X","options":"$ANY"}]}}`,
		},
		"a model of the file": {
			`{"result":{"configOptions":[{"category":"model","currentValue":"c:a","options":[]}]}}`,
			"null",
			`{"result":{"configOptions":[{"category":"model","currentValue":"c:a","options":[]}]}}`,
		},
		"a text of the run": {`{"text":"Replays the answers in /real/m"}`, "null", `{"text":"$ANY"}`},
		"the workspace":     {`{"text":"in /real/w/m"}`, "null", `{"text":"in /w/m"}`},
		"an environment": {
			`{"method":"terminal/create","params":{"env":[1]}}`,
			"null",
			`{"method":"terminal/create","params":{"env":"$ANY"}}`,
		},
		"an environment spelt out": {
			`{"method":"terminal/create","params":{"env":[2]}}`,
			`{"method":"terminal/create","params":{"env":[1]}}`,
			`{"method":"terminal/create","params":{"env":[2]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := fixture(t, `{"client": {"say":[`+c.said+"]}}\n"+`{"agent":  `+c.was+"}\n")
			got, err := Rewrite(f, serve(t, agentOf))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(string(got), "\n"+`{"agent":  `+c.want+"}\n") {
				t.Errorf("got\n%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	const frames = "-- frames.jsonl --\n{\"client\": {}}\n"
	for name, tt := range map[string]struct{ file, err string }{
		"no preamble":   {frames, "no preamble"},
		"no frames":     {"Why.\n-- config.toml --\n", "no frames.jsonl"},
		"unknown name":  {"Why.\n-- config.yaml --\n" + frames, "config.yaml: unknown name"},
		"out of w":      {"Why.\n-- w/../x --\n" + frames, "unknown name"},
		"twice":         {"Why.\n" + frames + frames, "there twice"},
		"no side":       {"Why.\n-- frames.jsonl --\n\n{\"server\": {}}\n", "frames.jsonl: 2: want"},
		"not JSON":      {"Why.\n-- frames.jsonl --\nnope\n", "frames.jsonl: 1: want"},
		"a number":      {"Why.\n-- frames.jsonl --\n{\"agent\": 1}\n", "agent: want a frame"},
		"client number": {"Why.\n-- frames.jsonl --\n{\"client\": 1}\n", "client: want a frame"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse("x.txtar", []byte(tt.file)); err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Why.\n-- frames.jsonl --\n{\"client\": \"x\"}\n{\"agent\": [{}]}\n")
	f.Fuzz(func(_ *testing.T, s string) { _, _ = Parse("x.txtar", []byte(s)) })
}
