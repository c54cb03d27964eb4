package executors

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// Category classifies a failure. It decides about retries, reformatted
// parameters and reputation. The audit log and the [tool_error] block use these
// names.
type Category string

// The eleven categories of the taxonomy, and one for the quota.
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

// Categories are all categories.
var Categories = []Category{
	ToolNotFound, InvalidParameters, TypeMismatch, PolicyBlocked, ConfirmationRequired, PermanentFailure, Cancelled, RateLimited, ServerError, NetworkError,
	Timeout, QuotaBlocked,
}

// Advice returns the suggestion for the model if a failure has none of its own.
func (c Category) Advice() string { return suggestion[c] }

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

// Denied reports whether this agent refused the call, so that it was not run. A refusal of a
// server or of the system is an ordinary failure.
func (r Result) Denied() bool {
	if r.Failure == nil || r.Failure.External {
		return false
	}
	switch r.Failure.Category {
	case PolicyBlocked, ConfirmationRequired, QuotaBlocked:
		return true
	}
	return false
}

// suggestion is the advice for a failure that has no hint.
var suggestion = map[Category]string{
	ToolNotFound:         "Use one of the offered tools.",
	InvalidParameters:    "Correct the named parameter and call the tool again.",
	TypeMismatch:         "Use the type that the schema requires for the named parameter.",
	PolicyBlocked:        "Do not retry this call; choose another way or ask the user.",
	ConfirmationRequired: "Ask the user how to proceed; do not retry this call unchanged.",
	PermanentFailure:     "The same call will fail again; change it or choose another way.",
	Cancelled:            "The user stopped this; wait for the next prompt.",
	RateLimited:          "Wait before you call this again.",
	ServerError:          "The other side failed; try again later.",
	NetworkError:         "The network failed; try again later.",
	Timeout:              "Split the work into smaller calls, or set a longer timeout.",
	QuotaBlocked:         "Call no more tools; answer with what you know.",
}

// Failure is a classified failure as an error. Prepare and the internals of
// tools return it.
type Failure struct {
	Category   Category
	Message    string // what happened, one sentence, for the model
	Suggestion string // what to do next; empty means the category's advice
	UserText   string // what people read; empty means Message as a sentence
	// RetryAfter is how long the other side asks to wait before the call is made
	// again; 0 means that it did not ask.
	RetryAfter time.Duration
	// External is set if a server or the system classified the failure: its
	// PolicyBlocked is no denial of ours.
	External bool
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

// Outside sets External and returns f.
func (f *Failure) Outside() *Failure {
	f.External = true
	return f
}

// ForUser sets the sentence that people read, and returns f.
func (f *Failure) ForUser(format string, args ...any) *Failure {
	f.UserText = fmt.Sprintf(format, args...)
	return f
}

// Result returns the failure as a result. There, its message and its suggestion are
// single lines of bounded length.
func (f *Failure) Result() Result {
	newlines := strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")
	line := *f
	line.Message = newlines.Replace(bounded(f.Message))
	line.Suggestion = newlines.Replace(bounded(cmp.Or(f.Suggestion, suggestion[f.Category])))
	return Result{Failed: true, Failure: &line}
}

// maxSentence bounds the message of a failure, in bytes: it may quote a path or
// a command of any length.
const maxSentence = 4 << 10

// bounded returns a long sentence without its middle.
func bounded(s string) string { return withoutMiddle(s, maxSentence) }

// withoutMiddle returns a text of more than most bytes without its middle.
func withoutMiddle(s string, most int) string {
	if len(s) <= most {
		return s
	}
	tail := len(s) - most/4
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return line.Prefix(s, most*3/4) + " … " + s[tail:]
}

// Failf is Failuref and Result in one.
func Failf(c Category, format string, args ...any) Result {
	return Failuref(c, format, args...).Result()
}

// FailWith converts any error to a Result. It keeps a *Failure and classifies
// any other error with ClassifyIO.
func FailWith(err error) Result {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Result()
	}
	return Failuref(ClassifyIO(err), "%v", err).Outside().Result()
}
