package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// commandsIn returns the names of the commands of an update that contain a colon, with
// their hints; nil for any other update.
func commandsIn(f frame) []string {
	var p struct {
		Update struct {
			SessionUpdate     string
			AvailableCommands []struct {
				Name, Description string
				Input             *struct{ Hint string }
			}
		}
	}
	if json.Unmarshal(f.Params, &p) != nil || p.Update.SessionUpdate != "available_commands_update" {
		return nil
	}
	out := []string{}
	for _, c := range p.Update.AvailableCommands {
		if strings.Contains(c.Name, ":") {
			if c.Input != nil {
				c.Name += " " + c.Input.Hint
			}
			out = append(out, c.Name+" | "+c.Description)
		}
	}
	return out
}

// awaitCommands waits for an update of the commands, after so many, whose commands of
// servers are these. It returns the number of the update.
func (a *agent) awaitCommands(after int, want ...string) int {
	a.t.Helper()
	seen := 0
	a.await(fmt.Sprintf("the commands %q", want), func(f frame) bool {
		got := commandsIn(f)
		if got != nil {
			seen++
		}
		return got != nil && seen > after && slices.Equal(got, want)
	})
	return seen
}

var libraryCommands = []string{
	"lib:broken | MCP server lib: broken",
	"lib:picture | MCP server lib: picture",
	"lib:review FILE [FOCUS] | MCP server lib: Review a file",
	"lib:talk | MCP server lib: talk",
}

// TestPromptCommands checks that the commands are sent in full when a server joins, when
// its list changes, and when it has failed.
func TestPromptCommands(t *testing.T) {
	t.Parallel()
	a := connect(t, start{config: allowMCP})
	s := a.openWith(stdioServer(t, "lib", "library"))
	n := a.awaitCommands(0, libraryCommands...)
	a.turnOf(s, "/lib__add")
	n = a.awaitCommands(n, slices.Insert(slices.Clone(libraryCommands), 1, "lib:later | MCP server lib: Added later")...)
	a.turnOf(s, "/lib__drop")
	n = a.awaitCommands(n, libraryCommands...)
	a.checkContains(a.turnOf(s, "/mcp"), "4 prompts, 5 resources")
	a.checkContains(a.turnOf(s, "/help"), "/lib:review FILE [FOCUS]")
	a.turnOf(s, "/lib__quit")
	n = a.awaitCommands(n)
	a.awaitCommands(n, libraryCommands...) // it was started again
}

// TestPrompts calls prompts with all kinds of content, and checks what the model gets.
func TestPrompts(t *testing.T) {
	t.Parallel()
	say := fakemodel.Answer(fakemodel.Say("ok"))
	m := fakemodel.NewAnthropic(t, say, say, say, say)
	a := connect(t, start{env: m.Env(), config: allowReads})
	s := a.openWith(stdioServer(t, "lib", "library"))
	messages := func(n int) string {
		_, text, _ := strings.Cut(m.Requests()[n], `"messages":`)
		return text
	}
	a.turnOf(s, `/lib:review main.go "the edge cases"`)
	a.checkContains(messages(0), `Review \"main.go\" with a focus on \"the edge cases\".`)
	if strings.Contains(messages(0), "/lib:review") {
		t.Errorf("the model gets the command: %s", messages(0))
	}
	a.turnOf(s, `/lib:review focus=speed "a b.go"`)
	a.checkContains(messages(1), `Review \"a b.go\" with a focus on \"speed\".`)
	a.turnOf(s, "/lib:talk")
	a.checkContains(messages(2),
		`{"role":"user","content":[{"type":"text","text":"What is two and two?"}]},{"role":"assistant","content":[{"type":"text","text":"Four."}]},{"role":"user","content":[{"type":"text","text":"And the double of that?"`)
	a.turnOf(s, "/lib:picture")
	a.checkContains(messages(3), "Describe this␛[31m.", `"type":"image"`, `[The user attached note://frame]\na golden frame`, "Notes of monday")

	a.checkContains(a.turnOf(s, "/lib:review"), "Usage: `/lib:review FILE [FOCUS]`", "- `file`: the file to review")
	a.checkContains(a.turnOf(s, "/lib:talk loudly"), "Usage: `/lib:talk`")
	a.checkContains(a.turnOf(s, "/lib:broken"), "`/lib:broken` failed:", "the library is closed")
	a.checkContains(a.turnOf(s, "/lib:nothing"), "has no prompt `/lib:nothing`", "- `/lib:talk`")
	if n := len(m.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}

	// A session that is loaded has the same history, and shows the command.
	m.Then(say)
	a.closeSession(s)
	from := len(a.agentFrames())
	a.request(`"load"`, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, s, a.dir))
	a.answer(`"load"`)
	shown := ""
	for _, f := range a.agentFrames()[from:] {
		shown += f.line
	}
	a.checkContains(shown, `/lib:talk`, `/lib:picture`)
	if strings.Contains(shown, "What is two and two?") {
		t.Errorf("the client is shown the prompt's messages")
	}
	a.turnOf(s, "go on")
	a.checkContains(messages(4), `"text":"What is two and two?"`, `{"role":"assistant","content":[{"type":"text","text":"Four."}]}`, "a golden frame",
		"Notes of monday", "go on")
}

// TestPromptWithoutModel checks that the text of a server is never run as calls that the
// user typed.
func TestPromptWithoutModel(t *testing.T) {
	t.Parallel()
	a := connect(t, start{config: allowMCP})
	s := a.openWith(stdioServer(t, "lib", "library"))
	a.checkContains(a.turnOf(s, "/lib:talk"), "No model is configured")
}
