package wire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// maxMessage bounds a provider's message, in bytes: some send pages of HTML.
const maxMessage = 400

// ErrBrokenOff is returned for a stream that ended before its answer did.
var ErrBrokenOff = errors.New("the answer broke off before its end")

// notAStream is a response of another kind than the requested one.
type notAStream struct {
	kind string // content type
}

// NotAStream returns the error of a response of another kind than the requested one.
func NotAStream(res *http.Response) error { return &notAStream{res.Header.Get("Content-Type")} }

func (e *notAStream) Error() string {
	return fmt.Sprintf("it sent %q instead of a stream of events", e.kind)
}

// StreamError is an error event in the middle of a stream.
type StreamError struct {
	Kind, Message string
	status        int // HTTP status; 0 means the status of the kind
	quota         quota
}

func (e *StreamError) Error() string {
	if e.Message == "" {
		return e.Kind
	}
	return e.Message
}

// HasError reports whether a member "error" holds an error.
func HasError(raw json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", "false", `""`, "{}"}, string(bytes.TrimSpace(raw)))
}

// ParseStreamError returns the error in a chunk of a stream as a *StreamError.
func ParseStreamError(data []byte) error {
	f := &StreamError{quota: parseQuota(data)}
	f.Kind, f.Message = ParseRefusal(data)
	type codes struct {
		Code   json.RawMessage `json:"code"`
		Status json.RawMessage `json:"status"`
	}
	var e struct {
		Error codes `json:"error"`
		codes
	}
	_ = Decode(data, &e) // other values than numbers stay 0
	for _, raw := range []json.RawMessage{e.Error.Code, e.Error.Status, e.Code, e.Status} {
		code, err := strconv.Atoi(strings.Trim(string(raw), `"`))
		if err == nil && code >= 400 && code < 600 && f.status == 0 {
			f.status = code
		}
	}
	if f.Message == "" {
		f.Message = string(data)
	}
	return f
}

// Outcome returns the failure of a request as an *llm.Error, or ctx's cause if that is
// done. It returns nil for nil.
func (e *Endpoint) Outcome(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return e.Failure(err)
}

// Failure returns any failure of a request as an *llm.Error with advice and without
// the key.
func (e *Endpoint) Failure(err error) error {
	f, kind := e.classify(err)
	if outOfCredit(kind) {
		f.Hint, f.Retryable = "check the credit of the account", false
	}
	f.Auth, f.TooLong = f.Auth || IsAuth(f.Status) || isBadKey(f.Message), IsTooLong(f.Status, kind, f.Message)
	f.Retryable = f.Retryable && !f.TooLong // whatever its status
	if f.TooLong {
		f.Prompt, f.Window = sizesIn(f.Message)
	}
	if f.Retryable && f.RetryAfter == 0 {
		f.RetryAfter = retryIn(f.Message)
	}
	if f.Hint == "" {
		f.Hint = e.hint(f)
	}
	if e.Advise != nil {
		e.Advise(f, err)
	}
	for _, secret := range e.secrets() {
		f.Message = strings.ReplaceAll(f.Message, secret, "[key]")
	}
	f.Message = oneLine(f.Message) // last, since half a key would not be found
	return f
}

// classify returns the failure of a request, with the fields that follow from the type of
// err. kind is the provider's name for the kind of failure, "" if it has none.
func (e *Endpoint) classify(err error) (f *llm.Error, kind string) {
	f = &llm.Error{Provider: e.Provider, Message: err.Error()}
	if failed, ok := errors.AsType[*fetchError](err); ok {
		return e.classifyFetch(failed), ""
	}
	if s, ok := errors.AsType[*StatusError](err); ok {
		f.Status, f.Message, f.RetryAfter = s.Status, s.Message, s.wait
		f.Retryable = isRetryable(s.Status) && s.retry != "false" && s.lasting == "" || s.retry == "true"
		f.Hint = s.lasting
		if s.Status >= 300 && s.Status < 400 {
			f.Message, f.Hint = "it redirects to another address", "check base_url"
		}
		return f, s.Kind
	}
	if s, ok := errors.AsType[*StreamError](err); ok {
		f.Status = cmp.Or(s.status, e.Kinds[s.Kind])
		f.Retryable = (f.Status == 0 || isRetryable(f.Status)) && s.quota.hint == ""
		f.RetryAfter, f.Hint = s.quota.wait, s.quota.hint
		return f, s.Kind
	}
	if _, ok := errors.AsType[*notAStream](err); ok {
		f.Status, f.Hint = http.StatusOK, "check base_url"
		return f, ""
	}
	if _, ok := errors.AsType[*tooLarge](err); ok {
		f.Hint = "check base_url and the model"
		return f, ""
	}
	if errors.Is(err, errEndless) {
		f.Hint = "ask again in other words, or pick another model"
		return f, ""
	}
	u, ok := errors.AsType[*url.Error](err)
	if !ok {
		f.Hint, f.Retryable = "try again", true
		return f, ""
	}
	f.Message = u.Err.Error() // the address may hold a password
	f.Hint, f.Retryable = "check the network and base_url", !isMisconfigured(u)
	_, viaProxy := errors.AsType[*proxyError](err)
	switch {
	case AnotherProtocol(u):
		f.Hint = "the server does not speak https there: check base_url, which may have to begin with http://"
	case viaProxy:
		f.Hint = "check the network, base_url and the proxy that HTTPS_PROXY or HTTP_PROXY names"
	}
	return f, ""
}

