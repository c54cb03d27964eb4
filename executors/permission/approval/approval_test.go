package approval

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// memory returns a store that keeps its text in saved.
func memory(t *testing.T, saved *string) *Store {
	return &Store{
		Load: func() ([]byte, error) { return []byte(*saved), nil },
		Change: func(edit func([]byte) ([]byte, error)) error {
			data, err := edit([]byte(*saved))
			if err == nil {
				*saved = string(data)
			}
			return err
		},
		Log: func(err error) { t.Error(err) },
	}
}

func TestAllowed(t *testing.T) {
	hooks := Subject{What: "the hooks", File: ".zeph/hooks.json", Dir: "/w", Text: `{"a": 1}`, Covers: []string{"x"}}
	changed, elsewhere, script, moved := hooks, hooks, hooks, hooks
	changed.Text = `{"a": 2}`
	elsewhere.Dir = "/other"
	script.Covers = []string{"y"}
	moved.Text, moved.Covers = `{"a": 1}x`, nil
	saved := ""
	var titles []string
	session := func(answer Answer) *Desk {
		return &Desk{Store: memory(t, &saved), Ask: func(_ context.Context, q Question) Answer {
			titles = append(titles, q.Title)
			return answer
		}}
	}
	for _, tt := range []struct {
		answer  Answer
		subject Subject
		want    bool
		state   State // afterwards
		asked   []string
	}{
		{No, hooks, false, Rejected, []string{"Run the hooks of this project's .zeph/hooks.json?"}},
		{Once, hooks, true, Approved, []string{"Run the hooks of this project's .zeph/hooks.json?"}},
		{Always, hooks, true, Approved, []string{"Run the hooks of this project's .zeph/hooks.json?"}},
		{No, hooks, true, Approved, nil},
		{No, elsewhere, false, Rejected, []string{"Run the hooks of this project's .zeph/hooks.json?"}},
		{No, changed, false, Rejected, []string{"Run the hooks of this project's .zeph/hooks.json, changed since your approval?"}},
		{No, script, false, Rejected, []string{"Run the hooks of this project's .zeph/hooks.json, changed since your approval?"}},
		{No, moved, false, Rejected, []string{"Run the hooks of this project's .zeph/hooks.json, changed since your approval?"}},
		{Always, changed, true, Approved, []string{"Run the hooks of this project's .zeph/hooks.json, changed since your approval?"}},
		{No, hooks, false, Rejected, []string{"Run the hooks of this project's .zeph/hooks.json, changed since your approval?"}},
	} {
		titles = nil
		d := session(tt.answer)
		got := d.Allowed(t.Context(), tt.subject)
		if again := d.Allowed(t.Context(), tt.subject); got != tt.want || again != got || !slices.Equal(titles, tt.asked) || d.State(tt.subject) != tt.state {
			t.Errorf("%+v: %t, then %t, state %s, asked %q", tt, got, again, d.State(tt.subject), titles)
		}
	}
	alone := &Desk{Store: memory(t, &saved)}
	if alone.Allowed(t.Context(), hooks) || alone.State(hooks) != Changed || !alone.Allowed(t.Context(), changed) {
		t.Error("without a user something runs that was not approved")
	}
	if none := (&Desk{}); none.Allowed(t.Context(), hooks) || none.State(hooks) != Waiting {
		t.Error("without a store something runs")
	}
}

