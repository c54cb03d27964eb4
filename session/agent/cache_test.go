package agent

import (
	"slices"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Each request begins with the messages of the one before and carries the same cache,
// also in the next turn. So a model encodes each message once.
func TestRequestsShareACache(t *testing.T) {
	var last []llm.Message
	var cache *llm.Cache
	requests := 0
	m := &fakeModel{window: 100_000, output: 100, rounds: 3, parallel: 2}
	m.each = func(req llm.Request, _ int) {
		if n := len(last); len(req.Messages) < n || !slices.EqualFunc(last, req.Messages[:n], llm.Message.Same) {
			t.Errorf("request %d does not begin with the one before", requests)
		}
		if req.Cache == nil || requests > 0 && req.Cache != cache {
			t.Errorf("request %d has the cache %p, want %p", requests, req.Cache, cache)
		}
		last, cache = slices.Clone(req.Messages), req.Cache
		requests++
	}
	a, _ := compacting(t, m, &client{})
	var history []llm.Message
	for range 3 {
		var reason acp.StopReason
		var err error
		if history, reason, err = a.Turn(t.Context(), history, text("look again")); err != nil || reason != acp.StopEndTurn {
			t.Fatalf("%s, %v", reason, err)
		}
	}
	if requests < 12 {
		t.Errorf("%d requests, want at least 12: 4 in each of 3 turns", requests)
	}
}
