package headless

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
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

// errNoUser reports that there is no one to ask.
var errNoUser = errors.New("there is no user to ask")

// Approve asks the person, who answers with a word or the number of an option.
func (u *User) Approve(ctx context.Context, p acp.RequestPermissionRequest) (Choice, error) {
	u.asking.Lock()
	defer u.asking.Unlock()
	if ctx.Err() != nil {
		return Choice{}, ctx.Err()
	}
	if u.Yes {
		if o, ok := OptionOfKind(p.Options, "allow_once"); ok {
			u.note(p, "allowed once by --yes")
			return Choice{OptionID: o.OptionID}, nil
		}
		return Choice{}, errors.New("--yes allows once, which is not offered")
	}
	if u.Keyboard == nil || u.Screen == nil || len(p.Options) == 0 {
		if u.Screen != nil && !u.Screen.shows(p.ToolCall) { // otherwise the failed call shows the reason
			u.note(p, errNoUser.Error())
		}
		return Choice{}, errNoUser
	}
	return u.ask(ctx, p)
}

func (u *User) note(p acp.RequestPermissionRequest, text string) {
	if u.Screen != nil {
		u.Screen.note(p.ToolCall, text)
	}
}

// ask shows the question and repeats it until the person chooses an option.
func (u *User) ask(ctx context.Context, p acp.RequestPermissionRequest) (Choice, error) {
	question := u.Keyboard.begin()
	defer u.Keyboard.end()
	u.Screen.question(p)
	for {
		u.Screen.prompt(p.ToolCall, answers(p.Options))
		typed, err := u.Keyboard.line(ctx, question)
		if err != nil {
			if ctx.Err() != nil {
				u.Screen.Interrupted()
			} else {
				err = errNoUser
			}
			u.Screen.answered(p.ToolCall, "no answer")
			return Choice{}, err
		}
		u.Screen.entered(typed)
		if o, reason, ok := chooseOption(p.Options, typed); ok {
			u.Screen.answered(p.ToolCall, o.Name)
			return Choice{o.OptionID, reason}, nil
		}
		u.Screen.details(p.ToolCall, noAnswer(typed, possible(p.Options)))
	}
}

// maxQuotedAnswer bounds an answer in a message about it, in characters.
const maxQuotedAnswer = 40

// noAnswer says that a line does not answer the question, and what would.
func noAnswer(typed, possible string) string {
	if typed = executors.WholeLine(strings.TrimSpace(typed)); typed == "" {
		return "An answer is needed: " + possible + "."
	}
	return fmt.Sprintf("%q is not an answer to this. Type %s.", line.TruncateRunes(typed, maxQuotedAnswer), possible)
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

// keys are the answers that a person can type besides numbers: how the prompt lists them, and what they mean.
var keys = []struct{ kind, short, long string }{
	{"allow_once", "y", "y for yes"},
	{"allow_always", "a (always)", "a for always"},
	{"reject_once", "n, n REASON", "n for no (a reason may follow)"},
}

// answers returns the answers that a person can type, as a prompt.
func answers(options []acp.PermissionOption) string {
	var words []string
	for _, k := range keys {
		if _, ok := OptionOfKind(options, k.kind); ok {
			words = append(words, k.short)
		}
	}
	return strings.Join(append(words, fmt.Sprintf("1-%d: ", len(options))), ", ")
}

// possible says what a person can type.
func possible(options []acp.PermissionOption) string {
	var words []string
	for _, k := range keys {
		if _, ok := OptionOfKind(options, k.kind); ok {
			words = append(words, k.long)
		}
	}
	return strings.Join(append(words, "or "+numberOf(len(options))), ", ")
}

// numberOf asks for the number of one of n options.
func numberOf(n int) string {
	if n == 1 {
		return "the number 1"
	}
	return fmt.Sprintf("a number from 1 to %d", n)
}

// chooseOption returns the option for a line: a number, yes or no for this one call, or
// always. A reason may follow a no.
func chooseOption(options []acp.PermissionOption, line string) (chosen acp.PermissionOption, reason string, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if word = strings.ToLower(word); word == "n" || word == "no" {
		chosen, ok = OptionOfKind(options, "reject_once")
		return chosen, strings.TrimSpace(rest), ok
	}
	if rest != "" {
		return chosen, "", false
	}
	switch word {
	case "y", "yes":
		chosen, ok = OptionOfKind(options, "allow_once")
	case "a", "always":
		chosen, ok = OptionOfKind(options, "allow_always")
	default:
		if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(options) {
			return options[n-1], "", true
		}
	}
	return chosen, "", ok
}

// OptionOfKind returns the first option of a kind, such as "allow_once".
func OptionOfKind(options []acp.PermissionOption, kind string) (acp.PermissionOption, bool) {
	i := slices.IndexFunc(options, func(o acp.PermissionOption) bool { return o.Kind == kind })
	if i < 0 {
		return acp.PermissionOption{}, false
	}
	return options[i], true
}
