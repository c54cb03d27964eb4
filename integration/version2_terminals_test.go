package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// terminalsOf returns the terminals that the client was shown of a session, by id: their output and end.
func terminalsOf(t *testing.T, a *agent, session string) map[string]map[string]any {
	t.Helper()
	terminals := map[string]map[string]any{}
	for key, item := range (view{}).read(t, a.agentFrames()) {
		if id, ok := strings.CutPrefix(key, session+" terminal "); ok {
			terminals[id] = item
		}
	}
	return terminals
}

// Frames with much output stay below 1 MiB, and the result has its end. A large change has no patch.
// A secret that the command writes in pieces is masked. Commands have no terminal device. The terminals of a
// session are named in its own updates alone. A command in the background ends with the process, and is then
// shown as ended.
// Statements 347, 353, 354, 355, 356, 357, 394.
func TestTerminalsInVersion2(t *testing.T) {
	t.Parallel()
	root := home(t)
	script := filepath.Join(root, "script.jsonl")
	a := connect2(t, root, "[tools.shell]\non_timeout = \"kill\"\n"+scriptedModel(script)+"[[tools.permissions.bash]]\npattern = \"*\"\naction = \"allow\"\n")
	large, err := json.Marshal(map[string]any{"tool": "write", "input": map[string]string{"path": "large.txt", "content": strings.Repeat("line\n", 300_000)}})
	if err != nil {
		t.Fatal(err)
	}
	a.file(script, strings.Join([]string{
		`{"tool":"bash","input":{"command":"yes 0123456789 | head -c 10485760; echo; echo the end"}}`, ``,
		`{"tool":"bash","input":{"command":"printf AKIAQ3EG; sleep 0.2; printf 'Z7WLM2T5XK4V'; echo; tty"}}`, ``,
		string(large), ``,
		`{"tool":"bash","input":{"command":"sleep 100","timeout":1}}`, ``,
		`{"text":"done"}`,
	}, "\n")+"\n")
	one, two := a.open2(), a.open2()
	a.work2(one, "go", 1)
	a.work2(two, `/bash {"command":"echo two"}`, 1)
	three := a.open2()
	a.work2(three, `/bash {"command":"sleep 100","background":true}`, 1)

	for _, f := range a.agentFrames() {
		if len(f.line) > 1<<20 {
			t.Errorf("a frame has %d bytes: %.200s", len(f.line), f.line)
		}
		if strings.Contains(f.line, "large.txt") && strings.Contains(f.line, "git_patch") {
			t.Errorf("a large change has a patch: %.200s", f.line)
		}
	}
	a.checkContains(a.lines(), "the end\\n")
	first, second := terminalsOf(t, a, one), terminalsOf(t, a, two)
	if len(first) != 3 || len(second) != 1 {
		t.Fatalf("the sessions have %d and %d terminals, want 3 and 1", len(first), len(second))
	}
	for id, terminal := range second {
		if first[id] != nil || terminal["text"] != "two\n" {
			t.Errorf("the terminal of the second session is %v", terminal)
		}
	}
	for _, terminal := range first {
		if terminal["exitStatus"] == nil {
			t.Errorf("a terminal has no end: %.200v", terminal)
		}
		text, _ := terminal["text"].(string)
		switch command := fmt.Sprint(terminal["command"]); {
		case strings.HasPrefix(command, "yes"):
			if len(text) < 1000 || len(text) > 1<<20+100 {
				t.Errorf("%d bytes of the output are shown live", len(text))
			}
		case strings.HasPrefix(command, "printf"):
			if strings.Contains(text, "Z7WLM2T5XK4V") || !strings.Contains(text, "[REDACTED:") || !strings.HasSuffix(text, "not a tty\n") {
				t.Errorf("the output with a secret is %q", text)
			}
		}
	}
	a.in.Close()
	a.waitExit(promptly)
	b := connect2(t, root, "")
	b.accepted(`"resume"`, "session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"replayFrom":{"type":"start"}}`, three, b.dir))
	if lines := b.lines(); strings.Contains(lines, `"background":[{`) || !strings.Contains(lines, `"state":"idle"`) {
		t.Errorf("after the end of the process, the state is\n%s", lines)
	}
	ended := terminalsOf(t, b, three)
	for _, terminal := range ended {
		if terminal["exitStatus"] == nil {
			t.Errorf("after the end of the process, a terminal still runs: %v", terminal)
		}
	}
	if len(ended) != 1 {
		t.Errorf("after the end of the process, the session has %d terminals, want 1", len(ended))
	}
}
