package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// StatusError is a response with a status that is not success.
type StatusError struct {
	Status  int
	Kind    string // the provider's code for it; may be empty
	Message string
	retry   string        // the header X-Should-Retry
	wait    time.Duration // that the response asks for
	lasting string        // advice on a quota that does not come back soon; empty for another failure
}

func (e *StatusError) Error() string { return e.Message }

// newStatusError returns the error of a response with this body.
func newStatusError(res *http.Response, body []byte) *StatusError {
	e := &StatusError{Status: res.StatusCode, retry: res.Header.Get("X-Should-Retry"), wait: backoff.RetryAfter(res.Header, time.Now())}
	e.Kind, e.Message = ParseRefusal(body)
	q := parseQuota(body)
	e.wait, e.lasting = cmp.Or(e.wait, q.wait), q.hint
	if kind := res.Header.Get("X-Amzn-Errortype"); kind != "" { // "ThrottlingException:http://…"
		e.Kind, _, _ = strings.Cut(kind, ":")
	}
	if e.Message == "" {
		e.Message = plainText(res, body)
	}
	if oneLine(e.Message) == "" {
		e.Message = cmp.Or(http.StatusText(e.Status), "no reason given")
	}
	return e
}

// pageTitle matches the title or headline of an HTML page, or the message of AWS in XML.
var pageTitle = lazyregexp.New(`(?is)<(?:title|h1|message)(?:\s[^>]*)?>(.*?)</`)

// plainText returns the message in a body that is not JSON. For an HTML page, which
// proxies and gateways send, that is its title or "". Failure truncates it later.
func plainText(res *http.Response, body []byte) string {
	text := strings.TrimSpace(string(body))
	if !strings.HasPrefix(text, "<") {
		return text
	}
	title := ""
	if m := pageTitle.FindStringSubmatch(text); m != nil {
		title = line.Join(html.UnescapeString(m[1]))
	}
	return strings.TrimPrefix(title, strconv.Itoa(res.StatusCode)+" ")
}

// ParseRefusal reads the body of an error: {"error": {"type": …, "code": …, "message":
// …}} of Anthropic and OpenAI, the same with a status in place of the type, and in a list, of Google, {"error": "…"} of
// Ollama, {"error": kind, "error_description": "…"} of OAuth, and message or detail alone of servers built on FastAPI.
func ParseRefusal(body []byte) (kind, message string) {
	type fault struct {
		Type     any `json:"type"`
		Code     any `json:"code"`
		Status   any `json:"status"`
		Message  any `json:"message"`
		Msg      any `json:"msg"`
		Metadata struct {
			Raw string `json:"raw"`
		} `json:"metadata"`
	}
	var whole struct {
		Error  json.RawMessage `json:"error"`
		Errors any             `json:"errors"`
		Reason any             `json:"error_description"`
		Detail any             `json:"detail"`
		fault
	}
	if Decode(firstOf(body), &whole) != nil {
		return "", ""
	}
	text := func(values ...any) string {
		for _, v := range values {
			if s := messageOf(v); s != "" {
				return s
			}
		}
		return ""
	}
	f := whole.fault
	if llm.IsObject(whole.Error) && Decode(whole.Error, &f) != nil {
		return "", ""
	}
	var alone string
	_ = json.Unmarshal(whole.Error, &alone)
	kind, _ = f.Code.(string)
	for _, v := range []any{f.Type, f.Status} {
		if word, ok := v.(string); ok && kind == "" {
			kind = word
		}
	}
	if reason := messageOf(whole.Reason); reason != "" {
		return alone, reason
	}
	message = text(alone, f.Message, f.Msg, whole.Detail, whole.Errors)
	if raw := f.Metadata.Raw; raw != "" { // the message of the provider that OpenRouter asked
		_, inner := ParseRefusal([]byte(raw))
		message = strings.TrimPrefix(message+": "+cmp.Or(inner, raw), ": ")
	}
	return kind, message
}

// messageOf returns a message, which may be nested: Mistral and other servers built on
// FastAPI send lists of mistakes with their paths.
func messageOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, e := range v {
			if s := messageOf(e); s != "" {
				all = append(all, s)
			}
		}
		return strings.Join(all, "; ")
	case map[string]any:
		for _, key := range []string{"message", "msg", "detail"} {
			if s := messageOf(v[key]); s != "" {
				return strings.TrimPrefix(joinPath(v["loc"])+": "+s, ": ")
			}
		}
	}
	return ""
}

// joinPath returns the path of a mistake: ["body", "tools", 0] is "body.tools.0".
func joinPath(loc any) string {
	steps, _ := loc.([]any)
	names := make([]string, len(steps))
	for i, step := range steps {
		names[i] = fmt.Sprint(step)
	}
	return strings.Join(names, ".")
}
