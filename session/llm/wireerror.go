package llm

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxMessage bounds a provider's own message, in bytes: some send pages of HTML.
const maxMessage = 400

// errBrokenOff is a stream that ended before the answer did.
var errBrokenOff = errors.New("the answer broke off before its end")

// statusError is a response that tells of a failure.
type statusError struct {
	status  int
	kind    string // the provider's word for it; empty if it has none
	message string
	retry   string        // the header X-Should-Retry
	wait    time.Duration // see retryAfter
}

func (e *statusError) Error() string { return e.message }

func newStatusError(res *http.Response, body []byte) *statusError {
	e := &statusError{status: res.StatusCode, retry: res.Header.Get("X-Should-Retry"), wait: retryAfter(res.Header)}
	e.kind, e.message = refusal(body)
	if e.message == "" {
		e.message = plainly(res, body)
	}
	if oneLine(e.message) == "" {
		e.message = cmp.Or(http.StatusText(e.status), "no reason given")
	}
	return e
}

// pageTitle finds the title or headline of a page of HTML.
var pageTitle = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<(?:title|h1)[^>]*>(.*?)</`) })

// plainly is what a body says that is no JSON. Of a page, which proxies and
// gateways send, it is the title; without one it is nothing. It is not cut yet: see
// failure.
func plainly(res *http.Response, body []byte) string {
	text := strings.TrimSpace(string(body))
	if !strings.HasPrefix(text, "<") {
		return text
	}
	title := ""
	if m := pageTitle().FindStringSubmatch(text); m != nil {
		title = strings.Join(strings.Fields(html.UnescapeString(m[1])), " ")
	}
	return strings.TrimPrefix(title, strconv.Itoa(res.StatusCode)+" ")
}

// refusal reads the body of an error: {"error": {"type": …, "code": …, "message":
// …}} of Anthropic and OpenAI, the same in a list of Gemini's, {"error": "…"} of
// Ollama, and a message or detail alone of servers built on FastAPI.
func refusal(body []byte) (kind, message string) {
	type fault struct {
		Type     any `json:"type"`
		Code     any `json:"code"`
		Message  any `json:"message"`
		Msg      any `json:"msg"`
		Metadata struct {
			Raw string `json:"raw"`
		} `json:"metadata"`
	}
	var whole struct {
		Error  json.RawMessage `json:"error"`
		Errors any             `json:"errors"`
		Detail any             `json:"detail"`
		fault
	}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	if decode(body, &whole) != nil {
		return "", ""
	}
	text := func(values ...any) string {
		for _, v := range values {
			if s := inWords(v); s != "" {
				return s
			}
		}
		return ""
	}
	f := whole.fault
	if isObject(whole.Error) && decode(whole.Error, &f) != nil {
		return "", ""
	}
	var alone string
	_ = json.Unmarshal(whole.Error, &alone)
	kind, _ = f.Code.(string)
	if word, ok := f.Type.(string); ok && kind == "" {
		kind = word
	}
	message = text(alone, f.Message, f.Msg, whole.Detail, whole.Errors)
	if raw := f.Metadata.Raw; raw != "" { // what the provider behind OpenRouter said
		_, inner := refusal([]byte(raw))
		message = strings.TrimPrefix(message+": "+cmp.Or(inner, raw), ": ")
	}
	return kind, message
}

// inWords is a message that may be a list of mistakes with their places, or hold
// one, as of Mistral and others that are built on FastAPI.
func inWords(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, e := range v {
			if s := inWords(e); s != "" {
				all = append(all, s)
			}
		}
		return strings.Join(all, "; ")
	case map[string]any:
		for _, key := range []string{"message", "msg", "detail"} {
			if s := inWords(v[key]); s != "" {
				return strings.TrimPrefix(place(v["loc"])+": "+s, ": ")
			}
		}
	}
	return ""
}

// place is where a mistake is: ["body", "tools", 0] is "body.tools.0".
func place(loc any) string {
	steps, _ := loc.([]any)
	names := make([]string, len(steps))
	for i, step := range steps {
		names[i] = fmt.Sprint(step)
	}
	return strings.Join(names, ".")
}

// notAStream is a response that is not what was asked for.
type notAStream struct {
	kind string // content type
}

func (e notAStream) Error() string {
	return fmt.Sprintf("it sent %q instead of a stream of events", e.kind)
}

// streamError is an error event in the middle of a stream.
type streamError struct {
	kind, message string
	status        int // 0 means that of the kind
}

func (e streamError) Error() string {
	if e.message == "" {
		return e.kind
	}
	return e.message
}

// isFault reports whether a member "error" tells of one.
func isFault(raw json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", "false", `""`, "{}"}, string(bytes.TrimSpace(raw)))
}

// streamFault reads an error in a stream.
func streamFault(data []byte) error {
	f := streamError{}
	f.kind, f.message = refusal(data)
	type codes struct {
		Code   json.RawMessage `json:"code"`
		Status json.RawMessage `json:"status"`
	}
	var e struct {
		Error codes `json:"error"`
		codes
	}
	_ = decode(data, &e) // what is no number stays 0
	for _, raw := range []json.RawMessage{e.Error.Code, e.Error.Status, e.Code, e.Status} {
		code, err := strconv.Atoi(strings.Trim(string(raw), `"`))
		if err == nil && code >= 400 && code < 600 && f.status == 0 {
			f.status = code
		}
	}
	if f.message == "" {
		f.message = string(data)
	}
	return f
}

