package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Only a server that asks for a later attempt is tried again.
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
		if res.Failure == nil {
			t.Errorf("status %d: got %s, want a failure", status, res.ForModel())
		} else if res.Failure.Category != want.category || res.Failure.RetryAfter != want.after {
			t.Errorf("status %d: got %s after %s, want %s after %s", status, res.Failure.Category, res.Failure.RetryAfter, want.category, want.after)
		}
	}
}
