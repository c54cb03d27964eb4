package trace

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Calls is the link that records each tool call, with its questions to the user.
func Calls(next executors.Executor) executors.Executor { return calls{next} }

type calls struct{ executors.Executor }

func (c calls) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	name := executors.Shown(call.Tool) // a model may call a tool that does not exist
	ctx, span := Child(ctx, "execute_tool "+name, Internal)
	if span == nil {
		return c.Executor.Execute(ctx, call)
	}
	span.Set(
		slog.String("gen_ai.operation.name", "execute_tool"),
		slog.String("gen_ai.tool.name", name),
		slog.String("gen_ai.tool.call.id", call.ID),
		slog.String("gen_ai.tool.type", "function"),
	)
	res, err := c.Executor.Execute(ctx, call)
	failure := string(res.Category())
	if err != nil {
		failure = cmp.Or(failure, Failure(ctx, err))
	}
	span.End(failure)
	return res, err
}

// Failure returns the class of an error for [Span.End]; empty without an error.
func Failure(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil:
		return "cancelled"
	}
	return "_OTHER" // the conventions' value for an error without a class
}
