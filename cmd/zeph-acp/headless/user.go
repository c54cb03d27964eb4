package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/executors"
)

// User answers permission requests on behalf of the user who started the turn. It
// is an Approver.
type User struct {
	// Yes allows everything once.
	Yes bool
	// Keyboard is the person's input; nil means that no one can be asked.
	Keyboard *Keyboard
	// Screen is the person's output; nil means that no one reads it.
	Screen *Screen

	asking sync.Mutex // one question at a time
}

// ErrNoUser reports that there is no one to ask.
var ErrNoUser = errors.New("there is no user to ask")

// Approve asks the person, who answers with a word or the number of an option.
func (u *User) Approve(ctx context.Context, p acp.RequestPermissionRequest) (Choice, error) {
	u.asking.Lock()
	defer u.asking.Unlock()
	if ctx.Err() != nil {
		return Choice{}, ctx.Err()
	}
	if u.Yes {
		if o, ok := firstOfKind(p.Options, "allow_once"); ok {
			u.note(p, "allowed once by --yes")
			return Choice{OptionID: o.OptionID}, nil
		}
		return Choice{}, errors.New("--yes allows once, which is not offered")
	}
	if u.Keyboard == nil || u.Screen == nil || len(p.Options) == 0 {
		if u.Screen != nil && !u.Screen.shows(p.ToolCall) { // otherwise the failed call shows the reason
			u.note(p, ErrNoUser.Error())
		}
		return Choice{}, ErrNoUser
	}
	return u.ask(ctx, p)
}

func (u *User) note(p acp.RequestPermissionRequest, text string) {
	if u.Screen != nil {
		u.Screen.note(p.ToolCall, text)
	}
}

func (u *User) ask(ctx context.Context, p acp.RequestPermissionRequest) (Choice, error) {
	question := u.Keyboard.begin()
	defer u.Keyboard.end()
	u.Screen.question(p)
	for {
		u.Screen.prompt(p.ToolCall, answers(p.Options))
		line, err := u.Keyboard.line(ctx, question)
		if err != nil {
			if ctx.Err() != nil {
				u.Screen.Interrupted()
			} else {
				err = ErrNoUser
			}
			u.Screen.answered(p.ToolCall, "no answer")
			return Choice{}, err
		}
		u.Screen.entered(line)
		if o, reason, ok := chooseOption(p.Options, line); ok {
			u.Screen.answered(p.ToolCall, o.Name)
			return Choice{o.OptionID, reason}, nil
		}
	}
}

// Listen passes the lines that the person types outside of a question to steer, and shows
// the outcome of each. stop ends it, and waits for the outcomes.
func (u *User) Listen(steer Steer) (stop func()) {
	if u.Keyboard == nil || u.Screen == nil {
		return func() {}
	}
	var steering sync.WaitGroup
	end := u.Keyboard.Listen(func(line string) {
		u.Screen.entered(line)
		if line = strings.TrimSpace(line); line != "" {
			steering.Go(func() {
				outcome, _ := steer(line)
				u.Screen.Steered(line, outcome)
			})
		}
	})
	return func() { end(); steering.Wait() }
}

// answers returns the answers that a person can type.
func answers(options []acp.PermissionOption) string {
	var words []string
	for _, w := range []struct{ kind, words string }{{"allow_once", "y"}, {"allow_always", "a (always)"}, {"reject_once", "n, n REASON"}} {
		if _, ok := firstOfKind(options, w.kind); ok {
			words = append(words, w.words)
		}
	}
	return strings.Join(append(words, fmt.Sprintf("1-%d: ", len(options))), ", ")
}

// chooseOption returns the option for a line: a number, yes or no for this one call, or
// always. A reason may follow a no.
func chooseOption(options []acp.PermissionOption, line string) (chosen acp.PermissionOption, reason string, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if word = strings.ToLower(word); word == "n" || word == "no" {
		chosen, ok = firstOfKind(options, "reject_once")
		return chosen, strings.TrimSpace(rest), ok
	}
	if rest != "" {
		return chosen, "", false
	}
	switch word {
	case "y", "yes":
		chosen, ok = firstOfKind(options, "allow_once")
	case "a", "always":
		chosen, ok = firstOfKind(options, "allow_always")
	default:
		if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(options) {
			return options[n-1], "", true
		}
	}
	return chosen, "", ok
}

