package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestRawFrames sends lines that no real client sends, before
// anything else. want lists the answers in order, as id and error code (0 is a
// result). The agent must live on. The fixtures cover most of the cases too.
//
// Statements 14, 22.
func TestRawFrames(t *testing.T) {
	const init = `"method":"initialize","params":{"protocolVersion":1}}`
	ok := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,` + init }
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, tt := range map[string]struct {
		send string
		want string
	}{
		"not JSON":               {"{nope\n", "null -32700"},
		"half a frame":           {`{"jsonrpc":"2.0","id":1` + "\n", "null -32700"},
		"batch":                  {"[" + ok("1") + "]\n", "null -32600"},
		"empty batch":            {"[]\n", "null -32600"},
		"scalars":                {"42\n\"x\"\nnull\ntrue\n", "null -32600, null -32600, null -32600, null -32600"},
		"nothing but an id":      {`{"jsonrpc":"2.0","id":5}` + "\n", "null -32600"},
		"method of another type": {`{"jsonrpc":"2.0","id":5,"method":7}` + "\n", "null -32600"},
		"no jsonrpc":             {`{"id":5,` + init + "\n", "null -32600"},
		"id null":                {ok("null") + "\n", "null 0"},
		"ids of every kind": {
			ok(`"a"`) + "\n" + ok(`""`) + "\n" + ok("0") + "\n" + ok("-1") + "\n" + ok("9007199254740993") + "\n" + ok(`"1"`) + "\n" + ok("1") + "\n" + ok("1.5") + "\n",
			`"a" 0, "" 0, 0 0, -1 0, 9007199254740993 0, "1" 0, 1 0, 1.5 0`,
		},
		"ids that are none": {
			ok("true") + "\n" + ok("{}") + "\n" + ok("[]") + "\n",
			"null -32600, null -32600, null -32600",
		},
		"blank lines":           {"\n  \n\r\n" + ok("1") + "\r\n", "1 0"},
		"byte order mark":       {"\ufeff" + ok("1") + "\n", "1 0"},
		"invalid UTF-8":         {`{"jsonrpc":"2.0","id":1,"method":"foo","params":{"x":"` + "\xff" + `"}}` + "\n", "1 -32601"},
		"unknown method":        {`{"jsonrpc":"2.0","id":1,"method":"foo/bar"}` + "\n", "1 -32601"},
		"extension":             {`{"jsonrpc":"2.0","id":1,"method":"_vendor/x","params":[]}` + "\n", "1 -32601"},
		"unknown notifications": {`{"jsonrpc":"2.0","method":"_vendor/x"}` + "\n" + `{"jsonrpc":"2.0","method":"foo/x"}` + "\n", ""},
		"bad notifications": {
			`{"jsonrpc":"2.0","method":"session/cancel"}` + "\n" +
				`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"gone"}}` + "\n" +
				`{"jsonrpc":"2.0","method":"session/cancel","params":7}` + "\n" +
				`{"jsonrpc":"2.0","method":"session/prompt","params":{}}` + "\n" +
				`{"jsonrpc":"2.0","method":"$/cancel_request"}` + "\n",
			"",
		},
		"params of another type": {
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}` + "\n" +
				`{"jsonrpc":"2.0","id":2,"method":"session/new","params":"x"}` + "\n" +
				`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":5}` + "\n",
			"1 -32602, 2 -32602, 3 -32602",
		},
		"no params": {
			`{"jsonrpc":"2.0","id":1,"method":"initialize"}` + "\n" +
				`{"jsonrpc":"2.0","id":2,"method":"session/new"}` + "\n" +
				`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":null}` + "\n",
			"1 -32602, 2 -32602, 3 -32602",
		},
		"a relative cwd": {`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"x","mcpServers":[]}}` + "\n", "1 -32602"},
		"a cwd that is not there": {
			`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/nonexistent/x","mcpServers":[]}}` + "\n",
			"1 -32602",
		},
		"a relative additional one": {
			`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","additionalDirectories":["x"],"mcpServers":[]}}` + "\n",
			"1 -32602",
		},
		"unknown session": {
			`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":` + promptParams("gone", "hi") + "}\n",
			"1 -32002",
		},
		"unknown members": {
			`{"jsonrpc":"2.0","id":1,"x":1,"method":"initialize","params":{"protocolVersion":1,"_meta":{"a":1},"y":[],"clientCapabilities":{"fs":"yes","terminal":1,"session":null,"elicitation":true,"_meta":7},"clientInfo":8}}` + "\n",
			"1 0",
		},
		"duplicate members": {
			`{"jsonrpc":"2.0","id":1,"id":2,"method":"foo","method":"initialize","params":{"protocolVersion":1}}` + "\n",
			"2 0",
		},
		"responses to nothing": {
			`{"jsonrpc":"2.0","id":77,"result":{}}` + "\n" +
				`{"jsonrpc":"2.0","id":78,"result":1,"error":{}}` + "\n" +
				`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}` + "\n" +
				`{"jsonrpc":"2.0","id":{},"result":{}}` + "\n",
			"",
		},
		"deep nesting": {`{"jsonrpc":"2.0","id":1,"method":"_x","params":` + deep(10_000) + "}\n", "null -32700"},
		"deep enough": {
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"_meta":` + deep(9_000) + "}}\n",
			"1 0",
		},
		"a deep id":                   {`{"jsonrpc":"2.0","id":` + deep(9_000) + `,"method":"_x"}` + "\n", "null -32600"},
		"deep objects":                {strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001) + "\n", "null -32700"},
		"deep nesting beyond measure": {strings.Repeat("[", 1_000_000) + "\n", "null -32700"},
		"versions": {
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":65535}}` + "\n" +
				`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"1"}}` + "\n" +
				`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":1.5}}` + "\n",
			"1 0, 2 -32602, 3 -32602",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []string
			if tt.want != "" {
				want = strings.Split(tt.want, ", ")
			}
			a := launch(t, start{})
			a.send(tt.send)
			a.alive()
			n := 0
			a.await("all answers", func(frame) bool { n++; return n > len(want) })
			var got []string
			for _, f := range a.agentFrames() {
				code := 0
				if f.Error != nil {
					code = f.Error.Code
					if f.Error.Message == "" {
						t.Errorf("an error without a message: %s", f.line)
					}
				}
				if !strings.HasPrefix(string(f.ID), `"alive`) {
					got = append(got, fmt.Sprintf("%s %d", f.ID, code))
				}
				if !utf8.ValidString(f.line) {
					t.Errorf("invalid UTF-8: %q", f.line)
				}
			}
			// Answers may come in any order.
			if !sameSet(got, want) {
				t.Errorf("answered %q, want %q", got, want)
			}
		})
	}
}

