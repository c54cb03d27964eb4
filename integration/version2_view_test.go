package integration

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// view is what a client of version 2 has of a session and its child sessions: each message, call, terminal,
// plan and child by its id, with the members as the updates have left them.
type view map[string]map[string]any

// read applies the updates among frames.
func (v view) read(t *testing.T, frames []frame) view {
	t.Helper()
	for _, f := range frames {
		var p struct {
			SessionID string
			Update    map[string]any
		}
		if f.Method != "session/update" {
			continue
		}
		if err := json.Unmarshal(f.Params, &p); err != nil {
			t.Fatal(err)
		}
		v.apply(t, p.SessionID, p.Update)
	}
	return v
}

func (v view) apply(t *testing.T, session string, u map[string]any) {
	kind, _ := u["sessionUpdate"].(string)
	item := func(kind, id string) map[string]any {
		key := fmt.Sprint(session, " ", kind, " ", u[id])
		if v[key] == nil {
			v[key] = map[string]any{}
		}
		return v[key]
	}
	text := func(block any) string {
		s, _ := block.(map[string]any)["text"].(string)
		return s
	}
	merge := func(into map[string]any) {
		for name, value := range u {
			if value == nil {
				delete(into, name)
			} else if name != "sessionUpdate" {
				into[name] = value
			}
		}
	}
	switch kind {
	case "user_message", "agent_message", "agent_thought":
		whole := ""
		for _, b := range u["content"].([]any) {
			whole += text(b)
		}
		item(kind, "messageId")["text"] = whole
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk":
		m := item(strings.TrimSuffix(kind, "_chunk"), "messageId")
		before, _ := m["text"].(string)
		m["text"] = before + text(u["content"])
	case "tool_call_update":
		merge(item("call", "toolCallId"))
	case "terminal_update":
		terminal := item("terminal", "terminalId")
		output, set := u["output"]
		delete(u, "output")
		merge(terminal)
		if set {
			delete(terminal, "text")
		}
		if output != nil {
			terminal["text"] = decoded(t, output.(map[string]any)["data"])
		}
	case "terminal_output_chunk":
		terminal := item("terminal", "terminalId")
		before, _ := terminal["text"].(string)
		terminal["text"] = before + decoded(t, u["data"])
	case "subagent_update":
		merge(item("child", "sessionId"))
	case "session_message":
		merge(item(kind, "messageId"))
	case "plan_update":
		plan := u["plan"].(map[string]any)
		u["id"] = plan["planId"]
		item("plan", "id")["plan"] = plan
	case "plan_removed":
		delete(v, fmt.Sprint(session, " plan ", u["planId"]))
	}
}

// without returns the items whose session does not begin with prefix.
func (v view) without(prefix string) view {
	v = maps.Clone(v)
	maps.DeleteFunc(v, func(key string, _ map[string]any) bool { return strings.HasPrefix(key, prefix) })
	return v
}

func decoded(t *testing.T, data any) string {
	b, err := base64.StdEncoding.DecodeString(data.(string))
	if err != nil {
		t.Fatalf("%v: %v", data, err)
	}
	return string(b)
}

// A client that knows nothing of a session, one that kept what it had seen, and one that has only followed the
// work have the same view after a resume: the same ids, texts, calls, terminals, plans and child sessions. A
// resume has no effect, and asks for nothing. What a child session says and gets
// from its calls is live only. Servers of the first client are not started again.
// Statements 385, 388, 389, 392.
func TestSameViewAfterResume(t *testing.T) {
	t.Parallel()
	root := home(t)
	script := filepath.Join(root, "script.jsonl")
	a := connect2(t, root, scriptedModel(script)+"[[agents]]\nname = \"reader\"\ntools = [\"read\"]\n"+
		"[[tools.permissions.bash]]\npattern = \"*\"\naction = \"allow\"\n")
	a.file(script, strings.Join([]string{
		`{"thought":"Hm."}`, `{"text":"I "}`, `{"text":"look."}`, `{"tool":"read","input":{"path":"a.txt"}}`,
		`{"tool":"write","input":{"path":"b.txt","content":"b\n"}}`, `{"tool":"read","input":{"path":"missing"}}`, ``,
		`{"tool":"update_plan","input":{"entries":[{"content":"one"}]}}`, ``,
		`{"tool":"bash","input":{"command":"echo ran >> count; echo out; echo err >&2; exit 3"}}`, ``,
		`{"tool":"move_path","input":{"source":"b.txt","destination":"c.txt"}}`, ``,
		`{"text":"Done."}`, ``,
		`{"tool":"sub_agent","input":{"type":"reader","task":"Read a.txt."}}`, ``,
		`{"text":"I read."}`, `{"tool":"read","input":{"path":"a.txt"}}`, ``, `{"text":"It is a."}`, ``, `{"text":"It says a."}`,
	}, "\n")+"\n")
	a.file("a.txt", "a\n")
	server := filepath.Join(root, "server")
	a.script(server, "echo started >> "+filepath.Join(root, "starts"))
	session := a.open2(fmt.Sprintf(`{"type":"stdio","name":"io","command":%q}`, server))
	a.work2(session, "first", 1)
	a.work2(session, "second", 2)
	live := view{}.read(t, a.agentFrames())
	if len(live) < 15 {
		t.Fatalf("the work has only %d items: %q", len(live), slices.Sorted(maps.Keys(live)))
	}
	a.in.Close()
	a.waitExit(promptly)

	b := connect2(t, root, "")
	starts := read(t, filepath.Join(root, "starts"))
	b.accepted(`"resume"`, "session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"replayFrom":{"type":"start"}}`, session, b.dir))
	fresh := view{}.read(t, b.agentFrames())
	child := session + "/"
	if diff := cmp.Diff(live.without(child), fresh.without(child)); diff != "" {
		t.Errorf("a client that followed the work (-) and one that resumes (+) have different views\n%s", diff)
	}
	kept := live.read(t, b.agentFrames())
	maps.DeleteFunc(kept, func(key string, _ map[string]any) bool {
		return strings.HasPrefix(key, child) && strings.Contains(key, " agent_message ")
	})
	if diff := cmp.Diff(fresh, kept); diff != "" {
		t.Errorf("a client that knows nothing (-) and one that kept its state (+) have different views\n%s", diff)
	}
	if methods := b.methods(); len(methods) > 0 {
		t.Errorf("the resume sent %q", methods)
	}
	if ran := b.content("count"); ran != "ran\n" {
		t.Errorf("the command ran again: %q", ran)
	}
	b.in.Close()
	b.waitExit(promptly)
	if again := read(t, filepath.Join(root, "starts")); again != starts {
		t.Errorf("the resume started the servers of the first client: %q after %q", again, starts)
	}
}
