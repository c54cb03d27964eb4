package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
)

// scriptedModel is a configuration with the model of a script, which is written to file.
func scriptedModel(file string) string {
	return fmt.Sprintf("[agent]\nmode = \"auto\"\n[[llm.providers]]\ntype = \"script\"\nmodel = %q\n", file)
}

// connect2 starts the binary in root and speaks version 2 with it.
func connect2(t *testing.T, root, config string) *agent {
	t.Helper()
	a := launch(t, start{root: root, config: config, args: []string{"serve", "--protocol", "auto"}})
	a.request(`"init"`, "initialize", `{"protocolVersion":2,"info":{"name":"ed","version":"1"}}`)
	if f := a.answer(`"init"`); !strings.Contains(string(f.Result), `"protocolVersion":2`) {
		t.Fatalf("initialize: %s", f.line)
	}
	return a
}

// idle waits for the nth end of work of a session, and returns its stop reason.
func (a *agent) idle(session string, n int) string {
	a.t.Helper()
	type state struct {
		SessionID string
		Update    struct{ State, StopReason string }
	}
	var last state
	a.await(fmt.Sprintf("idle state %d", n), func(f frame) bool {
		var p state
		if f.Method != "session/update" || json.Unmarshal(f.Params, &p) != nil || p.SessionID != session || p.Update.StopReason == "" {
			return false
		}
		n--
		last = p
		return n == 0
	})
	return last.Update.StopReason
}

// inserted returns the message id that answers a prompt.
func (a *agent) inserted(id string) string {
	a.t.Helper()
	var r struct{ MessageID string }
	f := a.answer(id)
	if err := json.Unmarshal(f.Result, &r); err != nil || r.MessageID == "" {
		a.t.Fatalf("prompt: %s", f.line)
	}
	return r.MessageID
}

