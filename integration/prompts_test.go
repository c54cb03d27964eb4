package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
)

const (
	png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
)

// TestModelInput sends a prompt with every kind of content
// to a model with vision and to one without. No content is dropped in silence.
//
// Statements 82, 83, 84.
func TestModelInput(t *testing.T) {
	seen := []string{"image image/png " + png, "image image/gif " + gif, "image image/png " + png}
	var unseen []string
	for _, kind := range []string{"png, 70 bytes", "gif, 42 bytes", "png, 70 bytes"} {
		unseen = append(unseen, "text [image/"+kind+", not shown: claude:claude-sonnet-5-5 takes no images]")
	}
	for images, tt := range map[string]struct {
		want   []string // for the images
		notice string
	}{
		"yes": {seen, "The audio was left out: audio is not supported.\n\n"},
		"no": {unseen, "The audio was left out: audio is not supported.\n" +
			"3 images were left out: claude:claude-sonnet-5-5 takes no images. Pick a model that does, and send them again.\n\n"},
	} {
		t.Run(images, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("I see.")))
			e := (&editor{}).start(t, start{env: p.Env(), config: fmt.Sprintf("[[llm.providers]]\ntype = \"claude\"\nimages = %q\n", images)})
			e.file("main.go", "package saved\n")
			e.SetBuffer(e.dir+"/main.go", "package unsaved\n")
			e.initialize(`{"fs":{"readTextFile":true}}`)
			s := e.open()
			block := `{"type":"image","mimeType":"image/png","data":"%s"},`
			e.request("1", "session/prompt", `{"sessionId":`+quote(s)+`,"prompt":[{"type":"text","text":"Look at "},`+
				`{"type":"resource_link","uri":"file://`+e.dir+`/main.go#L1:2","name":"main.go"},`+
				`{"type":"resource_link","uri":"zed:///agent/thread/1","name":"a thread"},`+
				`{"type":"resource_link","uri":"file:///C:/Users/x%20y/a.txt","name":"a.txt"},`+
				`{"type":"resource","resource":{"uri":"file://`+e.dir+`/b.txt#L3:4","text":"four"}},`+
				`{"type":"resource","resource":{"uri":"file://`+e.dir+`/b.bin","blob":"AAAA"}},`+
				fmt.Sprintf(block, png)+fmt.Sprintf(block, gif)+
				`{"type":"resource","resource":{"uri":"file:///c","blob":"`+png+`"}},`+
				`{"type":"audio","mimeType":"audio/wav","data":"UklGRg=="}]}`)
			e.ends("1")
			want := append([]string{
				"text " + prompt.Mode("code"),
				"text Look at ",
				"text [The user refers to \"main.go\": " + e.dir + "/main.go#L1:2]\npackage unsaved",
				`text [The user refers to "a thread": zed:///agent/thread/1]`,
				`text [The user refers to "a.txt": /C:/Users/x y/a.txt]`,
				"text [The user attached " + e.dir + "/b.txt#L3:4]\nfour",
				"text [The user attached " + e.dir + "/b.bin, 3 bytes of binary data that cannot be shown]",
			}, tt.want...)
			want = append(want, "text [The user attached audio, which cannot be heard here]")
			var got []string
			for _, b := range p.Request(0).Messages[0].Content {
				switch b.Type {
				case "image":
					got = append(got, "image "+b.Source.Media_Type+" "+b.Source.Data)
				default:
					got = append(got, b.Type+" "+b.Text)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if said := e.messages(s)[0]; said != tt.notice {
				t.Errorf("the user sees %q, want %q", said, tt.notice)
			}
		})
	}
}

