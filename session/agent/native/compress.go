package native

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
)

type compressInput struct {
	Focus string `json:"focus,omitempty"`
}

func prepareCompress(_ context.Context, call *executors.Call, _ *compressInput) (executors.Card, error) {
	return executors.Card{Title: "Compress the conversation", Kind: executors.KindThink}, nil
}

// compress lets the calling turn make room. A failure loses nothing, and its
// text asks the model to continue.
func compress(ctx context.Context, call *executors.Call, in *compressInput) (executors.Result, error) {
	err := errors.New("only a model calls it; the command is /compact")
	text := ""
	if call.Compress != nil {
		text, err = call.Compress(ctx, in.Focus)
	}
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return executors.Failuref(executors.PermanentFailure, "compress_context: %v", err).
			Hint("Nothing was lost: continue the conversation.").Result(), nil
	}
	return executors.Result{Text: text, Raw: map[string]int{"characters": utf8.RuneCountInString(text)}}, nil
}
