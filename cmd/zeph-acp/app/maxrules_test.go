package app

import (
	"context"
	"iter"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// The rules of a project take at most a quarter of a small window.
func TestMaxRules(t *testing.T) {
	for _, tt := range []struct{ window, want int }{{0, 32768}, {200_000, 32768}, {8192, 7168}, {4096, 3584}} {
		if got := maxRules(32768, func() llm.Model { return windowOf(tt.window) }); got != tt.want {
			t.Errorf("a window of %d leaves %d bytes for rules, want %d", tt.window, got, tt.want)
		}
	}
}

// windowOf is a model with a window.
type windowOf int

func (windowOf) Name() string  { return "fake:m" }
func (s windowOf) Window() int { return int(s) }

func (windowOf) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] { return nil }
