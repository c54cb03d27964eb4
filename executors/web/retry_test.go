package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"7":                             7 * time.Second,
		" 120 ":                         2 * time.Minute,
		"-1":                            0,
		"1.5":                           0,
		"soon":                          0,
		"99999999":                      maxRetryAfter,
		"18446744073709551615":          maxRetryAfter,
		"99999999999999999999":          0, // more than fits
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second,
		"Fri, 02 Jan 2026 03:04:00 GMT": 0, // is over
		"Fri, 02 Jan 2099 03:04:00 GMT": maxRetryAfter,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

// Only a server that says "later" is asked when.
func TestRefused(t *testing.T) {
	for status, want := range map[int]struct {
		category executors.Category
		after    time.Duration
	}{
		429: {executors.RateLimited, 7 * time.Second},
		503: {executors.ServerError, 7 * time.Second},
		500: {executors.ServerError, 0},
		404: {executors.PermanentFailure, 0},
	} {
		c, _ := online(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
		})
		res := get(t, c, "https://example.com/")
		if res.Category != want.category || res.RetryAfter != want.after {
			t.Errorf("%d: %s, %s", status, res.Category, res.RetryAfter)
		}
	}
}