// classifyFetch returns the failure to get a credential. Its status is not the provider's, so it is not among the fields.
func (e *Endpoint) classifyFetch(failed *fetchError) *llm.Error {
	_, answered := errors.AsType[*StatusError](failed.error)
	u, unreachable := errors.AsType[*url.Error](failed.error)
	f, message := &llm.Error{Provider: e.Provider}, failed.Error()
	if answered || unreachable {
		f, _ = e.classify(failed.error)
	}
	if unreachable { // the address may hold a password
		message = strings.ReplaceAll(message, u.Error(), u.Err.Error())
	}
	f.Status, f.Auth, f.Message = 0, !f.Retryable, "no "+failed.source.What+": "+message
	f.Hint = failed.hint()
	if unreachable {
		f.Hint = cmp.Or(Advice(failed.error), "check the network")
	}
	return f
}

// isMisconfigured reports whether requests to an address always fail: its certificate is
// not trusted, or the server speaks another protocol.
func isMisconfigured(u *url.Error) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](u)
	return untrusted || AnotherProtocol(u)
}

// AnotherProtocol reports whether the server answered https with something else.
func AnotherProtocol(u *url.Error) bool {
	_, noTLS := errors.AsType[tls.RecordHeaderError](u)
	return noTLS || errors.Is(u, http.ErrSchemeMismatch)
}

// wantsTLS matches the answers of servers to http where they expect https: those in Go,
// and nginx.
var wantsTLS = lazyregexp.New(`(?i)HTTP request (?:was sent )?to (?:an )?HTTPS (?:server|port)`)

// isRetryable reports whether a request that failed with the status may work later.
func isRetryable(status int) bool {
	return status >= 500 && status != http.StatusNotImplemented ||
		slices.Contains([]int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests}, status)
}

// outOfCredit reports whether the account has no credit left, which OpenAI reports with
// the status of a rate limit.
// https://platform.openai.com/docs/guides/error-codes
func outOfCredit(kind string) bool { return kind == "insufficient_quota" || kind == "billing_error" }

// IsAuth reports whether a status means that the key is missing or refused.
func IsAuth(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// isBadKey reports whether a message says that the key is wrong. Google answers 400 to an invalid key.
func isBadKey(message string) bool {
	return strings.HasPrefix(message, "API key not valid") || strings.HasPrefix(message, "API key expired")
}

// refusesKey reports whether another key may be accepted where this one failed.
func refusesKey(e *StatusError) bool {
	return e.Status == http.StatusUnauthorized || isBadKey(e.Message)
}

// hint returns a sentence of advice on a failure, for the user.
func (e *Endpoint) hint(f *llm.Error) string {
	switch status := f.Status; {
	case status == http.StatusBadRequest && wantsTLS.MatchString(f.Message):
		return "begin base_url with https://"
	case f.Auth && e.asksSource():
		return e.Source.Check
	case f.Auth && e.KeyEnv == "":
		return "name the variable of its key with api_key_env"
	case f.Auth:
		return "check the key in " + e.KeyEnv + ", or run zeph-acp login"
	case status == http.StatusPaymentRequired:
		return "check the credit of the account"
	case status == http.StatusProxyAuthRequired:
		return "check the proxy that HTTPS_PROXY or HTTP_PROXY names"
	case status == http.StatusNotFound:
		return fmt.Sprintf("check model %q and base_url", e.Model)
	case f.TooLong:
		return "the conversation is too large: type /compact, or begin a new session"
	case status == http.StatusTooManyRequests && f.RetryAfter >= time.Second:
		return fmt.Sprintf("wait %s, then try again", llm.FormatDuration(f.RetryAfter))
	case status == http.StatusTooManyRequests:
		return "wait a minute, then try again"
	case status >= 500, status == 0:
		return "try again later"
	}
	return ""
}

// oneLine returns the text as one line of bounded length, without control characters,
// which could control a terminal.
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
