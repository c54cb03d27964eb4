package headless

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
)

// show plays updates ({…}), terminal output (term-1:text), interrupts (^C) and
// an end (=reason; =!failure of an earlier turn) on a screen.
func show(styled bool, steps ...string) string {
	var b strings.Builder
	s := NewScreen(&b, styled)
	for _, step := range steps {
		play(s, step)
	}
	return b.String()
}

// play plays one step, see show.
func play(s *Screen, step string) {
	switch {
	case step[0] == '{':
		s.Update(json.RawMessage(`{"sessionId":"s","update":` + step + `}`))
	case strings.HasPrefix(step, "=!"):
		s.Ended("", step[2:])
	case step[0] == '=':
		s.End(acp.StopReason(step[1:]), nil)
	case step == "^C":
		s.Interrupted()
	default:
		terminal, text, _ := strings.Cut(step, ":")
		s.Output(terminal, []byte(text))
	}
}

func text(id, s string) string {
	b, _ := json.Marshal(acp.MessageChunk{Update: acp.UpdateAgentMessage, MessageID: id, Content: acp.TextBlock(s)})
	return string(b)
}

func said(id string, c acp.ContentBlock) string {
	b, _ := json.Marshal(acp.MessageChunk{Update: acp.UpdateUserMessage, MessageID: id, Content: c})
	return string(b)
}

func thought(id, s string) string {
	return strings.Replace(text(id, s), acp.UpdateAgentMessage, acp.UpdateAgentThought, 1)
}

func call(id, title string) string {
	return `{"sessionUpdate":"tool_call","toolCallId":"` + id + `","title":"` + title + `","kind":"execute","status":"pending"}`
}

func patch(id, members string) string {
	return `{"sessionUpdate":"tool_call_update","toolCallId":"` + id + `",` + members + `}`
}

func embed(id, terminal string) string {
	return patch(id, `"content":[{"type":"terminal","terminalId":"`+terminal+`"}]`)
}

func ended(id, status, text string) string {
	b, _ := json.Marshal(text)
	return patch(id, `"status":"`+status+`","content":[{"type":"content","content":{"type":"text","text":`+string(b)+`}}]`)
}

