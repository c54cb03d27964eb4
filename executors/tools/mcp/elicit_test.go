package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// answering is a user who answers each question the same way.
type answering struct {
	Elicited
	err   error
	asked []Elicitation
	ended []string
}

func (u *answering) Forms() bool { return true }

func (u *answering) Pages() bool { return true }

func (u *answering) Elicit(_ context.Context, e Elicitation) (Elicited, error) {
	u.asked = append(u.asked, e)
	return u.Elicited, u.err
}

func (u *answering) Completed(id string) { u.ended = append(u.ended, id) }

// asked returns a server in a call of each user.
func asked(t *testing.T, users ...User) (*instance, []*asker) {
	i := newInstance(&Servers{Log: slog.New(slog.DiscardHandler)}, Server{Name: "s"}, []string{"/w"}, newQueue(&answering{}))
	t.Cleanup(func() { i.cancel(nil) })
	var all []*asker
	for n, u := range users {
		a := &asker{ctx: t.Context(), id: fmt.Sprint("call", n), server: "s", user: newQueue(u), clock: startClock(time.Minute, func() {})}
		t.Cleanup(a.clock.stop)
		t.Cleanup(i.addAsker(a))
		all = append(all, a)
	}
	return i, all
}

var aForm = &sdk.ElicitParams{Message: "Name?",
	RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}}

// TestElicitCaller checks which user a server asks if it does not say to which call a
// question belongs.
func TestElicitCaller(t *testing.T) {
	ask := func(i *instance, ctx context.Context) string {
		r, err := i.elicit(ctx, &sdk.ElicitRequest{Params: aForm})
		if err != nil {
			t.Fatal(err)
		}
		return r.Action
	}
	u := &answering{Elicited: Elicited{Action: Accept}}
	if i, _ := asked(t); ask(i, t.Context()) != "decline" {
		t.Error("a question outside of a call is not declined")
	}
	if i, _ := asked(t, u); ask(i, t.Context()) != "accept" || u.asked[0].Call != "call0" {
		t.Errorf("asked %+v, want a question of call0", u.asked)
	}
	other := &answering{Elicited: Elicited{Action: Accept}}
	i, calls := asked(t, u, other)
	if ask(i, t.Context()) != "decline" || len(other.asked) != 0 {
		t.Error("a question of one of two sessions is not declined")
	}
	if ask(i, context.WithValue(t.Context(), askerKey{}, calls[1])) != "accept" || len(other.asked) != 1 {
		t.Error("a question that names its call reaches another one")
	}
}

// TestElicitReactions checks the answer to the server and the line for the model.
func TestElicitReactions(t *testing.T) {
	page := &sdk.ElicitParams{Message: "x", URL: "https://a.example/b", ElicitationID: "1"}
	for name, tt := range map[string]struct {
		user         answering
		params       *sdk.ElicitParams
		action, note string
	}{
		"accept":       {answering{Elicited: Elicited{Action: Accept}}, aForm, "accept", ""},
		"decline":      {answering{Elicited: Elicited{Action: Decline}}, aForm, "decline", "[The user declined a question of the MCP server s]"},
		"cancel":       {answering{Elicited: Elicited{Action: Cancel}}, page, "cancel", "[The user did not answer a question of the MCP server s]"},
		"client fails": {answering{err: errors.New("no window")}, aForm, "decline", "could not show: no window"},
		"a script":     {answering{}, &sdk.ElicitParams{URL: "javascript:alert(1)"}, "decline", "not a usable http or https URL"},
		"hidden":       {answering{}, &sdk.ElicitParams{URL: "https://a.example/\u202eb"}, "decline", "not a usable http or https URL"},
		"broken form":  {answering{}, &sdk.ElicitParams{RequestedSchema: map[string]any{"type": 7}}, "decline", "its form is broken"},
		"endless form": {answering{Elicited: Elicited{Action: Accept}}, &sdk.ElicitParams{RequestedSchema: map[string]any{"$ref": "#"}}, "decline",
			"the schema of its form refers to itself"},
	} {
		i, calls := asked(t, &tt.user)
		r, err := i.elicit(t.Context(), &sdk.ElicitRequest{Params: tt.params})
		if note := strings.Join(calls[0].allNotes(), "\n"); err != nil || r.Action != tt.action || !strings.Contains(note, tt.note) || tt.note == "" && note != "" {
			t.Errorf("%s: got %+v, %v, note %q; want the action %s, note %q", name, r, err, note, tt.action, tt.note)
		}
	}
}

// waiting is a user who leaves each question open until it is withdrawn.
type waiting struct {
	answering
	open chan struct{} // closed when a question is open
}

func (u *waiting) Elicit(ctx context.Context, _ Elicitation) (Elicited, error) {
	close(u.open)
	<-ctx.Done()
	return Elicited{}, context.Cause(ctx)
}

// TestElicitEndsWithTheCall cancels a call while the user is asked. The question is
// withdrawn, although the server's request still runs.
func TestElicitEndsWithTheCall(t *testing.T) {
	u := &waiting{open: make(chan struct{})}
	i, calls := asked(t, u)
	call, cancel := context.WithCancel(t.Context())
	calls[0].ctx = call
	go func() {
		<-u.open
		cancel()
	}()
	r, err := i.elicit(context.Background(), &sdk.ElicitRequest{Params: aForm})
	if err != nil || r.Action != "cancel" {
		t.Errorf("elicit in a cancelled call: got %+v, %v, want the action cancel", r, err)
	}
}

