package llm

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRefusal(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                        {"overloaded_error", "Overloaded"},
		`{"error":{"message":"no credit","type":"insufficient_quota","param":null,"code":"insufficient_q"}}`: {"insufficient_q", "no credit"},
		`{"error":{"message":"busy","code":429,"type":"rate_limit"}}`:                                        {"rate_limit", "busy"},
		`[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]`:                {"", "API key not valid."},
		`{"error":"model 'x' not found"}`:                                                                    {"", "model 'x' not found"},
		`{"object":"error","message":"too long","type":"BadRequestError","code":400}`:                        {"BadRequestError", "too long"},
		`{"detail":"Not Found"}`:        {"", "Not Found"},
		`{"detail":[{"loc":["body"]}]}`: {},
		`{"error":7}`:                   {},
		`[]`:                            {},
		`<html>`:                        {},
		``:                              {},
	} {
		kind, message := refusal([]byte(body))
		if diff := cmp.Diff(want, [2]string{kind, message}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", body, diff)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for name, tt := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"none":         {nil, 0},
		"seconds":      {http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		"milliseconds": {http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"1500"}}, 1500 * time.Millisecond},
		"past":         {http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:28:00 GMT"}}, 0},
		"negative":     {http.Header{"Retry-After": {"-7"}}, 0},
		"no number":    {http.Header{"Retry-After": {"NaN"}}, 0},
		"forever":      {http.Header{"Retry-After": {"1e300"}}, 365 * 24 * time.Hour},
	} {
		if got := retryAfter(tt.header); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
