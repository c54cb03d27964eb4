package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// parseOutcome parses a call and its outcome: "tool input: output". A tool in capitals
// failed, and one with a + still runs.
func parseOutcome(s string) outcome {
	head, output, _ := strings.Cut(s, ": ")
	name, input, _ := strings.Cut(head, " ")
	res := executors.Result{Text: strings.ReplaceAll(output, `\n`, "\n")}
	tools := map[string]executors.Tool{
		"read": {Effect: executors.Reads, Kind: executors.KindRead},
		"edit": {Effect: executors.Mutates, Kind: executors.KindEdit},
		"bash": {Effect: executors.Mutates, Kind: executors.KindExecute},
	}
	if name, res.Failed = strings.ToLower(name), name != strings.ToLower(name); strings.HasSuffix(name, "+") {
		name, res.Output = strings.TrimSuffix(name, "+"), &executors.Output{Partial: true}
	}
	res.Unchanged = strings.HasPrefix(output, "Unchanged: ")
	if !strings.HasPrefix(input, "{") {
		input = fmt.Sprintf(`{"a":%q}`, input)
	}
	return outcomeOf(llm.ToolCall{Name: name, Input: json.RawMessage(input)}, tools[name], res)
}

func TestLoopDetect(t *testing.T) {
	const fails = ": FAIL TestX, want 1, got 2"
	for name, tt := range map[string]struct {
		rounds  string // the calls of a round are separated by " | "
		stopped int    // the round that it stops after, from 1; 0: it does not stop
		nudged  string // the rounds in which the model gets a note
	}{
		"same outcome": {"BASH make: error: no rule to make\nBASH make: error: no rule to make\nBASH make test: error: no rule to make", 3, "2"},
		"only times differ": {"BASH go test: FAIL pkg 0.31s at 12:00:01\nBASH go test: FAIL pkg 0.4s at 12:00:09\nBASH go test: FAIL pkg 12s at 12:00:17",
			3, "2 3"},
		"progress between": {"BASH make: error: no rule to make\nBASH make: error: no rule to make\nBASH ls: error: another one here\nBASH make: " +
			"error: no rule to make", 0, "2"},
		"quiet, different":        {"bash a: (no output)\nbash b: (no output)\nbash c: (no output)", 0, ""},
		"quiet, same":             {"bash a: (no output)\nbash a: (no output)\nbash a: (no output)", 3, "2 3"},
		"looks that find nothing": {"read a: No matches for: NewServer\nread b: No matches for: NewServer\nread c: No matches for: NewServer", 0, ""},
		"the same look":           {"read a: No matches for: NewServer\nread a: No matches for: NewServer\nread a: No matches for: NewServer", 3, "2 3"},
		"looks that fail":         {"READ a: error: the disk is gone\nREAD b: error: the disk is gone\nREAD c: error: the disk is gone", 3, ""},
		"counters": {"bash next: this is attempt 1\nbash next: this is attempt 2\nbash next: this is attempt 3\nbash next: this is attempt 4\n" +
			"bash next: this is attempt 5", 5, "4 5"},
		"spelled otherwise": {`read {"a":1,"b":2}: a rather long text` + "\n" + `read {"b":2, "a":1}: a rather long text` + "\n" +
			`read { "a":1, "b":2 }: a rather long text`, 3, "2 3"},
		"in turn":               {strings.Repeat("read a: the text of a file\nread b: the text of another\n", 4), 6, "4 5 6"},
		"three in turn":         {strings.Repeat("read a: the text of a file\nread b: the text of another\nread c: the text of a third\n", 4), 7, "6 7"},
		"side by side":          {strings.Repeat("read a: the text of a file | read b: the text of another\n", 3), 3, "2 3"},
		"the same side by side": {"read a: the text of a file | read a: the text of a file | read a: the text of a file", 0, ""},
		"one of them is new": {"read a: the text of a file\nread a: the text of a file | read b: the text of another\nread a: the text of a file | read " +
			"c: the text of a third", 0, "2 3"},
		"read after edit": {"read a: the text of a file\nedit 1: edited a\nread a: the text of a file\nedit 2: edited a\nread a: the text of a file\n" +
			"edit 3: edited a\nread a: the text of a file", 0, ""},
		"test after edit": {"BASH go test" + fails + "\nedit 1: Edited a.go, 1 place\nBASH go test" + fails +
			"\nedit 2: Edited a.go, 1 place\nBASH go test" + fails + "\nedit 3: Edited a.go, 1 place\nBASH go test" + fails, 0, ""},
		"test after another command": {"BASH go test" + fails + "\nbash sed 1: ok\nBASH go test" + fails + "\nbash sed 2: ok\nBASH go test" + fails +
			"\nbash sed 3: ok\nBASH go test" + fails, 0, ""},
		"edits with one outcome": {"edit 1: Edited a.go, 1 place\nedit 2: Edited a.go, 1 place\nedit 3: Edited a.go, 1 place\nedit 4: Edited a.go, 1 place", 0,
			""},
		"there and back":          {strings.Repeat("edit 1: Edited a.go, 1 place\nBASH go test"+fails+"\nedit 2: Edited a.go, 1 place\n", 4), 7, "6 7"},
		"a failed edit is none":   {strings.Repeat("EDIT 1: the text to replace is not there\nread a: the text of a file\n", 4), 6, "4 5 6"},
		"a look at what runs":     {strings.Repeat("bash+ 1: (no new output)\n", 9), 0, ""},
		"waiting for what runs":   {strings.Repeat("bash sleep: (no output)\nbash+ 1: (no new output)\n", 9), 0, ""},
		"counting behind the end": {counted("read {\"offset\":%d}: The file has 4 lines; offset %[1]d is behind its end.\n", 9), 7, "6 7"},
		"counting ids":            {counted("READ {\"id\":\"bash_output_%d\"}: there is no command with the id \"bash_output_%[1]d\"\n", 9), 7, "6 7"},
		"counting ids with looks between": {"READ {\"id\":\"bash_output_1\"}: no command has the id \"bash_output_1\"\nread a: the text of a file\n" +
			"READ {\"id\":\"bash_output_2\"}: no command has the id \"bash_output_2\"\nread b: the text of another\n" +
			"READ {\"id\":\"bash_output_3\"}: no command has the id \"bash_output_3\"\nread a: the text of a file\n" +
			"READ {\"id\":\"bash_output_4\"}: no command has the id \"bash_output_4\"\nread b: the text of another\n", 8, ""},
		"failures that grow": {grown(9), 8, "7 8"},
		"looks once more": {strings.Repeat("read a: the text of a file\nread b: the text of another\n"+
			"read c: the text of a third\nread d: the text of a fourth\n", 2), 0, "8"},
		"counted files": {counted("edit {\"path\":\"chapter_%d.md\"}: Wrote chapter_%[1]d.md, 12 bytes\n", 12), 0, ""},
		"counted pages": {counted("read {\"path\":\"page_%d.md\"}: # Page %[1]d\\nIts text.\n", 12), 0, ""},
		"write, edit, read": {strings.Repeat("edit {\"path\":\"a\"}: Wrote a, 12 bytes\nedit {\"path\":\"a\",\"new\":1}: Edited a, 1 place\n"+
			"read {\"path\":\"a\"}: line 1 of a file that is read\n", 4), 7, "6 7"},
		"the same write":           {"edit a: Wrote 3 bytes to a\n" + strings.Repeat("edit a: Unchanged: a already has this content\n", 5), 4, "3 4"},
		"writes of the same bytes": {counted("edit {\"path\":\"a\",\"content\":\"x\",\"n\":%d}: Unchanged: a already has this content (1 byte)\n", 5), 3, ""},
		"look for the fourth time": {"read a: the text of a file\nread b: x\nread a: the text of a file\nread c: y\nread a: the text of a file\nread d: z\n" +
			"read a: the text of a file", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var d loopDetector
			stopped, nudged := 0, []string{}
			for i, round := range strings.Split(strings.TrimSpace(tt.rounds), "\n") {
				var outcomes []outcome
				told := false
				for _, s := range strings.Split(round, " | ") {
					o := parseOutcome(s)
					outcomes = append(outcomes, o)
					told = told || d.nudge(o) != ""
				}
				if told {
					nudged = append(nudged, fmt.Sprint(i+1))
				}
				if d.observe(outcomes) != "" {
					stopped = i + 1
					break
				}
			}
			if got := strings.Join(nudged, " "); stopped != tt.stopped || got != tt.nudged {
				t.Errorf("stopped after %d, want %d; told in %q, want %q", stopped, tt.stopped, got, tt.nudged)
			}
		})
	}
}

