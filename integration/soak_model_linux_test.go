package integration

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// soakKinds are the kinds of turns, by the first word of their prompt. The second
// word is unique, and begins with the session's name and a hyphen.
var soakKinds = []string{
	"look", "run", "change", "flood", "serve", "stop", "silent", "sleep", "reopen",
	"delegate", "apart", "remember", "remind", "ask", "undo",
}

// soakMarks are texts that the turns of some kinds show.
var soakMarks = []string{
	"[hook] Noted.", "Echo: ", "Saved as entry ", "Set the task ", "[changed in the project: ", "bash_stop bg", "[lines 5001-5020",
}

var backgroundID = regexp.MustCompile(`\bbg\d+\b`)

// soakModel answers by the kind of turn: with a tool call, by chance with another
// one that depends on its result, and with a text. A sub-agent's task is a turn of
// another kind.
func soakModel(r fakemodel.Request) fakemodel.Reply {
	kind, word, _ := strings.Cut(soakPrompt(r), " ")
	last := r.Messages[len(r.Messages)-1].Content
	name, input := soakCall(kind, word)
	if result := last[len(last)-1]; result.Type == "tool_result" {
		name, input = soakNext(kind, string(result.Content))
		if name == "" {
			return fakemodel.Counted(r.Size/4, fakemodel.Say("Done with "+word+"."))
		}
	}
	switch {
	case kind == "silent":
		return fakemodel.Hang(make(chan struct{}), fakemodel.Say(strings.Repeat("I think about "+word+".\n", 20)))
	case name == "": // the summary of a compaction, or a scheduled task
		return fakemodel.Counted(r.Size/4, fakemodel.Say("They worked."))
	}
	return fakemodel.Counted(r.Size/4, fakemodel.Think("thinking of "+word, "c2ln"), fakemodel.Say(strings.Repeat(word+" ", 20)),
		fakemodel.Call("c-"+word+"-"+fmt.Sprint(len(r.Messages)), name, input))
}

// soakPrompt returns the last prompt without the result of a scheduled task below it.
func soakPrompt(r fakemodel.Request) string {
	for _, m := range slices.Backward(r.Messages) {
		for _, b := range slices.Backward(m.Content) {
			if b.Type == "text" && m.Role == "user" && !strings.Contains(b.Text, resultPrefix) {
				return b.Text
			}
		}
	}
	return ""
}

// soakCall returns the first call of a turn of that kind; "" if there is none.
func soakCall(kind, word string) (name string, input map[string]any) {
	session, _, _ := strings.Cut(word, "-")
	switch kind {
	case "look", "reopen":
		return "read", map[string]any{"path": "a.txt"}
	case "run":
		return "bash", map[string]any{"command": "echo " + word + "; exit 1"}
	case "change", "undo":
		return "write", map[string]any{"path": kind + "-" + session + ".fake", "content": word + "\n"}
	case "flood":
		n := 1_000_000 + 100*len(word)
		return "bash", map[string]any{"command": fmt.Sprintf("echo %s; seq %d %d", word, n, n+8000)}
	case "serve", "stop":
		return "bash", map[string]any{"command": "echo serving " + word + "; sleep 600", "background": true}
	case "sleep":
		return "bash", map[string]any{"command": "sleep 600; echo " + word}
	case "delegate":
		return "sub_agent", map[string]any{"task": "look " + word, "type": "explore"}
	case "apart":
		return "sub_agent", map[string]any{"task": "change " + word, "type": "fixer"}
	case "remember":
		return "memory_save", map[string]any{"content": "The task " + word + " is done."}
	case "remind":
		return "schedule_deferred", map[string]any{"name": word, "run_at": "+1s", "task": "Say that it is time."}
	case "ask":
		return "io__echo", map[string]any{"message": word}
	}
	return "", nil
}

// soakNext returns the call after a result of a turn of that kind; "" if it is the
// last one.
func soakNext(kind, result string) (name string, input map[string]any) {
	if id := backgroundID.FindString(result); kind == "stop" && id != "" && !strings.Contains(result, "stopped") {
		return "bash_stop", map[string]any{"id": id}
	}
	if id := overflowID.FindString(result); kind == "flood" && id != "" {
		return "read_overflow", map[string]any{"id": id, "offset": 5000, "limit": 20}
	}
	return "", nil
}
