package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRunInBothVersions runs the same turn with our own client in both versions of the protocol. The output of
// "run --json" is the same in both, without names of version 2, and both recordings can be replayed.
func TestRunInBothVersions(t *testing.T) {
	const model = `{"thought":"I look first."}
{"text":"Reading."}
{"tool":"read","input":{"path":"a.txt"}}
{"tool":"bash","input":{"command":"touch made; echo out; exit 3"}}

{"tool":"edit","input":{"path":"a.txt","old_string":"two\n","new_string":"TWO\n"}}
{"tool":"write","input":{"path":"b.txt","content":"new\n"}}
{"tool":"update_plan","input":{"entries":[{"content":"Check it."}]}}

{"tool":"sub_agent","input":{"type":"fixer","task":"Mend b.txt."}}

{"text":"I mend it."}
{"tool":"read","input":{"path":"a.txt"}}
{"tool":"write","input":{"path":"b.txt","content":"newer"}}

{"text":"It is mended."}

{"text":"Done."}
`
	const fixer = "[[agents]]\nname = \"fixer\"\ntools = [\"read\", \"write\"]\n"
	play := func(protocol string) (shown []string) {
		root := home(t)
		script, recording := filepath.Join(root, "model.jsonl"), filepath.Join(root, "recorded.txtar")
		write(t, script, model)
		a := launch(t, start{root: root, config: fmt.Sprintf("[[llm.providers]]\ntype = \"script\"\nmodel = %q\ncontext_window = 100000\n%s", script, fixer)})
		a.file("a.txt", "one\ntwo\nthree\n")
		out, err := commandIn(a, "--record", recording, "run", "--protocol", protocol, "--yes", "--json", "do it").Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", protocol, err, out)
		}
		for line := range strings.Lines(string(out)) {
			if s := seenInJSON(t, strings.ReplaceAll(line, root, "ROOT")); s != "" {
				shown = append(shown, s)
			}
		}
		data := read(t, recording)
		if version := "\"protocolVersion\":" + strings.TrimPrefix(protocol, "v"); !strings.Contains(data, version) {
			t.Errorf("the recording lacks %s", version)
		}
		write(t, recording, data+"-- config.toml --\n"+fixer+"-- model.jsonl --\n"+model+"-- w/a.txt --\none\ntwo\nthree\n")
		replay := exec.CommandContext(t.Context(), binary, "replay", recording)
		replay.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
		if out, err := replay.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "ok ") {
			t.Errorf("%s: replay: %v\n%s\n%s", protocol, err, out, data)
		}
		return shown
	}
	one, two := play("v1"), play("v2")
	if diff := cmp.Diff(one, two); diff != "" || len(one) < 15 {
		t.Errorf("version 2 shows (-version 1 +version 2)\n%s", diff)
	}
}

// seenInJSON returns what a line of "run --json" shows. Where a command runs differs between the versions, and so does
// when its terminal appears.
func seenInJSON(t *testing.T, line string) string {
	t.Helper()
	var l struct {
		Type, StopReason, Text string
		ExitCode, Rounds       int
		FilesChanged           []string
		Update                 struct {
			SessionUpdate, Title, Name, Kind, Status, CurrentModeID string
			Content                                                 json.RawMessage
			Entries                                                 json.RawMessage
			RawInput                                                json.RawMessage
			ConfigOptions                                           []struct{ ID, Type, CurrentValue string }
			AvailableCommands                                       []struct{ Name string }
			Severity                                                string
		}
	}
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	u := l.Update
	if u.Severity == "info" { // for editors with buffers
		return ""
	}
	var texts []string
	var parts []struct {
		Type, Path, OldText, NewText string
		Content                      struct{ Text string }
	}
	if json.Unmarshal(u.Content, &parts) == nil {
		for _, p := range parts {
			if p.Type != "terminal" {
				texts = append(texts, fmt.Sprintf("%+v", p))
			}
		}
	} else {
		var block struct{ Text string }
		if u.Content != nil && json.Unmarshal(u.Content, &block) != nil {
			t.Fatalf("content: %s", line)
		}
		texts = append(texts, block.Text)
	}
	if u.SessionUpdate == "tool_call_update" && u.Status == "" && texts == nil {
		return "" // a terminal alone
	}
	return fmt.Sprint(l.Type, l.StopReason, l.Text, l.ExitCode, l.Rounds, l.FilesChanged, u.SessionUpdate, " ", u.Title, u.Name, u.Kind, u.Status,
		u.CurrentModeID, string(u.Entries), string(u.RawInput), u.ConfigOptions, len(u.AvailableCommands) > 0, texts)
}