func sameSet(a, b []string) bool {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// TestBigFrames sends a prompt of 20 MiB, which is handled, and a
// line over the limit, which is refused without being kept in memory.
//
// Statements 16, 17.
func TestBigFrames(t *testing.T) {
	const mib = 1 << 20
	a := connect(t, start{})
	s := a.open()
	big := strings.Repeat("x", 20*mib)
	a.request("1", "session/prompt",
		`{"sessionId":`+quote(s)+`,"prompt":[{"type":"text","text":"look"},{"type":"resource","resource":{"uri":"file:///big","text":"`+big+`"}}]}`)
	a.ends("1")
	a.alive()
	before := statusKiB(t, a.cmd.Process.Pid, "VmRSS")
	piece := strings.Repeat("y", mib)
	write := func(text string) {
		if _, err := a.in.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	a.note(`{"jsonrpc":"2.0","id":2,"method":"initialize"}`) // the checker need not see the rest
	write(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"x":"`)
	for range 400 {
		write(piece)
	}
	write(`"}}` + "\n")
	a.alive()
	if f := a.answer("null"); f.Error == nil || f.Error.Code != -32600 {
		t.Errorf("a line of 400 MiB: %.300s", f.line)
	}
	if f := a.answer("2"); f.Error == nil || f.Error.Code != -32600 {
		t.Errorf("the request on a line of 400 MiB: %.300s", f.line)
	}
	if grown := statusKiB(t, a.cmd.Process.Pid, "VmRSS") - before; grown > 300<<10 && !raceEnabled() {
		t.Errorf("the agent grew by %d KiB", grown)
	}
	for _, f := range a.agentFrames() {
		if len(f.line) > mib {
			t.Errorf("a frame of %d bytes", len(f.line))
		}
	}
}

// TestFraming splits and joins frames in every way.
//
// Statements 18, 19, 20.
func TestFraming(t *testing.T) {
	t.Run("byte by byte", func(t *testing.T) {
		a := launch(t, start{})
		const line = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"größer 🎉","version":"1"}}}` + "\r\n"
		a.note(line)
		for _, b := range []byte(line) {
			if _, err := a.in.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		a.answer("1")
	})
	t.Run("100 in one write", func(t *testing.T) {
		a := connect(t, start{})
		var b strings.Builder
		for id := range 100 {
			fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", id, a.dir)
		}
		a.send(b.String())
		for id := range 100 {
			if f := a.answer(fmt.Sprint(id)); f.Error != nil {
				t.Errorf("answer: %s", f.line)
			}
		}
	})
	t.Run("no newline at the end", func(t *testing.T) {
		a := launch(t, start{})
		a.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
		a.in.Close()
		a.answer("1")
	})
	t.Run("an id in use", func(t *testing.T) {
		silent := make(chan struct{})
		p := fakemodel.NewAnthropic(t, fakemodel.Hang(silent))
		a := connect(t, start{env: p.Env()})
		s := a.open()
		a.request("1", "session/prompt", promptParams(s, "hi"))
		within(t, patience, "the model", silent)
		a.request("1", "session/prompt", promptParams(s, "hi"))
		f := a.await("the refusal", func(f frame) bool { return f.Error != nil })
		if f.Error.Code != -32600 {
			t.Errorf("a second request with the same id: %s", f.line)
		}
		a.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":` + quote(s) + "}}\n")
		a.await("the first request's answer", func(f frame) bool { return strings.Contains(string(f.Result), "cancelled") })
	})
}

// TestContent sends text with every troublesome character in both
// directions. Each line is one whole frame.
//
// Statements 1, 80.
func TestContent(t *testing.T) {
	text := "a\nb\r\n\u2028\u2029 \x00\x1b[31m 🎉 <script>&amp; \\n \" \ufffd e\u0301"
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say(text)))
	a := connect(t, start{env: p.Env()})
	s := a.open()
	a.runTurn(s, text)
	var got strings.Builder
	for _, f := range a.agentFrames() {
		var u struct {
			Update struct{ Content struct{ Text string } }
		}
		line, ended := strings.CutSuffix(f.line, "\n")
		if !ended || !utf8.ValidString(line) || strings.ContainsAny(line, "\n\r\x00\x1b") || !strings.HasPrefix(line,
			`{"jsonrpc":"2.0",`) || !json.Valid([]byte(line)) {
			t.Errorf("not a frame: %q", f.line)
		}
		if f.Method == "session/update" && json.Unmarshal(f.Params, &u) == nil {
			got.WriteString(u.Update.Content.Text)
		}
	}
	if got.String() != text {
		t.Errorf("the agent said %q", got.String())
	}
	if asked := p.Request(0).Last(); asked != text {
		t.Errorf("the model got %q", asked)
	}
}