// grown returns n rounds of a model that runs the failure of one as the next command.
func grown(n int) string {
	var out, lines strings.Builder
	lines.WriteString("mv: command not found")
	for i := range n {
		fmt.Fprintf(&out, "BASH {\"command\":\"round %d\"}: exit code 127\\n%s\n", i+1, lines.String())
		fmt.Fprintf(&lines, "\\nbash: line %d: bash:: command not found", i+2)
	}
	return out.String()
}

// counted returns n rounds from a format with their numbers. A line feed within a result is
// written as two characters.
func counted(format string, n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, format, i+1)
	}
	return out.String()
}

// flaky answers at the second attempt, like links that retry.
type flaky struct {
	tools
	attempts *int
}

func (f flaky) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	for range 5 {
		*f.attempts++
	}
	return f.tools.Execute(ctx, call)
}

// Both limits end the turn with the protocol's stop reason and advice to the
// user. A retry by a link counts once, and a new turn begins a new count.
func TestLimitsOfATurn(t *testing.T) {
	say := `{"tool":"say","input":{"text":"always the same words"}}` + "\n\n"
	for name, tt := range map[string]struct {
		script string
		limit  int
		reason acp.StopReason
		last   string // of the message to the user
		tries  int
	}{
		"circle": {script: strings.Repeat(say, 4), limit: 10, reason: acp.StopMaxTurnRequests, last: "repeating itself. Tell it what to do differently.", tries: 15},
		"rounds": {script: `{"tool":"say","input":{"text":"one"}}` + "\n\n" + `{"tool":"say","input":{"text":"two"}}` + "\n\n" + `{"text":"?"}`, limit: 2,
			reason: acp.StopMaxTurnRequests,
			last:   "Stopped after 2 rounds of tool calls (agent.max_tool_iterations). Send another prompt to continue.", tries: 10},
		"twice is none": {script: say + say + `{"text":"done"}`, limit: 10, reason: acp.StopEndTurn, last: "done", tries: 10},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			a := newAgent(t, tt.script, c)
			attempts := 0
			a.Config.MaxToolIterations, a.Chain = tt.limit, flaky{tools{}, &attempts}
			history, reason, err := c.turn(t.Context(), t, a, nil, text("hi"))
			if last := c.lines[len(c.lines)-1]; err != nil || reason != tt.reason || !strings.Contains(last, tt.last) || attempts != tt.tries {
				t.Errorf("%v, %v, %s, %d attempts", reason, err, last, attempts)
			}
			told := 0
			for _, m := range history {
				for _, b := range m.Blocks {
					if b.Result != nil && strings.Contains(b.Result.Text, "[repeat] You made this call") {
						told++
					}
				}
			}
			if want := max(0, tt.tries/5-1); told != want && name != "rounds" {
				t.Errorf("the model was told %d times, want %d", told, want)
			}
		})
	}
}