// TestElicitLoop has a server that asks for ever. The user sees a bounded number of
// questions, and the model reads one line about the others.
func TestElicitLoop(t *testing.T) {
	broken := &sdk.ElicitParams{RequestedSchema: map[string]any{"type": 7}}
	for name, tt := range map[string]struct {
		params       *sdk.ElicitParams
		shown, notes int
	}{
		"answered": {aForm, maxQuestions, 1},
		"broken":   {broken, 0, maxQuestions + 1},
	} {
		u := &answering{Elicited: Elicited{Action: Accept}}
		i, calls := asked(t, u)
		action := ""
		for range 3 * maxQuestions {
			r, err := i.elicit(t.Context(), &sdk.ElicitRequest{Params: tt.params})
			if err != nil {
				t.Fatal(err)
			}
			action = r.Action
		}
		if notes := calls[0].allNotes(); action != "decline" || len(u.asked) != tt.shown || len(notes) != tt.notes || !strings.Contains(notes[len(notes)-1],
			"more than 20 questions") {
			t.Errorf("%s: %s after %d questions, notes %q", name, action, len(u.asked), notes)
		}
	}
}

// TestElicitOrder asks several users' questions at once: each user gets one at a time.
func TestElicitOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(slowUser{&answering{}, make(chan struct{})})
		done := make(chan error, 2)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, err := q.Elicit(t.Context(), Elicitation{}); done <- err }()
		synctest.Wait()
		go func() { _, err := q.Elicit(ctx, Elicitation{}); done <- err }()
		synctest.Wait()
		if n := len(q.User.(slowUser).asked); n != 1 {
			t.Errorf("%d questions at once", n)
		}
		cancel()
		if err := <-done; err == nil {
			t.Error("the end of the turn does not end the wait")
		}
		close(q.User.(slowUser).answer)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// slowUser answers once a channel is closed.
type slowUser struct {
	*answering
	answer chan struct{}
}

func (u slowUser) Elicit(ctx context.Context, e Elicitation) (Elicited, error) {
	defer func() { <-u.answer }()
	return u.answering.Elicit(ctx, e)
}

// TestClockHeld checks that the time of a call does not run while the user is asked.
func TestClockHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var over atomic.Bool
		c := startClock(time.Minute, func() { over.Store(true) })
		release, other := c.hold(), c.hold()
		time.Sleep(time.Hour)
		release()
		c.progress()
		time.Sleep(time.Hour)
		other()
		time.Sleep(59 * time.Second)
		if synctest.Wait(); over.Load() {
			t.Error("the time ran during a question")
		}
		time.Sleep(2 * time.Second)
		if synctest.Wait(); !over.Load() {
			t.Error("the time does not run after a question")
		}
		c.stop()
	})
}

// TestFormSchema checks the schemas of forms as clients get them.
func TestFormSchema(t *testing.T) {
	fields := strings.Repeat(`"a%d":{"type":"string"},`, maxFields+1)
	numbers := make([]any, maxFields+1)
	for i := range numbers {
		numbers[i] = i
	}
	for name, tt := range map[string]struct{ in, want string }{
		"required first": {
			`{"type":"object","$schema":"x","additionalProperties":false,"properties":{"b":{"type":"integer","minimum":1,"default":2},"a":{"type":"boolean"},"z":{"type":"string","format":"email"}},"required":["z","gone","b"]}`,
			`{"type":"object","properties":{"z":{"type":"string","format":"email"},"b":{"type":"integer","default":2,"minimum":1},"a":{"type":"boolean"}},"required":["z","b"]}`,
		},
		"choices": {
			`{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"enumNames":["X\u200b","Y"]},"b":{"type":"string","oneOf":[{"const":"p","title":"P"}]},"c":{"type":"array","minItems":1,"items":{"type":"string","enum":["q"]}}}}`,
			`{"type":"object","properties":{"a":{"type":"string","oneOf":[{"title":"X","const":"x"},{"title":"Y","const":"y"}]},"b":{"type":"string","oneOf":[{"title":"P","const":"p"}]},"c":{"type":"array","items":{"type":"string","enum":["q"]},"minItems":1}}}`,
		},
		"no fields":    {`{"type":"object"}`, `{"type":"object","properties":{}}`},
		"hidden name":  {`{"type":"object","properties":{"a\u202e":{"type":"string"}}}`, "error: its form has invisible characters"},
		"hidden value": {`{"type":"object","properties":{"a":{"type":"string","enum":["x\u200b"]}}}`, "error: its form has invisible characters"},
		"no value":     {`{"type":"object","properties":{"a":{"type":"string","oneOf":[{"title":"x"}]}}}`, "error: its form has a choice without a value"},
		"large":        {`{"type":"object","description":"` + strings.Repeat("x", maxForm) + `"}`, "error: its form has 65570 bytes, more than 65536"},
		"many fields":  {`{"type":"object","properties":{` + fmt.Sprintf(fields, numbers...) + `"z":{}}}`, "error: its form has 52 fields, more than 50"},
	} {
		var in any
		if err := json.Unmarshal([]byte(tt.in), &in); err != nil {
			t.Fatal(name, err)
		}
		out, err := formSchema(in)
		got := string(out)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

// TestClockWaits checks that the time of several open questions counts once.
func TestClockWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startClock(time.Minute, func() { t.Error("the call is over") })
		defer c.stop()
		first := c.hold()
		time.Sleep(40 * time.Second)
		second := c.hold()
		time.Sleep(40 * time.Second)
		first()
		time.Sleep(10 * time.Second)
		if got := c.waitedFor(); got != 90*time.Second {
			t.Errorf("c.waitedFor(): got %v, want %v", got, 90*time.Second)
		}
		second()
		time.Sleep(time.Second)
		if got := c.waitedFor(); got != 90*time.Second {
			t.Errorf("c.waitedFor(): got %v, want %v", got, 90*time.Second)
		}
	})
}
