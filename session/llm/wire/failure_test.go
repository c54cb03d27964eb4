package wire

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// TestFailureIsClean gets messages with the key and with terminal control
// sequences.
func TestFailureIsClean(t *testing.T) {
	const key = "key-for-the-wire"
	e := &Endpoint{Provider: "p", APIKey: func() string { return key }}
	for message, want := range map[string]string{
		"bad " + key:                             "bad [key]",
		strings.Repeat("y", maxMessage-10) + key: strings.Repeat("y", maxMessage-10) + "[key]",
		"\x1b[31mred\x00\u009b1m \r\n end":       "[31mred 1m end",
	} {
		f, _ := errors.AsType[*llm.Error](e.Failure(&StatusError{Status: 400, Message: message}))
		if f.Message != want {
			t.Errorf("Failure of the message %q has %q, want %q", message, f.Message, want)
		}
		for kind, err := range map[string]error{
			"a body that is no JSON": newStatusError(&http.Response{StatusCode: 400}, []byte(message)),
			"a fault in a stream":    ParseStreamError([]byte(message)),
		} {
			if f, _ := errors.AsType[*llm.Error](e.Failure(err)); f.Message != want {
				t.Errorf("%s, %q: %q, want %q", kind, message, f.Message, want)
			}
		}
	}
}

// Which failures another attempt may mend. A server may name the status of a failure in the
// stream instead of the response.
func TestFailureRetryable(t *testing.T) {
	answered := func(status int, body string) error {
		return newStatusError(&http.Response{StatusCode: status, Header: http.Header{}}, []byte(body))
	}
	for name, tt := range map[string]struct {
		err       error
		retryable bool
		hint      string
	}{
		"too fast":              {answered(429, `{"error":{"type":"rate_limit_error","message":"slow down"}}`), true, ""},
		"out of credit":         {answered(429, `{"error":{"code":"insufficient_quota","message":"no credit"}}`), false, "check the credit of the account"},
		"too long, with a 500":  {answered(500, `{"error":{"code":"context_length_exceeded","message":"too large"}}`), false, ""},
		"no such model":         {answered(404, `{"error":{"message":"no model"}}`), false, ""},
		"overload in a stream":  {ParseStreamError([]byte(`{"error":{"code":503,"message":"busy"}}`)), true, ""},
		"mistake in a stream":   {ParseStreamError([]byte(`{"error":{"code":400,"message":"no"}}`)), false, ""},
		"no status in a stream": {ParseStreamError([]byte(`{"error":{"code":600,"message":"odd"}}`)), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Endpoint{Provider: "p", Model: "m"}
			f, ok := errors.AsType[*llm.Error](e.Failure(tt.err))
			if !ok || f.Retryable != tt.retryable || f.Hint != cmp.Or(tt.hint, f.Hint) {
				t.Errorf("Failure(%v) = %+v, want Retryable %t and the hint %q", tt.err, f, tt.retryable, tt.hint)
			}
		})
	}
}

// A tool is named by its whole name, not by a part of another one.
func TestHasWord(t *testing.T) {
	for text, want := range map[string]bool{
		"read": true, "tool 'read' is bad": true, "tools.read.x": true, "reads, then read": true,
		"": false, "reads": false, "unread": false, "read_2": false, "my-read": false, "read2": false, "2read": false, "Xread": false, "readX": false,
	} {
		if got := hasWord(text, "read"); got != want {
			t.Errorf("hasWord(%q, %q) = %t, want %t", text, "read", got, want)
		}
	}
}