func firstOfKind(options []acp.PermissionOption, kind string) (acp.PermissionOption, bool) {
	i := slices.IndexFunc(options, func(o acp.PermissionOption) bool { return o.Kind == kind })
	if i < 0 {
		return acp.PermissionOption{}, false
	}
	return options[i], true
}

// asked returns the card of a call, and opens one if the call is not shown.
func (s *Screen) asked(t acp.ToolCall) *card {
	c := s.card(t.ToolCallID)
	if c == nil {
		c = s.open(t)
		c.onlyAsked = true
	}
	return c
}

// shows reports whether the call has an open card.
func (s *Screen) shows(t acp.ToolCall) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.card(t.ToolCallID) != nil
}

// note prints a line about a call.
func (s *Screen) note(t acp.ToolCall, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.asked(t)
	c.line(yellow, executors.WholeLine(text))
	if c.onlyAsked {
		c.end("asked", dim)
	}
	s.flush()
}

// question prints the details that a person needs to judge a call, and the options.
func (s *Screen) question(p acp.RequestPermissionRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.asked(p.ToolCall)
	s.focus(c)
	var diffs []acp.ToolContent
	for _, content := range p.ToolCall.Content {
		switch {
		case content.Type == "diff":
			diffs = append(diffs, content)
		case content.Content != nil && content.Content.Text != nil:
			if text := unfence(*content.Content.Text); executors.WholeLine(text) != c.title {
				for l := range strings.SplitSeq(Visible(text), "\n") { // whole: the user decides by it
					c.spans(layout.Span{Text: layout.ExpandTabs(l)})
				}
			}
		}
	}
	c.showDiffs(diffs, false)
	if !strings.HasSuffix(c.title, "?") { // else it is the question
		c.line(bold, "Allow this?")
	}
	for i, o := range p.Options {
		c.line(plainText, fmt.Sprintf("  %d  %s", i+1, executors.WholeLine(o.Name)))
	}
	s.flush()
}

// unfence removes the fence from a text that is a code block.
func unfence(text string) string {
	fence := text[:len(text)-len(strings.TrimLeft(text, "`"))]
	_, inside, ok := strings.Cut(text, "\n")
	inside, closed := strings.CutSuffix(strings.TrimRight(inside, "\n"), "\n"+fence)
	if len(fence) < 3 || !ok || !closed {
		return text
	}
	return inside
}

// prompt asks for an answer, which is typed after it.
func (s *Screen) prompt(t acp.ToolCall, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.asked(t)
	if s.Below != nil {
		s.focus(c)
		s.asks = true
		s.Below(text, true)
		return
	}
	c.print(bold, text)
	s.focus(c)
}

// entered records that the person has ended a line. If it was typed after the status,
// only the line remains.
func (s *Screen) entered(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.columns > 0 {
		s.status.columns = 0
		_, _ = io.WriteString(s.w, "\x1b[A\r\x1b[J"+Visible(strings.TrimSpace(line))+"\n")
	}
	s.lineEnded()
}

// answered continues after a question.
func (s *Screen) answered(t acp.ToolCall, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breakLine()
	s.status.phase = "" // the call begins now
	if s.Below != nil {
		s.asks = false
		s.Below("", false)
	}
	if c := s.asked(t); c.onlyAsked {
		c.end(how, dim)
		s.flush()
	}
}

// Steered shows the outcome of a text for the turn.
func (s *Screen) Steered(line, outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin("steered")
	s.write(s.paint(dim, outcome+": "+executors.WholeLine(Visible(line))) + "\n")
}

// Interrupted starts a new line, once, after the person pressed Ctrl-C, which a
// terminal shows as ^C.
func (s *Screen) Interrupted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.Below != nil:
		return
	case s.interrupted:
	case s.status.columns > 0:
		s.eraseStatus()
	default:
		s.mid = true
		s.breakLine()
	}
	s.interrupted = true
}
