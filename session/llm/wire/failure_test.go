package wire

import (
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
			t.Errorf("%q: %q, want %q", message, f.Message, want)
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
