package executors

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Category classifies a failure. It decides about retries, about the
// parameter-reformat path and about reputation; the names are those of the
// audit log and of the [tool_error] block.
type Category string

// The eleven categories, and the quota's own.
const (
	ToolNotFound         Category = "tool_not_found"
	InvalidParameters    Category = "invalid_parameters"
	TypeMismatch         Category = "type_mismatch"
	PolicyBlocked        Category = "policy_blocked"
	ConfirmationRequired Category = "confirmation_required"
	PermanentFailure     Category = "permanent_failure"
	Cancelled            Category = "cancelled"
	RateLimited          Category = "rate_limited"
	ServerError          Category = "server_error"
	NetworkError         Category = "network_error"
	Timeout              Category = "timeout"
	QuotaBlocked         Category = "quota_blocked"
)

// Infrastructure reports whether the failure lies outside the call, so that the
// same call may succeed later.
func (c Category) Infrastructure() bool {
	switch c {
	case RateLimited, ServerError, NetworkError, Timeout:
		return true
	}
	return false
}

// Quality reports whether the call cannot run as the model wrote it.
func (c Category) Quality() bool {
	switch c {
	case InvalidParameters, TypeMismatch, ToolNotFound:
		return true
	}
	return false
}

// suggestion is the advice for failures without their own.
var suggestion = map[Category]string{
	ToolNotFound:         "Use one of the offered tools.",
	InvalidParameters:    "Correct the named parameter and call the tool again.",
	TypeMismatch:         "Give the named parameter the type that the schema asks for.",
	PolicyBlocked:        "Do not retry this call; choose another way or ask the user.",
	ConfirmationRequired: "Ask the user how to go on; do not retry this call unchanged.",
	PermanentFailure:     "The same call will fail again; change it or choose another way.",
	Cancelled:            "The user stopped this; wait for the next prompt.",
	RateLimited:          "Wait before you call this again.",
	ServerError:          "The other side failed; try again later.",
	NetworkError:         "The network failed; try again later.",
	Timeout:              "Let it do less at once, or run it with a longer limit.",
	QuotaBlocked:         "Call no more tools; answer with what you know.",
}

// Failure is a classified failure as an error. Prepare returns it, and so do the
// internals of tools.
type Failure struct {
	Category   Category
	Message    string // what happened, one sentence, for the model
	Suggestion string // what to do next; empty means the category's advice
	Said       string // what people read; empty means Message as a sentence
	// RetryAfter is how long the other side asks to wait before the call is made
	// again; 0 means that it did not say.
	RetryAfter time.Duration
}

// Error returns the message alone.
func (f *Failure) Error() string { return f.Message }

// Failuref returns a Failure with a formatted message.
func Failuref(c Category, format string, args ...any) *Failure {
	return &Failure{Category: c, Message: fmt.Sprintf(format, args...)}
}

// Hint sets what to do next and returns f.
func (f *Failure) Hint(format string, args ...any) *Failure {
	f.Suggestion = fmt.Sprintf(format, args...)
	return f
}

// People sets the sentence that people read, and returns f.
func (f *Failure) People(format string, args ...any) *Failure {
	f.Said = fmt.Sprintf(format, args...)
	return f
}

// Result returns the failure as a [tool_error] block of four lines for the model.
// The last line says whether the agent itself will run the call again. It is
// always false: a result leaves the retry link only after the last try.
func (f *Failure) Result() Result {
	s := f.Suggestion
	if s == "" {
		s = suggestion[f.Category]
	}
	newlines := strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")
	oneLine := func(s string) string { return newlines.Replace(bounded(s)) }
	text := fmt.Sprintf("[tool_error]\ncategory: %s\nerror: %s\nsuggestion: %s\nretryable: false",
		f.Category, oneLine(f.Message), oneLine(s))
	return Result{Text: text, Failed: true, Category: f.Category, Said: f.Said, RetryAfter: f.RetryAfter}
}

// ErrorOf returns the error of the [tool_error] block that a text begins with. ok
// reports whether there is a block.
func ErrorOf(text string) (message, rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, "[tool_error]\ncategory: ")
	if !ok {
		return "", text, false
	}
	_, rest, ok = strings.Cut(rest, "\nerror: ")
	message, rest, more := strings.Cut(rest, "\nsuggestion: ")
	if !ok || !more {
		return "", text, false
	}
	_, rest, _ = strings.Cut(rest, "\nretryable: ")
	_, rest, _ = strings.Cut(rest, "\n")
	return message, rest, true
}

// ForPeople returns the text of a result as people read it: a sentence in the place
// of the [tool_error] block, which is for models.
func (r Result) ForPeople() string {
	message, rest, ok := ErrorOf(r.Text)
	if !ok || !r.Failed {
		return r.Text
	}
	return JoinLines(cmp.Or(r.Said, sentence(message)), rest)
}

// openers are the words that begin a sentence; any other may be a name.
var openers = []string{"a", "an", "exit", "it", "no", "not", "nothing", "only", "stopped", "that", "the", "there", "this"}

// sentence begins a text with a capital letter and ends it with a full stop.
func sentence(s string) string {
	if word, _, _ := strings.Cut(s, " "); slices.Contains(openers, strings.TrimSuffix(word, ":")) {
		first, size := utf8.DecodeRuneInString(s)
		s = string(unicode.ToUpper(first)) + s[size:]
	}
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "?") && !strings.HasSuffix(s, "!") {
		s += "."
	}
	return s
}

// maxSentence bounds the message of a failure, in bytes: it may quote a path or a
// command of any length.
const maxSentence = 4 << 10

// bounded returns a long text without its middle.
func bounded(s string) string {
	if len(s) <= maxSentence {
		return s
	}
	head, tail := maxSentence*3/4, len(s)-maxSentence/4
	for !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + " … " + s[tail:]
}

// Failf is Failuref and Result in one.
func Failf(c Category, format string, args ...any) Result {
	return Failuref(c, format, args...).Result()
}

// FailWith turns any error into a Result: a *Failure as it is, anything else by
// ClassifyIO.
func FailWith(err error) Result {
	if f, ok := asFailure(err); ok {
		return f.Result()
	}
	return Failf(ClassifyIO(err), "%v", err)
}
