package agent

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/links/trace"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// startSpan begins the span of a turn, below the client's span if the prompt names one.
func (a *Agent) startSpan(ctx context.Context, caller acp.Trace) (context.Context, *trace.Span) {
	if a.Tracer == nil {
		return ctx, nil
	}
	return a.Tracer.Start(ctx, trace.Remote(caller), "invoke_agent zeph-acp",
		slog.String("gen_ai.operation.name", "invoke_agent"),
		slog.String("gen_ai.agent.name", "zeph-acp"),
		slog.String("gen_ai.conversation.id", a.Session),
	)
}

// endTurn ends the span of a turn. A cancelled turn did not fail.
func endTurn(ctx context.Context, span *trace.Span, reason acp.StopReason, err error) {
	if span == nil {
		return
	}
	if ctx.Err() != nil {
		reason, err = acp.StopCancelled, nil
	}
	if reason != "" {
		span.Set(slog.String("zeph.stop_reason", string(reason)))
	}
	span.End(modelFailure(ctx, err))
}

// stream streams an answer of a model, in a span if the turn has one.
func stream(ctx context.Context, m llm.Model, req llm.Request) iter.Seq2[llm.Event, error] {
	if isDirect(m) { // no model answers
		return m.Stream(ctx, req)
	}
	provider, name, _ := strings.Cut(m.Name(), ":")
	ctx, span := trace.Child(ctx, "chat "+name, trace.Client)
	if span == nil {
		return m.Stream(ctx, req)
	}
	span.Set(
		slog.String("gen_ai.operation.name", "chat"),
		slog.String("gen_ai.provider.name", provider),
		slog.String("gen_ai.request.model", name),
	)
	return func(yield func(llm.Event, error) bool) {
		var usage llm.Usage
		failure := "cancelled" // where the caller stops reading
		defer func() {
			span.Set(
				slog.Int("gen_ai.usage.input_tokens", usage.Input),
				slog.Int("gen_ai.usage.output_tokens", usage.Output),
				slog.Int("gen_ai.usage.cache_read.input_tokens", usage.CacheRead),
				slog.Int("gen_ai.usage.cache_creation.input_tokens", usage.CacheWrite),
			)
			span.End(failure)
		}()
		for ev, err := range m.Stream(ctx, req) {
			switch {
			case err != nil:
				failure = modelFailure(ctx, err)
			case ev.Usage != nil:
				usage = *ev.Usage
			case ev.Fallback != nil:
				_, name, _ := strings.Cut(ev.Fallback.Model.Name(), ":")
				span.Set(slog.String("gen_ai.response.model", name))
			case ev.Stop != "":
				failure = ""
				span.Set(slog.Any("gen_ai.response.finish_reasons", []string{string(ev.Stop)}))
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// modelFailure returns the class of a provider's failure: its HTTP status if it has one.
func modelFailure(ctx context.Context, err error) string {
	if failed, ok := errors.AsType[*llm.Error](err); ok && ctx.Err() == nil && failed.Status != 0 {
		return strconv.Itoa(failed.Status)
	}
	return trace.Failure(ctx, err)
}
