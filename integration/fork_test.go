package integration

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestFork sends the request of docs/sessions.md: the fork's model sees the messages up to
// the named one and no later ones, and the other session goes on as before.
func TestFork(t *testing.T) {
	request := regexp.MustCompile(`(?m)^.*"method":"session/fork".*$`).FindString(readText(t, "docs/sessions.md"))
	if request == "" {
		t.Fatal("the page has no request")
	}
	p := fakemodel.NewAnthropic(t)
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		return fakemodel.Answer(fakemodel.Say("<" + r.Last() + ">"))
	}
	a := connect(t, start{env: p.Env()})
	s := a.open()
	for _, text := range []string{"one", "two"} {
		a.request(`"`+text+`"`, "session/prompt", promptParams(s, text))
		a.answer(`"` + text + `"`)
	}
	message := regexp.MustCompile(`agent_message_chunk.*"messageId":"([^"]+)"`).FindStringSubmatch(a.lines())
	if message == nil {
		t.Fatal("no message of the agent")
	}
	a.send(strings.NewReplacer("8f3a12c4", s, "5b1e07aa", message[1], `"/w"`, fmt.Sprintf("%q", a.dir)).Replace(request) + "\n")
	var fork struct {
		SessionID     string
		Modes         struct{ CurrentModeID string }
		ConfigOptions []any
	}
	if err := json.Unmarshal(a.answer("3").Result,
		&fork); err != nil || fork.SessionID == "" || fork.Modes.CurrentModeID != "code" || len(fork.ConfigOptions) == 0 {
		t.Fatalf("%v: %+v", err, fork)
	}
	for session, want := range map[string][]string{fork.SessionID: {"one", "<one>", "three"}, s: {"one", "<one>", "two", "<two>", "three"}} {
		a.runTurn(session, "three")
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

// TestForkRewind rewinds a fork: it has file history for its own turns, but not for copied
// turns, and says so. A rewind of the other session does not affect it.
func TestForkRewind(t *testing.T) {
	for name, copied := range map[string]func(a *agent, session string) string{
		"fork": func(a *agent, session string) string {
			a.request("3", "session/fork", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, a.dir))
			return sessionOf(t, a.answer("3"))
		},
		"import": func(a *agent, session string) string {
			a.request("3", "_zeph/session/export", fmt.Sprintf(`{"sessionId":%q}`, session))
			a.request("4", "_zeph/session/import", string(a.answer("3").Result))
			id := sessionOf(t, a.answer("4"))
			a.request("5", "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, id, a.dir))
			a.answer("5")
			return id
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := connect(t, start{config: "[agent]\nmode = \"auto\"\n"})
			s := a.open()
			a.runTurn(s, `/write {"path":"a.txt","content":"one"}`)
			a.runTurn(s, `/write {"path":"b.txt","content":"one"}`)
			a.request(`"points"`, "_session/rewind_points", fmt.Sprintf(`{"sessionId":%q}`, s))
			second := regexp.MustCompile(`"messageId":"([^"]+)","index":2`).FindStringSubmatch(a.answer(`"points"`).line)
			a.request(`"back"`, "_session/rewind", fmt.Sprintf(`{"sessionId":%q,"messageId":%q}`, s, second[1]))
			a.answer(`"back"`)
			id := copied(a, s)
			if a.runTurn(id, "/rewind redo"); !strings.Contains(a.lines(), "Nothing was changed: there is no rewind to undo") {
				t.Error("the copy takes back the rewind of the other session")
			}
			a.runTurn(id, `/write {"path":"a.txt","content":"two"}`)
			a.request(`"copy"`, "_session/rewind_points", fmt.Sprintf(`{"sessionId":%q}`, id))
			points := a.answer(`"copy"`).line
			if !strings.Contains(points, `"index":1,"text":"/write {\"path\":\"a.txt\",\"content\":\"one\"}","files":null`) || !strings.Contains(points,
				`"index":3,`) || !strings.Contains(points, `"files":1}]`) {
				t.Errorf("points: %s", points)
			}
			for _, tt := range []struct{ prompt, want string }{
				{"/rewind 1", "Nothing was changed: this session is a fork or an import, and has no file history for that turn"},
				{"/rewind", "its files are no longer kept"},
			} {
				a.runTurn(id, tt.prompt)
				if !strings.Contains(a.lines(), tt.want) {
					t.Errorf("%s does not say %q", tt.prompt, tt.want)
				}
			}
			last := regexp.MustCompile(`"messageId":"([^"]+)","index":3`).FindStringSubmatch(points)
			a.request(`"undo"`, "_session/rewind", fmt.Sprintf(`{"sessionId":%q,"messageId":%q}`, id, last[1]))
			if f := a.answer(`"undo"`); !strings.Contains(f.line, `"rewound":true`) || a.content("a.txt") != "one" {
				t.Errorf("%s: a.txt holds %q", f.line, a.content("a.txt"))
			}
		})
	}
}

// TestForkTitle copies a copy: its title says once that it is one.
func TestForkTitle(t *testing.T) {
	a := connect(t, start{})
	id := a.open()
	a.turnOf(id, "/read a")
	for _, n := range []string{"3", "4"} {
		a.request(n, "session/fork", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, id, a.dir))
		id = sessionOf(t, a.answer(n))
	}
	if text := a.turnOf(id, "/sessions"); !strings.Contains(text, "/read a (fork) (this one)") {
		t.Errorf("the sessions: %s", text)
	}
}

// sessionOf returns the id of the session in an answer.
func sessionOf(t *testing.T, f frame) string {
	t.Helper()
	var result struct{ SessionID string }
	if err := json.Unmarshal(f.Result, &result); err != nil || result.SessionID == "" {
		t.Fatalf("%s: %v", f.line, err)
	}
	return result.SessionID
}

// TestForkReferences checks that the reference to a long output works in both kinds of forks,
// also after the first session was deleted.
func TestForkReferences(t *testing.T) {
	a := connect(t, start{config: "[tools]\nmax_output_chars = 200\n"})
	s := a.open()
	a.runTurn(s, "/bash seq 1000")
	reference := regexp.MustCompile(`overflow:[0-9a-f-]{36}`).FindString(a.lines())
	a.runTurn(s, "/fork")
	forks := regexp.MustCompile("copied to the session `([^`]+)`").FindStringSubmatch(a.lines())
	if reference == "" || forks == nil {
		t.Fatalf("no reference or no fork: %s", a.lines())
	}
	params := func(id string) string { return fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, id, a.dir) }
	a.request(`"fork"`, "session/fork", params(s))
	var fork struct{ SessionID string }
	if err := json.Unmarshal(a.answer(`"fork"`).Result, &fork); err != nil {
		t.Fatal(err)
	}
	a.request(`"load"`, "session/load", params(forks[1]))
	a.answer(`"load"`)
	a.request(`"delete"`, "session/delete", fmt.Sprintf(`{"sessionId":%q}`, s))
	a.answer(`"delete"`)
	for _, id := range []string{forks[1], fork.SessionID} {
		before := len(a.lines())
		a.runTurn(id, fmt.Sprintf(`/read_overflow {"id":%q,"offset":500,"limit":1}`, reference))
		if answer := a.lines()[before:]; !strings.Contains(answer, "501") {
			t.Errorf("the fork %s reads %s", id, answer)
		}
	}
}
