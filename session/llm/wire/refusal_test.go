package wire

import (
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
