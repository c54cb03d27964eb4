package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// outputs is a tool "run" that returns one output after the other.
type outputs struct {
	tools
	next []string
}

func (o *outputs) Tools() []executors.Tool {
	return append(o.tools.Tools(), executors.Tool{Name: "run", Effect: executors.Mutates, Schema: json.RawMessage(`{"type":"object"}`)})
}

func (o *outputs) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	if call.Tool != "run" {
		return o.tools.Execute(ctx, call)
	}
	out := o.next[0]
	o.next = o.next[1:]
	return executors.Result{Text: out, Output: &executors.Output{}}, nil
}

// running returns an agent whose model runs the commands, one a round, with these outputs.
func running(t *testing.T, c *client, commands, out []string) *Agent {
	t.Helper()
	var script strings.Builder
	for _, command := range commands {
		fmt.Fprintf(&script, `{"tool": "run", "input": {"command": %q}}`+"\n\n", command)
	}
	a := newAgent(t, script.String()+`{"text": "done"}`, c)
	a.Chain = executors.Chain(&outputs{next: out})
	a.Config.MaxToolIterations = 100
	a.Keep = func(_ context.Context, text string) (string, bool) {
		return fmt.Sprintf("[full output: %d bytes: read_overflow overflow:%d]", len(text), len(text)), true
	}
	return a
}

// resultTexts returns the results of a history.
func resultTexts(history []llm.Message) (all []string) {
	for _, m := range history {
		for _, b := range m.Blocks {
			if b.Result != nil {
				all = append(all, b.Result.Text)
			}
		}
	}
	return all
}

// manyLines returns n different lines; line at is another one.
func manyLines(n, at int, line string) string {
	var b strings.Builder
	for i := range n {
		if i == at {
			b.WriteString(line + "\n")
			continue
		}
		fmt.Fprintf(&b, "%s is line %d of the output\n", strings.Repeat(string(rune('a'+i%26)), 9), i)
	}
	return b.String()
}

// A result that an earlier one of the same call has is sent as what differs, as long as the earlier one is
// there whole.
func TestSameOutputAgain(t *testing.T) {
	const own = "[full output: 9 lines: read_overflow overflow:x]"
	long := manyLines(100, -1, "")
	reference := fmt.Sprintf("[full output: %d bytes: read_overflow overflow:%d]", len(long), len(long))
	for name, tt := range map[string]struct {
		commands, out []string
		after         int
		want          string // the last result
	}{
		"equal":           {[]string{"a", "b", "a"}, []string{long, "other", long}, 3, "[same output as this call had 2 rounds ago]\n" + reference},
		"another command": {[]string{"a", "b"}, []string{long, long}, 3, long},
		"short":           {[]string{"a", "b", "a"}, []string{"out", "other", "out"}, 3, "out"},
		"switched off":    {[]string{"a", "b", "a"}, []string{long, "other", long}, 0, long},
		"one line": {[]string{"a", "a"}, []string{long, manyLines(100, 50, "new")}, 3,
			"[same output as this call had 1 round ago, with these changes:\n@@ -48,7 +48,7 @@\n vvvvvvvvv is line 47 of the output\n" +
				" wwwwwwwww is line 48 of the output\n xxxxxxxxx is line 49 of the output\n-yyyyyyyyy is line 50 of the output\n+new\n" +
				" zzzzzzzzz is line 51 of the output\n aaaaaaaaa is line 52 of the output\n bbbbbbbbb is line 53 of the output\n" +
				fmt.Sprintf("[full output: %d bytes: read_overflow overflow:%[1]d]", len(manyLines(100, 50, "new")))},
		"only times": {[]string{"a", "a"}, []string{strings.ReplaceAll(long, "output", "0.01s"), strings.ReplaceAll(long, "output", "0.02s")}, 3,
			"[same output as this call had 1 round ago]\n" + fmt.Sprintf("[full output: %d bytes: read_overflow overflow:%[1]d]", len(long)-100)},
		"much else":     {[]string{"a", "a"}, []string{long, strings.ReplaceAll(long, "output", "input")}, 3, strings.ReplaceAll(long, "output", "input")},
		"at once again": {[]string{"a", "a", "a"}, []string{long, long, long}, 3, long},
		"later again": {[]string{"a", "b", "a", "b", "a"}, []string{long, "1", long, "2", long}, 9,
			"[same output as this call had 4 rounds ago]\n" + reference},
		"its own reference": {[]string{"a", "a"}, []string{long + own, long + own}, 3, "[same output as this call had 1 round ago]\n" + own},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			a := running(t, c, tt.commands, tt.out)
			a.Config.ShrinkAfter = tt.after
			history, _, err := c.turn(t.Context(), t, a, nil, text("go"))
			if err != nil {
				t.Fatal(err)
			}
			all := resultTexts(history)
			if got := all[len(all)-1]; strings.Split(got, "\n\n[repeat]")[0] != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
