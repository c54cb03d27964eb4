package headless

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
)

var options = []acp.PermissionOption{
	{OptionID: "1", Name: "Allow once", Kind: "allow_once"},
	{OptionID: "2", Name: "Always allow \x1b[8mgo", Kind: "allow_always"},
	{OptionID: "3", Name: "Reject", Kind: "reject_once"},
}

const longDiff = 100 // lines, more than are shown without a question

// screenOf records the output of a Screen and signals each prompt.
type screenOf struct {
	mu      sync.Mutex
	text    strings.Builder
	prompts chan struct{}
}

func (s *screenOf) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if strings.HasSuffix(string(p), ": ") {
		s.prompts <- struct{}{}
	}
	return len(p), nil
}

func question() acp.RequestPermissionRequest {
	command := acp.TextBlock("```sh\na\nb\u202e\n```")
	title := acp.TextBlock("```sh\na ⏎ b\n```")
	why := acp.TextBlock("Asked because it is new.")
	old, new := "", strings.Repeat("l\n", longDiff+9)
	return acp.RequestPermissionRequest{Options: options, ToolCall: acp.ToolCall{
		ToolCallID: "a", Title: "a ⏎ b", Kind: "execute",
		Content: []acp.ToolContent{
			{Type: "content", Content: &command}, {Type: "content", Content: &title}, {Type: "content", Content: &why},
			{Type: "diff", Path: "/w/f", OldText: &old, NewText: &new},
		},
	}}
}

func TestApprove(t *testing.T) {
	for name, tt := range map[string]struct {
		typed string // one line a prompt
		want  Choice
		err   error
	}{
		"number":      {"2", Choice{"2", ""}, nil},
		"yes":         {" Y ", Choice{"1", ""}, nil},
		"always":      {"a", Choice{"2", ""}, nil},
		"no":          {"no", Choice{"3", ""}, nil},
		"a reason":    {" n  use the other file ", Choice{"3", "use the other file"}, nil},
		"try again":   {"\n0\n4\nx\n-1\nyes please\n3", Choice{"3", ""}, nil},
		"end of file": {"", Choice{}, errNoUser},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			screen := &screenOf{prompts: make(chan struct{})}
			go func() {
				for line := range strings.Lines(tt.typed) {
					<-screen.prompts
					w.WriteString(strings.TrimSuffix(line, "\n") + "\n")
				}
				if tt.typed == "" {
					<-screen.prompts
				}
				w.Close()
			}()
			u := &User{Keyboard: NewKeyboard(r), Screen: NewScreen(screen, false)}
			got, err := u.Approve(t.Context(), question())
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("Approve: %+v, %v, want %+v, %v", got, err, tt.want, tt.err)
			}
			shown := screen.text.String()
			for _, want := range []string{
				"╭ execute  a ⏎ b\n│ a\n│ b<U+202E>\n│ Asked because it is new.\n",
				strings.Repeat("│ +l\n", longDiff+9),
				"│ Allow this?\n│   1  Allow once\n│   2  Always allow <U+001B>[8mgo\n│   3  Reject\n│ y, a (always), n, n REASON, 1-3: ",
			} {
				if !strings.Contains(shown, want) {
					t.Errorf("screen: %s\nlacks %s", shown, want)
				}
			}
			const possible = "y for yes, a for always, n for no (a reason may follow), or a number from 1 to 3.\n"
			for typed, want := range map[string]string{
				"yes please": "│ \"yes please\" is not an answer to this. Type " + possible, "\n": "│ An answer is needed: " + possible,
			} {
				if wrong := strings.Contains(tt.typed, typed); strings.Contains(shown, want) != wrong {
					t.Errorf("%q is typed: %t, but the screen is %s", typed, wrong, shown)
				}
			}
		})
	}
}

// Input typed while no question is on the screen does not answer the next one.
func TestKeyboardForgets(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	k := NewKeyboard(r)
	one := k.begin()
	w.WriteString("first\n")
	if got, err := k.line(t.Context(), one); got != "first\n" || err != nil {
		t.Fatalf("the first line is %q, %v, want first", got, err)
	}
	w.WriteString("too early\n")
	early := <-k.lines // so it was read at the first question
	go func() { k.lines <- early }()
	two := k.begin()
	w.WriteString("second\n")
	if got, err := k.line(t.Context(), two); got != "second\n" || err != nil {
		t.Errorf("the second line is %q, %v, want second", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := k.line(ctx, k.begin()); got != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled question got %q, %v, want %v", got, err, context.Canceled)
	}
}

func TestApproveWithoutUser(t *testing.T) {
	var b strings.Builder
	for name, tt := range map[string]struct {
		user    *User
		options []acp.PermissionOption
		want    string
		fails   bool
	}{
		"yes":              {&User{Yes: true}, options, "1", false},
		"yes, on screen":   {&User{Yes: true, Screen: NewScreen(&b, false)}, options, "1", false},
		"yes, not offered": {&User{Yes: true}, options[1:], "", true},
		"nobody":           {&User{Screen: NewScreen(&b, false)}, options, "", true},
		"no options":       {&User{Keyboard: NewKeyboard(nil), Screen: NewScreen(&b, false)}, nil, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tt.user.Approve(t.Context(), acp.RequestPermissionRequest{Options: tt.options})
			if got.OptionID != tt.want || (err != nil) != tt.fails {
				t.Errorf("Approve: %+v, %v, want %q, and an error: %t", got, err, tt.want, tt.fails)
			}
		})
	}
}

func TestUnfence(t *testing.T) {
	for in, want := range map[string]string{
		"```sh\na\n```":           "a",
		"````sh\na\n```\nb\n````": "a\n```\nb",
		"```sh\na":                "```sh\na",
		"a":                       "a",
		"":                        "",
		"```":                     "```",
	} {
		if got := unfence(in); got != want {
			t.Errorf("unfence(%q) = %q, want %q", in, got, want)
		}
	}
}

// A line belongs to the question on the screen; without a question it is a text for the
// turn.
func TestListen(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	screen := &screenOf{prompts: make(chan struct{})}
	u := &User{Keyboard: NewKeyboard(r), Screen: NewScreen(screen, false)}
	steered := make(chan string)
	stop := u.Listen(func(line string) (string, bool) {
		steered <- line
		return "Added", false
	})
	w.WriteString("with care\n \n")
	if got := <-steered; got != "with care" {
		t.Errorf("the turn got %q", got)
	}
	answer := make(chan string)
	go func() {
		chosen, err := u.Approve(t.Context(), question())
		answer <- chosen.OptionID + " " + errorText(err)
	}()
	<-screen.prompts
	w.WriteString("1\n")
	if got := <-answer; got != "1 " {
		t.Errorf("the answer is %q, want the option 1 without an error", got)
	}
	w.WriteString("and \x1b[8mslowly\n")
	if got := <-steered; got != "and \x1b[8mslowly" {
		t.Errorf("the turn got %q", got)
	}
	stop()
	if shown := screen.text.String(); !strings.Contains(shown, "Added: with care\n") || !strings.Contains(shown, "Added: and <U+001B>[8mslowly\n") {
		t.Errorf("the two additions are not, or not safely, shown in\n%s", shown)
	}
}

func errorText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}