// Subjects of one kind are asked about together, and those with an answer not at all.
func TestAllowedAll(t *testing.T) {
	skill := func(name, text string) Subject {
		return Subject{Verb: "Use", Kind: "skills", What: "the skill " + name, File: ".zeph/skills", Dir: "/w", Text: text}
	}
	a, b, long := skill("a", `"a"`), skill("b", `"b"`), skill("long", strings.Repeat("x", maxTogether))
	agent := Subject{Verb: "Use", Kind: "agents", What: "the agent c", Text: `"c"`}
	hooks := Subject{What: "the hooks", File: "hooks.json", Text: "{}"}
	server := Subject{What: "the MCP server x", File: ".mcp.json", Text: "{}"} // like the hooks, of no kind
	saved := ""
	store := memory(t, &saved)
	store.approve(skill("b", "old"))
	var asked []string
	answer := Always
	d := &Desk{Store: store, Ask: func(_ context.Context, q Question) Answer {
		asked = append(asked, q.Title)
		if q.Title == "Use 2 skills of this project, 1 of them changed since your approval?" && q.Text != "[\"a\",\n\"b\"]" {
			t.Errorf("text %q", q.Text)
		}
		return answer
	}}
	all := []Subject{a, b, long, agent, hooks, server}
	yes := []bool{true, true, true, true, true, true}
	if got := d.AllowedAll(t.Context(), all); !slices.Equal(got, yes) {
		t.Errorf("allowed: %v, want %v", got, yes)
	}
	want := []string{"Use 2 skills of this project, 1 of them changed since your approval?", "Use the skill long of this project's .zeph/skills?",
		"Use the agent c in this project?",
		"Run the hooks of this project's hooks.json?", "Run the MCP server x of this project's .mcp.json?"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	asked, answer = nil, No
	d.Reject(b)
	if got := d.AllowedAll(t.Context(), all); !slices.Equal(got,
		[]bool{true, false, true, true, true, true}) || asked != nil || store.State(b) != Rejected || store.State(skill("b", "another")) != Waiting {
		t.Errorf("after the rejection: %v, asked %q, state %s", got, asked, store.State(b))
	}
	if later := (&Desk{Store: store, Ask: d.Ask}); later.Allowed(t.Context(), b) || asked != nil {
		t.Errorf("in a later session: asked %q", asked)
	}
	d.Approve(b)
	if !d.Allowed(t.Context(), b) || store.State(b) != Approved {
		t.Error("an approved subject may not be used")
	}
	other := &Desk{Store: store, Ask: d.Ask}
	if got := other.AllowedAll(t.Context(), []Subject{skill("d", ""), skill("e", ""), a}); !slices.Equal(got, []bool{false, false, true}) || len(asked) != 1 {
		t.Errorf("refused together: %v, asked %q", got, asked)
	}
	asked = nil
	if other.AllowedAll(t.Context(), []Subject{skill("f", ""), {Kind: "agents", What: "the agent g"}}); len(asked) != 2 {
		t.Errorf("about a skill and an agent the user was asked %q, want two questions", asked)
	}
}

// A question that the end of the turn cut off is asked again.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	d := &Desk{Ask: func(context.Context, Question) Answer {
		asked++
		cancel()
		return No
	}}
	for _, ctx := range []context.Context{ctx, ctx, t.Context()} {
		if d.Allowed(ctx, Subject{What: "x"}) {
			t.Error("allowed")
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// A file that cannot be read approves nothing and is not replaced.
func TestDamaged(t *testing.T) {
	saved, logged := "{", 0
	s := memory(t, &saved)
	s.Log = func(error) { logged++ }
	subject := Subject{What: "x"}
	s.approve(subject)
	if _, err := s.Pin("o", map[string]string{"a": "b"}); err == nil {
		t.Error("texts were compared with a file that cannot be read")
	}
	if s.State(subject) != Waiting || saved != "{" || logged != 3 {
		t.Errorf("saved %q, %d logged", saved, logged)
	}
}

func TestPin(t *testing.T) {
	saved := ""
	s := memory(t, &saved)
	if changed, err := s.Pin("o", map[string]string{"a": "1", "b": "1"}); err != nil || len(changed) > 0 {
		t.Errorf("new texts: %v", changed)
	}
	if changed, err := s.Pin("o", map[string]string{"a": "1", "b": "2"}); err != nil || len(changed) != 1 || changed["b"] != "1" {
		t.Errorf("a changed text: %v", changed)
	}
	s.Accept("o", "b", "2")
	if changed, err := s.Pin("o", map[string]string{"b": "2"}); err != nil || len(changed) > 0 {
		t.Errorf("an accepted text: %v", changed)
	}
	if changed, err := s.Pin("p", map[string]string{"b": "3"}); err != nil || len(changed) > 0 {
		t.Errorf("another owner: %v", changed)
	}
}

// Texts can be compared even if new ones cannot be stored.
func TestPinUnsaved(t *testing.T) {
	saved := ""
	s := memory(t, &saved)
	s.Log = func(error) {}
	if _, err := s.Pin("o", map[string]string{"a": "1"}); err != nil {
		t.Fatal(err)
	}
	s.Change = func(edit func([]byte) ([]byte, error)) error {
		_, err := edit([]byte(saved))
		return errors.Join(err, errors.New("disk full"))
	}
	if changed, err := s.Pin("o", map[string]string{"a": "2"}); err != nil || changed["a"] != "1" {
		t.Errorf("Pin = %q, %v, want the text at the first use", changed, err)
	}
}

// With a nil store, every text is accepted.
func TestPinWithoutStore(t *testing.T) {
	if changed, err := (*Store)(nil).Pin("o", map[string]string{"a": "1"}); changed != nil || err != nil {
		t.Errorf("Pin = %q, %v, want nothing", changed, err)
	}
}

// Answers in the files of earlier versions still count.
func TestFile(t *testing.T) {
	approved := Subject{What: "the hooks", File: ".zeph/hooks.json", Dir: "/w", Text: "{}", Covers: []string{"x"}}
	refused := Subject{What: "the skill a", Dir: "/w"}
	saved := `{
 "approved": {
  "/w: the hooks of .zeph/hooks.json": "eef0d87a5dca073937ce6fb61c06807b7e296e56c80396941c496b8cd0c140ee",
  "/w: the skill a of ": "rejected d03f10fec863738f02e4c415a30796cf2d16ee1b83312cca0f62529a1893af9a"
 }
}`
	s := memory(t, &saved)
	if a, r := s.State(approved), s.State(refused); a != Approved || r != Rejected {
		t.Errorf("the states are %s and %s, want approved and rejected", a, r)
	}
}

// TestUnasked checks that a subject without a user is reported once, unless the user has
// decided about it.
func TestUnasked(t *testing.T) {
	saved := ""
	store := memory(t, &saved)
	var missed []string
	d := &Desk{Store: store, Unasked: func(what string) { missed = append(missed, what) }}
	approved, rejected := Subject{What: "the hooks", File: "a", Dir: "/w"}, Subject{What: "the hooks", File: "b", Dir: "/w"}
	store.approve(approved)
	store.reject(rejected)
	all := []Subject{approved, rejected, {What: "the hooks", File: "c", Dir: "/w"}, {What: "the language server x", Dir: "/w"}}
	for range 2 {
		if got := d.AllowedAll(t.Context(), all); !slices.Equal(got, []bool{true, false, false, false}) {
			t.Errorf("allowed: %v", got)
		}
	}
	if want := []string{"the hooks of this project's c", "the language server x in this project"}; !slices.Equal(missed, want) {
		t.Errorf("missed %q, want %q", missed, want)
	}
}
