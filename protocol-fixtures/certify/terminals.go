package certify

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
)

var terminalScenarios = []scenario{
	{name: "terminal", about: "A command with arguments, environment and directory, which exits with 3.", needs: "terminal", only: 1, run: terminalCommand},
	{name: "terminal-limit", about: "A command with more output than its limit.", needs: "terminal", only: 1, run: terminalLimit},
	{name: "terminal-kill", about: "A command that is killed.", needs: "terminal", only: 1, run: terminalKill},
	{name: "streamed-terminal", about: "A command of the agent, whose output is streamed.", needs: "_meta.terminal_output", run: streamedTerminal},
}

// terminal is one of the client.
type terminal struct {
	*turn
	id   string
	call string
}

// terminal starts a script of sh, and shows it in a call. ok is false if it did not start.
func (t *turn) terminal(script string, members map[string]any, args ...string) (_ terminal, ok bool) {
	if _, err := exec.LookPath("sh"); err != nil || t.file("notes.txt", notes) == "" {
		t.notTried("needs sh, and a directory that can be written")
		return terminal{}, false
	}
	params := map[string]any{"sessionId": t.session, "command": "sh", "args": append([]string{"-c", script, "sh"}, args...), "cwd": t.scratch()}
	for k, v := range members {
		params[k] = v
	}
	call := t.call(map[string]any{"title": script, "kind": "execute", "status": "in_progress", "rawInput": map[string]any{"command": script}})
	got := t.expects("terminal/create", params)
	if got.silent || !t.served("terminal", got) {
		return terminal{}, false
	}
	var r struct{ TerminalID string }
	_ = json.Unmarshal(got.Result, &r) // the schema is checked elsewhere
	if !t.checked("terminal-command", r.TerminalID != "", "a terminal is not created", got.frames()...) {
		return terminal{}, false
	}
	t.change(call, map[string]any{"content": []any{map[string]any{"type": "terminal", "terminalId": r.TerminalID}}})
	return terminal{t, r.TerminalID, call}, true
}

// output is the result of terminal/output, or of terminal/wait_for_exit.
type output struct {
	Output     string
	Truncated  bool
	ExitStatus *struct{ ExitCode *int }
	ExitCode   *int
}

// does calls a method of the terminal.
func (term terminal) does(method string) (output, reply) {
	got := term.expects("terminal/"+method, map[string]any{"sessionId": term.session, "terminalId": term.id})
	if !got.silent {
		term.served("terminal", got)
	}
	var o output
	_ = json.Unmarshal(got.Result, &o) // the schema is checked elsewhere
	o.Output = strings.ReplaceAll(o.Output, "\r\n", "\n")
	return o, got
}

// release ends a terminal and its call.
func (term terminal) release() {
	if _, got := term.does("release"); !got.silent && got.Error == nil {
		if after := term.expects("terminal/output", map[string]any{"sessionId": term.session, "terminalId": term.id}); !after.silent {
			term.checked("terminal-release", after.Error != nil, "a released terminal still has output", after.frames()...)
		}
	}
	term.change(term.call, map[string]any{"status": "completed"})
}

func terminalCommand(t *turn) {
	const script = `printf '%s|' "$@"; echo; echo "$CERTIFY"; pwd -P; exit 3`
	env := []any{map[string]any{"name": "CERTIFY", "value": "x $y"}}
	term, ok := t.terminal(script, map[string]any{"env": env, "outputByteLimit": 100000}, "a b", `c"d`, "")
	if !ok {
		return
	}
	ended, got := term.does("wait_for_exit")
	if got.silent {
		return
	}
	t.checked("terminal-exit", ended.ExitCode != nil && *ended.ExitCode == 3, "the exit code is not 3", got.frames()...)
	o, got := term.does("output")
	if got.silent {
		return
	}
	lines := strings.Split(o.Output, "\n")
	right := len(lines) > 2 && lines[0] == `a b|c"d||` && lines[1] == "x $y" && strings.HasSuffix(lines[2], filepath.Base(t.scratch()))
	t.checked("terminal-command", right, "the output shows other arguments, another environment or directory", got.frames()...)
	done := o.ExitStatus != nil && o.ExitStatus.ExitCode != nil && *o.ExitStatus.ExitCode == 3
	t.checked("terminal-exit", done, "terminal/output has no exit code 3", got.frames()...)
	term.release()
}

func terminalLimit(t *turn) {
	term, ok := t.terminal(`i=0; while [ $i -lt 2000 ]; do echo "line $i"; i=$((i+1)); done; echo last`, map[string]any{"outputByteLimit": 1000})
	if !ok {
		return
	}
	if _, got := term.does("wait_for_exit"); got.silent {
		return
	}
	o, got := term.does("output")
	if got.silent {
		return
	}
	right := o.Truncated && len(o.Output) <= 1000 && strings.HasSuffix(strings.TrimSpace(o.Output), "last")
	t.checked("terminal-limit", right, "the output is not its last 1,000 bytes, marked as truncated", got.frames()...)
	term.release()
}

func terminalKill(t *turn) {
	term, ok := t.terminal("echo started; exec sleep 600", nil)
	if !ok {
		return
	}
	o, got := term.does("output")
	if got.silent {
		return
	}
	t.checked("terminal-exit", o.ExitStatus == nil, "a running command has an exit status", got.frames()...)
	_, got = term.does("kill")
	if got.silent {
		return
	}
	t.checked("terminal-kill", got.Error == nil, "terminal/kill fails", got.frames()...)
	if _, got = term.does("wait_for_exit"); got.silent {
		return
	}
	t.checked("terminal-kill", got.Error == nil, "terminal/wait_for_exit fails after terminal/kill", got.frames()...)
	_, got = term.does("output")
	t.checked("terminal-kill", got.silent || got.Error == nil, "a killed terminal has no output", got.frames()...)
	term.release()
}

func streamedTerminal(t *turn) {
	if t.speaks() == 2 {
		id := t.name("terminal")
		t.update(t.session, "terminal_update", map[string]any{"terminalId": id, "command": "make", "cwd": t.cwd})
		call := t.call(map[string]any{
			"title": "make", "kind": "execute", "status": "in_progress", "content": []any{map[string]any{"type": "terminal", "terminalId": id}},
		})
		for _, text := range []string{"first line\n", "and a byte that is no text: \xff\n"} {
			t.update(t.session, "terminal_output_chunk", map[string]any{"terminalId": id, "data": terminalOutput(text)})
		}
		t.update(t.session, "terminal_update", map[string]any{"terminalId": id, "exitStatus": map[string]any{"exitCode": 0}})
		t.change(call, map[string]any{"status": "completed"})
		return
	}
	id := t.name("call")
	meta := func(key string, value map[string]any) map[string]any {
		value["terminal_id"] = id
		return map[string]any{key: value}
	}
	t.update(t.session, "tool_call", map[string]any{
		"toolCallId": id, "title": "make", "kind": "execute", "status": "in_progress", "content": []any{map[string]any{"type": "terminal", "terminalId": id}},
		"_meta": meta("terminal_info", map[string]any{"cwd": t.cwd}),
	})
	for _, text := range []string{"first line\r\n", "second line\r\n"} {
		t.change(id, map[string]any{"_meta": meta("terminal_output", map[string]any{"data": text})})
	}
	t.change(id, map[string]any{"status": "completed", "_meta": meta("terminal_exit", map[string]any{"exit_code": 0, "signal": nil})})
}