// A session of version 1 goes on in version 2 and the other way round. A process that is killed right after
// the answer to a prompt has stored it; the next one has the same ids, answers a retry with them, and shows
// the interrupted work as ended.
// Statements 219, 268, 270, 276, 393, 395.
func TestVersionsShareASession(t *testing.T) {
	root := home(t)
	script := filepath.Join(root, "script.jsonl")
	config := scriptedModel(script)
	one := launch(t, start{root: root, config: config})
	one.file(script, `{"text":"first answer"}`+"\n\n"+`{"text":"Half"}`+"\n"+`{"wait":"cancel"}`+"\n")
	one.initialize()
	session := one.open()
	one.runTurn(session, "first prompt")
	if lines := one.lines(); strings.Contains(lines, "state_update") || strings.Contains(lines, `"user_message"`) {
		t.Errorf("version 1 has updates of version 2:\n%s", lines)
	}

	resume := fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"replayFrom":{"type":"start"}}`, session, one.dir)
	two := connect2(t, root, "")
	two.request("1", "session/resume", resume)
	two.answer("1")
	if lines := two.lines(); !strings.Contains(lines, "first prompt") || !strings.Contains(lines, "first answer") || strings.Contains(lines, `"modes"`) {
		t.Errorf("the replay in version 2 is\n%s", lines)
	}
	const keyed = `{"sessionId":%q,"prompt":[{"type":"text","text":"second prompt"}],"idempotencyKey":"K"}`
	two.request("2", "session/prompt", fmt.Sprintf(keyed, session))
	message := two.inserted("2")
	two.killed.Store(true)
	fakeide.KillGroup(two.cmd)
	<-two.exited

	three := connect2(t, root, "")
	three.request("1", "session/resume", resume)
	three.answer("1")
	if lines := three.lines(); !strings.Contains(lines, "second prompt") || !strings.Contains(lines, message) || strings.Contains(lines, "in_progress") {
		t.Errorf("after the kill, message %s is not replayed:\n%s", message, lines)
	}
	three.request("2", "session/prompt", fmt.Sprintf(keyed, session))
	if again := three.inserted("2"); again != message {
		t.Errorf("the retry got the id %s, want %s", again, message)
	}

	four := connect(t, start{root: root})
	four.request("1", "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, four.dir))
	four.answer("1")
	if lines := four.lines(); !strings.Contains(lines, "second prompt") || strings.Contains(lines, "replay_complete") {
		t.Errorf("the replay in version 1 is\n%s", lines)
	}
}

// The end of the input while the user is asked ends the process, and the call does not run.
// Statements 364, 421.
func TestEndOfInputInVersion2(t *testing.T) {
	root := home(t)
	script := filepath.Join(root, "script.jsonl")
	a := connect2(t, root, strings.Replace(scriptedModel(script), `"auto"`, `"code"`, 1))
	a.file(script, `{"tool":"bash","input":{"command":"touch made"}}`+"\n")
	session := a.open()
	a.request("1", "session/prompt", promptParams(session, "run"))
	a.permissionRequest()
	a.in.Close()
	a.waitExit(promptly)
	if a.status != 0 {
		t.Errorf("exit status %d", a.status)
	}
	if made, _ := filepath.Glob(filepath.Join(a.dir, "made")); made != nil {
		t.Error("the call ran without an answer")
	}
}

// differingTurns is how many turns TestSameInBothVersions plays.
const differingTurns = 300

// Scripted turns make the same conversation, files and log in both versions.
// Statements 424.
func TestSameInBothVersions(t *testing.T) {
	var script strings.Builder
	for i := range differingTurns {
		for _, line := range [][]string{
			{`{"text":"N"}`},
			{`{"thought":"t N"}`, `{"text":"N"}`},
			{`{"tool":"read","input":{"path":"a.txt"}}`, ``, `{"text":"read N"}`},
			{`{"tool":"write","input":{"path":"b.txt","content":"N\n"}}`, ``, `{"text":"wrote N"}`},
			{`{"tool":"bash","input":{"command":"echo N; exit 3"}}`, ``, `{"text":"ran N"}`},
			{`{"tool":"read","input":{"path":"missing N"}}`, `{"tool":"update_plan","input":{"entries":[{"content":"N"}]}}`, ``, `{"text":"planned N"}`},
		}[i%6] {
			script.WriteString(strings.ReplaceAll(line, "N", fmt.Sprint(i)) + "\n")
		}
		script.WriteString("\n")
	}
	const caps = `{"_meta":{"terminal_output":true},"session":{"notices":{},"compaction":{}}}`
	play := func(run func(a *agent, session string, n int), begin func(root, config string) *agent) (seen []string, files string) {
		root := home(t)
		file := filepath.Join(root, "script.jsonl")
		a := begin(root, scriptedModel(file))
		a.file(file, script.String())
		a.file("a.txt", "a\n")
		session := a.open()
		for n := range differingTurns {
			run(a, session, n)
		}
		reader := launch(t, start{root: root})
		reader.initialize(caps)
		reader.request("1", "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, reader.dir))
		reader.answer("1")
		for _, f := range reader.agentFrames() {
			if f.Method == "" && string(f.ID) == "1" { // what follows is no history
				break
			}
			if f.Method == "session/update" {
				seen = append(seen, f.line)
			}
		}
		return namedIDs(strings.ReplaceAll(strings.Join(seen, ""), root, "ROOT")), a.content("b.txt")
	}
	one, files1 := play(func(a *agent, session string, n int) { a.runTurn(session, fmt.Sprint("turn ", n)) }, func(root, config string) *agent {
		a := launch(t, start{root: root, config: config})
		a.initialize(caps)
		return a
	})
	two, files2 := play(func(a *agent, session string, n int) {
		id := fmt.Sprint(n)
		a.request(id, "session/prompt", promptParams(session, fmt.Sprint("turn ", n)))
		a.inserted(id)
		if reason := a.idle(session, n+1); reason != "end_turn" {
			t.Fatalf("turn %d ended with %s", n, reason)
		}
	}, func(root, config string) *agent { return connect2(t, root, config) })
	if len(one) < differingTurns {
		t.Fatalf("version 1 replays %d updates", len(one))
	}
	if files1 != files2 {
		t.Errorf("the file is %q in version 1 and %q in version 2", files1, files2)
	}
	for i := range max(len(one), len(two)) {
		if i >= len(one) || i >= len(two) || one[i] != two[i] {
			from := func(lines []string) string { return strings.Join(lines[i:min(i+3, len(lines))], "\n") }
			t.Fatalf("from line %d on, version 1 made\n%s\nversion 2\n%s", i, from(one), from(two))
		}
	}
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}`)

// namedIDs returns the lines of a text in which ids are replaced by the order of their first places.
func namedIDs(text string) []string {
	var ids []string
	text = anyID.ReplaceAllStringFunc(text, func(id string) string {
		i := slices.Index(ids, id)
		if i < 0 {
			i = len(ids)
			ids = append(ids, id)
		}
		return fmt.Sprint("ID", i)
	})
	return strings.Split(text, "\n")
}