// failure makes any failure of a request an *Error that says what to do and holds
// no key.
func (e *endpoint) failure(err error) error {
	f := &Error{Provider: e.provider, Message: err.Error()}
	kind := ""
	if s, ok := errors.AsType[*statusError](err); ok {
		f.Status, f.Message, f.RetryAfter, kind = s.status, s.message, s.wait, s.kind
		f.Again = again(s.status) && s.retry != "false" || s.retry == "true"
		if s.status >= 300 && s.status < 400 {
			f.Message, f.Hint = "it redirects to another address", "check base_url"
		}
	} else if s, ok := errors.AsType[streamError](err); ok {
		f.Status, kind = cmp.Or(s.status, e.kinds[s.kind]), s.kind
		f.Again = f.Status == 0 || again(f.Status)
	} else if _, ok := errors.AsType[notAStream](err); ok {
		f.Status, f.Hint = http.StatusOK, "check base_url"
	} else if _, ok := errors.AsType[tooMuch](err); ok {
		f.Hint = "check base_url and the model"
	} else if u, ok := errors.AsType[*url.Error](err); ok {
		f.Message = u.Err.Error() // the address may hold a password
		f.Hint, f.Again = "check the network and base_url", !mistaken(u)
		if anotherProtocol(u) {
			f.Hint = "the server does not speak https there: check base_url, which may have to begin with http://"
		}
		if _, ok := errors.AsType[proxied](err); ok && !anotherProtocol(u) {
			f.Hint = "check the network, base_url and the proxy that HTTPS_PROXY or HTTP_PROXY names"
		}
	} else {
		f.Hint, f.Again = "try again", true
	}
	if outOfCredit(kind) {
		f.Hint, f.Again = "check the credit of the account", false
	}
	// Google answers 400 to a key that is none.
	badKey := strings.HasPrefix(f.Message, "API key not valid")
	f.Auth, f.TooLong = authStatus(f.Status) || badKey, tooLong(f.Status, kind, f.Message)
	f.Again = f.Again && !f.TooLong // whatever its status
	if f.Again && f.RetryAfter == 0 {
		f.RetryAfter = retryIn(f.Message)
	}
	if f.Hint == "" {
		f.Hint = e.hint(f)
	}
	if e.advise != nil {
		e.advise(f, err)
	}
	for _, secret := range e.secrets() {
		f.Message = strings.ReplaceAll(f.Message, secret, "[key]")
	}
	f.Message = oneLine(f.Message) // after that, since half a key is not found
	return f
}

// mistaken tells of an address that will not work later either: with a certificate
// that nobody trusts, or behind another protocol.
func mistaken(u *url.Error) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](u)
	return untrusted || anotherProtocol(u)
}

// anotherProtocol tells of a server that answers https with something else.
func anotherProtocol(u *url.Error) bool {
	_, noTLS := errors.AsType[tls.RecordHeaderError](u)
	return noTLS || errors.Is(u, http.ErrSchemeMismatch)
}

// wantsTLS finds what servers say to a request by http that wanted one by https: those
// in Go, and nginx.
var wantsTLS = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)HTTP request (?:was sent )?to (?:an )?HTTPS (?:server|port)`)
})

// again tells whether a request of that status may work later.
func again(status int) bool {
	return status >= 500 && status != http.StatusNotImplemented ||
		slices.Contains([]int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests}, status)
}

// outOfCredit tells of an account that can do nothing more, which OpenAI reports
// with the status of a rate limit.
// https://platform.openai.com/docs/guides/error-codes
func outOfCredit(kind string) bool { return kind == "insufficient_quota" || kind == "billing_error" }

func authStatus(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// hint is what the user can do about a status.
func (e *endpoint) hint(f *Error) string {
	switch status := f.Status; {
	case status == http.StatusBadRequest && wantsTLS().MatchString(f.Message):
		return "begin base_url with https://"
	case f.Auth && e.keyEnv == "":
		return "name the variable of its key with api_key_env"
	case f.Auth:
		return "check the key in " + e.keyEnv + ", or that of zeph-acp login"
	case status == http.StatusPaymentRequired:
		return "check the credit of the account"
	case status == http.StatusProxyAuthRequired:
		return "check the proxy that HTTPS_PROXY or HTTP_PROXY names"
	case status == http.StatusNotFound:
		return fmt.Sprintf("check model %q and base_url", e.model)
	case f.TooLong:
		return "the conversation is too large: type /compact, or begin a new session"
	case status == http.StatusTooManyRequests && f.RetryAfter >= time.Second:
		return fmt.Sprintf("wait %s, then try again", span(f.RetryAfter))
	case status == http.StatusTooManyRequests:
		return "wait a minute, then try again"
	case status >= 500, status == 0:
		return "try again later"
	}
	return ""
}

// oneLine makes text one line of bounded length, without control characters, which
// would steer a terminal.
func oneLine(text string) string {
	control := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "�"), control), " ")
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
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return seconds(ms / 1000)
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// waitWords finds how long to wait in a message, where OpenAI's streams and Gemini
// have it alone: "Please retry in 34.07s", "try again in 1m2.5s", "retry after 3 seconds".
var waitWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:try again|retry) (?:in|after) ((?:\d+h)?(?:\d+m)?(?:\d+(?:\.\d+)?))( ?m?s)`)
})

// retryIn is how long a message asks to wait; 0 means that it does not.
func retryIn(message string) time.Duration {
	m := waitWords().FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	d, _ := time.ParseDuration(m[1] + strings.ToLower(strings.TrimSpace(m[2]))) // 0 if it is too long
	return d
}

// seconds is a duration that a server named, of at most a year; what is no number
// is 0.
func seconds(s float64) time.Duration {
	const year = 365 * 24 * 3600
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, year) * float64(time.Second))
}
