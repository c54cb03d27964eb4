package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/anthropics/anthropic-sdk-go"
)

// maxMessage bounds a provider's own message, in bytes: some send pages of HTML.
const maxMessage = 400

var errBrokenOff = errors.New("the answer broke off before its end")

// notAStream is a response that is not what was asked for.
type notAStream struct {
	status int
	kind   string // content type
}

func (e notAStream) Error() string {
	if e.status >= 300 && e.status < 400 {
		return "it redirects to another address"
	}
	return fmt.Sprintf("it sent %q instead of a stream of events", e.kind)
}

// streamError is an error event in the middle of a stream.
type streamError struct{ kind, message string }

func (e streamError) Error() string {
	if e.message == "" {
		return e.kind
	}
	return e.message
}

// streamStatus is the HTTP status that the kinds of error would have had.
// https://platform.claude.com/docs/en/api/errors
var streamStatus = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504,
	"overloaded_error": 529,
}

// wireError makes any failure an *Error that says what to do and holds no key.
func (c *Claude) wireError(err error) error {
	e := &Error{Provider: c.cfg.Name, Message: err.Error()}
	wait := time.Duration(0)
	if api, ok := errors.AsType[*anthropic.Error](err); ok {
		e.Status = api.StatusCode
		e.Message = apiMessage(api)
		wait = retryAfter(api.Response)
	} else if s, ok := errors.AsType[streamError](err); ok {
		e.Status = streamStatus[s.kind]
	} else if n, ok := errors.AsType[notAStream](err); ok {
		e.Status = n.status
		e.Hint = "check base_url"
	} else if u, ok := errors.AsType[*url.Error](err); ok {
		e.Message = u.Err.Error() // the address may hold a password
		e.Hint = "check the network and base_url"
	} else {
		e.Hint = "try again"
	}
	if e.Hint == "" {
		e.Hint = c.hint(e.Status, wait)
	}
	e.Auth = authStatus(e.Status)
	e.Message = oneLine(e.Message)
	if key := c.key(); len(key) >= 8 { // a shorter one is no key, and would be found inside of words
		e.Message = strings.ReplaceAll(e.Message, key, "[key]")
	}
	return e
}

func authStatus(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// hint is what the user can do about a status.
func (c *Claude) hint(status int, wait time.Duration) string {
	switch {
	case authStatus(status):
		return "check the key in " + c.cfg.KeyEnv + ", or that of zeph-acp login"
	case status == http.StatusPaymentRequired:
		return "check the credit of the account"
	case status == http.StatusNotFound:
		return fmt.Sprintf("check model %q and base_url", c.cfg.Model)
	case status == http.StatusRequestEntityTooLarge:
		return "the conversation is too large; begin a new session"
	case status == http.StatusTooManyRequests && wait > 0:
		return fmt.Sprintf("wait %s, then try again", wait.Round(time.Second))
	case status == http.StatusTooManyRequests:
		return "wait a minute, then try again"
	case status >= 500, status == 0:
		return "try again later"
	}
	return ""
}

// apiMessage is the message in the body of an error response.
func apiMessage(e *anthropic.Error) string {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(e.RawJSON()), &body) == nil && body.Error.Message != "" {
		return body.Error.Message
	}
	if text := oneLine(e.RawJSON()); text != "" {
		return text
	}
	if text := http.StatusText(e.StatusCode); text != "" {
		return text
	}
	return "no reason given"
}

// refusesThoughts tells whether a request failed for the thoughts in it.
func refusesThoughts(err error) bool {
	api, ok := errors.AsType[*anthropic.Error](err)
	if !ok || api.StatusCode != http.StatusBadRequest {
		return false
	}
	message := apiMessage(api)
	return strings.Contains(message, "thinking") && (strings.Contains(message, "signature") || strings.Contains(message, "block"))
}

// oneLine makes text one line of bounded length.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if len(text) <= maxMessage {
		return text
	}
	cut := maxMessage
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// retryAfter is how long a response asks to wait; 0 means that it does not.
func retryAfter(res *http.Response) time.Duration {
	if res == nil {
		return 0
	}
	if ms, err := strconv.ParseFloat(res.Header.Get("Retry-After-Ms"), 64); err == nil {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := res.Header.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return time.Until(at)
	}
	return 0
}