// messages returns the agent's messages in a session, each joined from its chunks.
func (a *agent) messages(session string) []string {
	var all []string
	last := ""
	for _, f := range a.agentFrames() {
		var p struct {
			SessionID string
			Update    struct {
				SessionUpdate, MessageID string
				Content                  json.RawMessage
			}
		}
		var text struct{ Text string }
		if f.Method != "session/update" || json.Unmarshal(f.Params, &p) != nil || p.SessionID != session ||
			p.Update.SessionUpdate != "agent_message_chunk" || json.Unmarshal(p.Update.Content, &text) != nil {
			continue
		}
		if p.Update.MessageID != last {
			last, all = p.Update.MessageID, append(all, "")
		}
		all[len(all)-1] += text.Text
	}
	return all
}

// TestCommandsAndTheModel sends commands between prompts and checks
// the model's view of them, also after a resume.
//
// Statements 65, 94.
func TestCommandsAndTheModel(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	a := connect(t, start{env: p.Env()})
	s := a.open()
	asked := 0
	// ask sends a prompt that needs one request, and returns the request.
	ask := func(text, reply string) []string {
		t.Helper()
		p.Then(fakemodel.Answer(fakemodel.Say(reply)))
		a.runTurn(s, text)
		asked++
		return p.Request(asked - 1).History()
	}
	check := func(what string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	const mode = "user: [mode: code] You may change files and run commands; the user is asked for permission."
	check("first", ask("hi", "Hello."), mode, "user: hi")
	for _, local := range []string{"/help", "/status", "/tools", "/sessions", "/model", "/mode", "/mode code", "/list_directory"} {
		a.runTurn(s, local)
	}
	called := []string{mode, "user: hi", "assistant: Hello.", "user: /list_directory", "assistant: tool_use", "user: tool_result",
		"assistant: list_directory: done."}
	check("after a tool", ask("next", "Yes."), append(called, "user: next")...)

	review := ask("/review the tests", "I reviewed.")
	if last := review[len(review)-1]; !strings.HasPrefix(last, "user: Review the changes") || !strings.HasSuffix(last, "The user adds: the tests") {
		t.Errorf("/review became %q", last)
	}
	if init := ask("/init", "I wrote it."); !strings.HasPrefix(init[len(init)-1], "user: Write AGENTS.md") {
		t.Errorf("/init became %q", init[len(init)-1])
	}
	unknown := ask("/nope x", "What is that?")
	check("an unknown command", unknown[len(unknown)-1:], "user: /nope x")

	ask("/compact", "They talked.")
	compact := ask("and now?", "Now this.")
	if said := compact[2]; !strings.HasPrefix(said, "user: [What the user said in it, word for word]\nhi\n") {
		t.Errorf("after /compact the user's words are %q", said)
	}
	check("after /compact", slices.Delete(compact, 2, 3), mode, "user: [Summary of the conversation so far, in place of its messages]\nThey talked.",
		"user: /nope x", "assistant: What is that?", "user: and now?")

	a.runTurn(s, "/clear")
	check("after /clear", ask("fresh", "Fresh."), mode, "user: fresh")

	a.closeSession(s)
	before := len(a.agentFrames())
	a.request(`"resume"`, "session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":%q}`, s, a.dir))
	a.answer(`"resume"`)
	a.alive()
	for _, f := range a.agentFrames()[before:] {
		if u, ok := f.update(); ok && u.Kind != "available_commands_update" {
			t.Errorf("resume sent %s", f.line)
		}
	}
	check("after resume", ask("more", "More."), mode, "user: fresh", "assistant: Fresh.", "user: more")
}

// TestPromptTextLimit sends the longest text that a prompt may have, and one byte
// more.
func TestPromptTextLimit(t *testing.T) {
	a := connect(t, start{})
	s := a.open()
	a.runTurn(s, strings.Repeat("x", 1<<20))
	a.request("2", "session/prompt", promptParams(s, strings.Repeat("x", 1<<20+1)))
	if f := a.answer("2"); f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "1048577") || !strings.Contains(f.Error.Message,
		"1048576") {
		t.Errorf("one byte more: %.300s", f.line)
	}
}
