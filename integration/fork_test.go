package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestFork sends the request of docs/sessions.md: the fork's model sees the messages up to
// the named one and no later ones, and the other session goes on as before.
func TestFork(t *testing.T) {
	page, err := os.ReadFile("../docs/sessions.md")
	if err != nil {
		t.Fatal(err)
	}
	request := regexp.MustCompile(`(?m)^.*"method":"session/fork".*$`).Find(page)
	if request == nil {
		t.Fatal("the page has no request")
	}
	p := fakemodel.NewAnthropic(t)
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		return fakemodel.Answer(fakemodel.Say("<" + r.Last() + ">"))
	}
	a := launch(t, start{env: p.Env()})
	a.initialize()
	s := a.open()
	for _, text := range []string{"one", "two"} {
		a.request(`"`+text+`"`, "session/prompt", promptParams(s, text))
		a.answer(`"` + text + `"`)
	}
	message := regexp.MustCompile(`agent_message_chunk.*"messageId":"([^"]+)"`).FindStringSubmatch(a.lines())
	if message == nil {
		t.Fatal("no message of the agent")
	}
	a.send(strings.NewReplacer("8f3a12c4", s, "5b1e07aa", message[1], `"/w"`, fmt.Sprintf("%q", a.dir)).Replace(string(request)) + "\n")
	var fork struct {
		SessionID     string
		Modes         struct{ CurrentModeID string }
		ConfigOptions []any
	}
	if err := json.Unmarshal(a.answer("3").Result, &fork); err != nil || fork.SessionID == "" || fork.Modes.CurrentModeID != "code" || len(fork.ConfigOptions) == 0 {
		t.Fatalf("%v: %+v", err, fork)
	}
	for session, want := range map[string][]string{fork.SessionID: {"one", "<one>", "three"}, s: {"one", "<one>", "two", "<two>", "three"}} {
		id := `"in ` + session + `"`
		a.request(id, "session/prompt", promptParams(session, "three"))
		a.answer(id)
		var said []string
		for _, m := range p.Request(len(p.Requests()) - 1).Messages {
			for _, b := range m.Content {
				if !strings.HasPrefix(b.Text, "[mode: ") {
					said = append(said, b.Text)
				}
			}
		}
		if !slices.Equal(said, want) {
			t.Errorf("the model saw %q, want %q", said, want)
		}
	}
}
