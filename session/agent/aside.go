package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// maxAside limits an answer, in bytes.
const maxAside = 64 << 10

var errSlow = errors.New("took too long")

// aside is the answer of a model to a question outside of the conversation.
type aside struct {
	text  string
	stop  llm.StopReason
	model llm.Model  // the model that answered: the asked one or its fallback
	usage *llm.Usage // nil if the provider reported none
}

// askAside asks a model, at its lowest thought level. With an error it returns
// the partial answer. A timeout of 0 means no limit.
func askAside(ctx context.Context, m llm.Model, timeout time.Duration, system, question string) (aside, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errSlow)
		defer cancel()
	}
	req := llm.Request{
		System:   strings.TrimSpace(system),
		Messages: []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: question}}}},
	}
	if levels := llm.Levels(m); len(levels) > 0 {
		req.Thought = levels[0]
	}
	a := aside{model: m}
	var text strings.Builder
	var cut llm.Usage // of the parts that broke off
	for ev, err := range stream(ctx, m, req) {
		switch {
		case err != nil:
			return a, err
		case ev.Fallback != nil:
			a.model = ev.Fallback.Model
		case ev.Cut && a.usage != nil:
			cut = *a.usage
		case ev.Reasoned:
			text.Reset()
		case ev.Usage != nil:
			a.usage = &llm.Usage{
				Input: cut.Input + ev.Usage.Input, Output: cut.Output + ev.Usage.Output,
				CacheRead: cut.CacheRead + ev.Usage.CacheRead, CacheWrite: cut.CacheWrite + ev.Usage.CacheWrite,
			}
		case ev.Stop != "":
			a.stop = ev.Stop
		}
		if text.Len()+len(ev.Text) > maxAside {
			return a, fmt.Errorf("%s answered with more than %d bytes", a.model.Name(), maxAside)
		}
		text.WriteString(ev.Text)
	}
	if ctx.Err() != nil {
		return a, context.Cause(ctx)
	}
	a.text = text.String()
	return a, nil
}

// jsonText encodes v as JSON, so that no text in it can look like the end of the
// question.
func jsonText(v any) (string, error) {
	data, err := plainjson.Marshal(v)
	return string(data), err
}