func TestScreen(t *testing.T) {
	for name, tt := range map[string]struct {
		steps []string
		want  string
	}{
		"messages": {
			[]string{text("1", "\n\na"), text("1", "b\n\n"), text("2", "\n"), text("2", "c\n"), text("2", "d"), "=end_turn"},
			"ab\n\nc\nd\n",
		},
		"thoughts": {
			[]string{thought("1", "a\nb"), thought("1", "c\n"), text("2", "d"), thought("3", "e"), "=refusal"},
			"┊ a\n┊ bc\n\nd\n\n┊ e\n\nThe model declined to continue.\n",
		},
		"nothing":      {[]string{"=cancelled"}, "The turn was cancelled.\n"},
		"unknown kind": {[]string{`{"sessionUpdate":"what"}`, `[]`[:1] + `:`, text("1", "a")}, "a"},
		"live output": {
			[]string{call("a", "x"), "term-1:ear", embed("a", "term-1"), "term-1:ly\n\nlate\n", ended("a", "completed", "early\nlate")},
			"╭ execute  x\n│ early\n│ \n│ late\n╰ completed\n",
		},
		"no newline at the end": {
			[]string{call("a", "x"), embed("a", "term-1"), "term-1:10%\r20%\r\nb", ended("a", "completed", "")},
			"╭ execute  x\n│ 20%\n│ b\n╰ completed\n",
		},
		"side by side": {
			[]string{
				call("a", "x"), call("b", "y"), embed("a", "term-1"), embed("b", "term-2"),
				"term-2:2", "term-1:1\n", ended("b", "completed", "2"), "term-1:11", ended("a", "completed", "1"), text("1", "z"),
			},
			"╭ execute  x\n│ 1\n│ 11\n╰ completed\n╭ execute  y\n│ 2\n╰ completed\n\nz",
		},
		"text during a call": {
			[]string{call("a", "x"), embed("a", "term-1"), "term-1:1", text("1", "z"), "term-1:2\n", ended("a", "completed", "")},
			"╭ execute  x\n\nz\n\n│ 12\n╰ completed\n",
		},
		"exit code": {
			[]string{call("a", "x"), embed("a", "term-1"), "term-1:o\n", ended("a", "failed", "o\n[exit 3]")},
			"╭ execute  x\n│ o\n╰ failed · exit 3\n",
		},
		"failure": {
			[]string{call("a", "x"), ended("a", "failed", "It may not be executed.\nsome: output\n[exit 126]")},
			"╭ execute  x\n│ It may not be executed.\n│ some: output\n╰ failed · exit 126\n",
		},
		"not ended": {
			[]string{call("a", "x"), call("b", "y"), "=cancelled"},
			"╭ execute  x\n╰ not finished\n╭ execute  y\n╰ not finished\n\nThe turn was cancelled.\n",
		},
		"sub-agent": {
			[]string{`{"sessionUpdate":"tool_call","toolCallId":"a","title":"fixer: mend it","kind":"think","status":"completed"}`},
			"╭ fixer: mend it\n╰ completed\n",
		},
		"no kind": {[]string{`{"sessionUpdate":"tool_call","toolCallId":"a","title":"t","status":"completed"}`}, "╭ t\n╰ completed\n"},
		"long text": {
			[]string{strings.Replace(call("a", "x"), "execute", "read", 1), ended("a", "completed", strings.Repeat("l\n", 20))},
			"╭ read  x\n" + strings.Repeat("│ l\n", 7) + "│ … 10 more lines: zeph-acp sessions show s | less\n" + strings.Repeat("│ l\n",
				3) + "╰ completed\n",
		},
		"long text with what the tool says itself": {
			[]string{
				strings.Replace(call("a", "x"), "execute", "read", 1),
				ended("a", "completed", strings.Repeat("l\n", 20)+"[lines 1-20; continue with offset 20]\n[security] 1 credential masked: aws"),
			},
			"╭ read  x\n" + strings.Repeat("│ l\n", 7) + "│ … 10 more lines: zeph-acp sessions show s | less\n" + strings.Repeat("│ l\n",
				3) + "│ [lines 1-20]\n│ [security] 1 credential masked: aws\n╰ completed\n",
		},
		"what the tool says itself of a terminal's output": {
			[]string{
				call("a", "x"),
				embed("a", "term-1"),
				"term-1:[1]\r\n[",
				"term-1:2]\n",
				ended("a", "completed", "[1]\n[2]\n[bg1 runs in the background]"),
			},
			"╭ execute  x\n│ [1]\n│ [2]\n│ [bg1 runs in the background]\n╰ completed\n",
		},
		"a hint before how it ended": {
			[]string{
				call("a", "x"),
				embed("a", "term-1"),
				"term-1:o\n",
				ended("a", "failed", "o\n[sandbox: a long hint]\n[exit 1]\n[full output: 3 lines]"),
			},
			"╭ execute  x\n│ o\n│ [sandbox: a long hint]\n│ [full output: 3 lines]\n╰ failed · exit 1\n",
		},
		"rules that would allow it": {
			[]string{
				call("a", "x"),
				ended("a", "failed", "This needs your permission (w), and nobody answered. Add this:\n\n[[tools.permissions.bash]]\npattern = \"x\""),
			},
			"╭ execute  x\n│ This needs your permission (w), and nobody answered. Add this:\n│ \n│ [[tools.permissions.bash]]\n│ pattern = \"x\"\n" +
				"╰ failed\n",
		},
		"lines that end in CR LF": {
			[]string{
				call("b", "Edit f"), patch("b", `"status":"completed","content":[{"type":"diff","path":"/w/f","oldText":"a\r\n","newText":"b\r\n"}]`),
				call("b", "Edit f"), patch("b", `"status":"completed","content":[{"type":"diff","path":"/w/f","oldText":"a\r\n","newText":"a\n"}]`),
			},
			"╭ execute  Edit f\n│ (lines end in \\r\\n)\n│ @@ -1,1 +1,1 @@\n│ -a\n│ +b\n╰ completed\n╭ execute  Edit f\n│ @@ -1,1 +1,1 @@\n│ " +
				"-a<U+000D>\n│ +a\n╰ completed\n",
		},
		"long output of a command without a terminal": {
			[]string{call("a", "x"), ended("a", "completed", strings.Repeat("l\n", 20))},
			"╭ execute  x\n" + strings.Repeat("│ l\n", 20) + "╰ completed\n",
		},
		"what the user said": {
			[]string{
				said("1", acp.TextBlock("a\nb ")), said("1", acp.ContentBlock{Type: "resource_link", URI: "file:///w/\x1b[2Jf", Name: "f"}),
				said("1", acp.TextBlock(" c\n")), said("1", acp.ImageBlock("image/png", []byte("x"))), text("2", "d"), "=!no key\n",
				said("3", acp.ContentBlock{Type: "resource", Resource: &acp.Resource{URI: "file:///w/g"}}), call("a", "x"), "=!killed",
			},
			"> a\n> b @file:///w/f c\n> (image)\n\nd\n\nno key\n\n> @file:///w/g\n\n╭ execute  x\n╰ not finished\n\nkilled\n",
		},
		"hostile": {
			[]string{
				call("a", `x\u001b[2J`),
				embed("a", "term-1"),
				"term-1:a\x1b",
				"term-1:[2Jb",
				ended("a", "failed", "\x1b]x\a[\x1b[2J]"),
				text("1", "a\x1b[2"),
				text("1", "Jb\rc"),
			},
			"╭ execute  x<U+001B>[2J\n│ ab\n╰ failed\n\nabc",
		},
		"interrupt": {[]string{call("a", "x"), embed("a", "term-1"), "term-1:a", "^C", "^C", ended("a", "failed", "[cancelled]")},
			"╭ execute  x\n\n│ a\n╰ failed · cancelled\n"},
		"diffs": {
			[]string{
				strings.Replace(
					call("a", "Edit f"),
					`"pending"`,
					`"pending","content":[{"type":"diff","path":"/w/f","oldText":"a\n","newText":"b\n"}]`,
					1,
				),
				patch("a", `"status":"completed","content":[{"type":"diff","path":"/w/f","oldText":"a\n","newText":"b\n"}]`),
				call("b", "Move"),
				patch("b", `"status":"completed","content":[{"type":"diff","path":"/w/g","newText":"\u001bn\n"}]`),
			},
			"╭ execute  Edit f\n│ @@ -1,1 +1,1 @@\n│ -a\n│ +b\n╰ completed\n╭ execute  Move\n│ /w/g\n│ @@ -0,0 +1,1 @@\n│ +<U+001B>n\n╰ completed\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, show(false, tt.steps...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Advice for the model is left out on a terminal.
func TestForPeople(t *testing.T) {
	for note, want := range map[string]string{
		"[full output: 40 lines, 2 KiB: read_overflow overflow:0faa7362-764c]": "[full output: 40 lines, 2 KiB]",
		"[lines 1-20; continue with offset 21]":                                "[lines 1-20]",
		"[it was lost; if you need it, rerun the call with a narrower scope]":  "[it was lost]",
		"[lines 1-20; the file ends here]":                                     "[lines 1-20; the file ends here]",
		"[read-only: /x was refused; if it needs more, call it again]":         "[read-only: /x was refused; if it needs more, call it again]",
	} {
		if got := forPeople([]string{note}); got[0] != want {
			t.Errorf("the note %q is shown as %q", note, got[0])
		}
	}
}

func TestScreenFull(t *testing.T) {
	var b strings.Builder
	s := NewScreen(&b, false)
	s.Full, s.Config = true, "/c.toml"
	update := func(u string) { s.Update(json.RawMessage(`{"sessionId":"s","update":` + u + `}`)) }
	update(strings.Replace(call("a", "x"), "execute", "read", 1))
	update(ended("a", "completed", strings.Repeat("l\n", 200)))
	update(call("b", "y"))
	update(ended("b", "failed", "This needs your permission (w), and nobody answered. Answer, or add this to config.toml above the others:\n\n"+
		"[[tools.permissions.bash]]"))
	want := "╭ read  x\n" + strings.Repeat("│ l\n", 200) + "╰ completed\n" +
		"╭ execute  y\n│ This needs your permission (w), and nobody answered. Answer, or add this to /c.toml above the others:\n│ \n│ " +
		"[[tools.permissions.bash]]\n╰ failed\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestScreenStyled(t *testing.T) {
	got := show(true, thought("1", "t"), call("a", "x"), embed("a", "term-1"), "term-1:1%\r2%\r\n", ended("a", "completed", ""))
	want := "\x1b[2m┊ \x1b[0m\x1b[2mt\x1b[0m\n\n" +
		"\x1b[2m╭ \x1b[0m\x1b[36mexecute\x1b[0m  \x1b[1mx\x1b[0m\n" +
		"\x1b[2m│ \x1b[0m2%\n" +
		"\x1b[2m╰ \x1b[0m\x1b[32mcompleted\x1b[0m\n"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestJSON(t *testing.T) {
	var b strings.Builder
	j := &JSON{W: &b}
	j.Update(json.RawMessage(`{"sessionId":"s","update":{"b":1,"a":"<"}}`))
	j.Output("term-1", []byte("x"))
	j.End(acp.StopEndTurn, nil)
	if want := `{"sessionId":"s","update":{"b":1,"a":"<"}}` + "\n"; b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
}
