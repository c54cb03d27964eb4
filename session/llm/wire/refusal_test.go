package wire

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

func TestRefusal(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                        {"overloaded_error", "Overloaded"},
		`{"error":{"message":"no credit","type":"insufficient_quota","param":null,"code":"insufficient_q"}}`: {"insufficient_q", "no credit"},
		`{"error":{"message":"busy","code":429,"type":"rate_limit"}}`:                                        {"rate_limit", "busy"},
		`[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]`:                {"INVALID_ARGUMENT", "API key not valid."},
		`{"error":"model 'x' not found"}`:                                                                    {"", "model 'x' not found"},
		`{"error":"invalid_client","error_description":"AADSTS7000215: …"}`:                                  {"invalid_client", "AADSTS7000215: …"},
		`{"object":"error","message":"too long","type":"BadRequestError","code":400}`:                        {"BadRequestError", "too long"},
		`{"detail":"Not Found"}`:        {"", "Not Found"},
		`{"detail":[{"loc":["body"]}]}`: {},
		`{"error":7}`:                   {},
		`{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]},"type":"invalid_request_error","code":null}`: {"invalid_request_error", "body.stream_options: Extra inputs are not permitted"},
		`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"message\":\"Unexpected role\"}","provider_name":"Mistral"}}}`:                                            {"", "Provider returned error: Unexpected role"},
		`{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow down"}}}`:                                                                                              {"", "Provider returned error: slow down"},
		`{"success":false,"errors":[{"code":7003,"message":"No route"}]}`:                                                                                                                        {"", "No route"},
		`{"code":"invalid","error":"This model's maximum prompt length is 8"}`:                                                                                                                   {"invalid", "This model's maximum prompt length is 8"},
		`[]`:     {},
		`<html>`: {},
		``:       {},
	} {
		kind, message := ParseRefusal([]byte(body))
		if diff := cmp.Diff(want, [2]string{kind, message}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", body, diff)
		}
	}
}

func TestRetryIn(t *testing.T) {
	for message, want := range map[string]time.Duration{
		"Rate limit reached … Please try again in 1m2.5s. Visit …":       62500 * time.Millisecond,
		"Please try again in 20ms.":                                      20 * time.Millisecond,
		"You exceeded your current quota. Please retry in 34.074824224s": 34074824224,
		"Please retry after 3 seconds.":                                  3 * time.Second,
		"Please try again in a minute.":                                  0,
		"try again in 99999999999999999999s":                             0,
	} {
		if got := retryIn(message); got != want {
			t.Errorf("%q: %s, want %s", message, got, want)
		}
	}
}

// Google names the wait in the details of an error. A quota of the day comes back only tomorrow, whatever wait is beside it.
func TestQuota(t *testing.T) {
	const details = `{"error":{"code":429,"message":"You exceeded your quota. %s","status":"RESOURCE_EXHAUSTED","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.Help","links":[]},%s{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`
	day := `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"RequestsPerMinute"},` +
		`{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},`
	metric := `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"x.googleapis.com/requests_per_model_per_day"}]},`
	for name, tt := range map[string]struct {
		body      string
		wait      time.Duration
		retryable bool
		hint      string
	}{
		"a minute":             {fmt.Sprintf(details, "", ""), 34500 * time.Millisecond, true, "wait 35 s, then try again"},
		"in a list":            {"[" + fmt.Sprintf(details, "", "") + "]", 34500 * time.Millisecond, true, "wait 35 s, then try again"},
		"a day":                {fmt.Sprintf(details, "limit: 50", day), 0, false, dailyHint},
		"a day, by its metric": {fmt.Sprintf(details, "", metric), 0, false, dailyHint},
		"not in the plan":      {fmt.Sprintf(details, "limit: 0, model: m", day), 0, false, noneHint},
		"odd details":          {`{"error":{"code":429,"message":"m","details":{"retryDelay":7}}}`, 0, true, "wait a minute, then try again"},
		"an endless wait": {`{"error":{"code":429,"message":"m",` +
			`"details":[{"retryDelay":"1e99s"},{"retryDelay":"-5s"},7]}}`, 0, true, "wait a minute, then try again"},
	} {
		for kind, err := range map[string]error{
			"response": newStatusError(&http.Response{StatusCode: 429, Header: http.Header{}}, []byte(tt.body)), "stream": ParseStreamError(firstOf([]byte(tt.body))),
		} {
			f, _ := errors.AsType[*llm.Error]((&Endpoint{Provider: "p"}).Failure(err))
			if f.Status != 429 || f.RetryAfter != tt.wait || f.Retryable != tt.retryable || f.Hint != tt.hint {
				t.Errorf("%s in a %s: got %+v, want a wait of %s, retryable %t, and the hint %q", name, kind, f, tt.wait, tt.retryable, tt.hint)
			}
		}
	}
}
