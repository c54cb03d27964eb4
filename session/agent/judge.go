package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Judge answers questions about tool calls by a model, outside of the
// conversation. It is a judge.Model.
type Judge struct {
	Model llm.Model
	Count func(llm.Model, llm.Usage) // counts the cost; nil counts nothing
}

// Name returns the model's name.
func (j *Judge) Name() string { return j.Model.Name() }

// Judge returns the whole answer of the model. An error means that there is no answer.
func (j *Judge) Judge(ctx context.Context, instructions, question string) (string, error) {
	start := time.Now()
	answer, err := askAside(ctx, j.Model, 0, instructions, question)
	if answer.usage != nil && j.Count != nil {
		j.Count(answer.model, *answer.usage)
	}
	switch {
	case err != nil && ctx.Err() == context.DeadlineExceeded:
		return "", fmt.Errorf("%s %w (%v)", j.Name(), errSlow, time.Since(start).Round(time.Millisecond))
	case err != nil:
		return "", err
	case answer.stop != llm.StopEnd:
		return "", fmt.Errorf("%s stopped with %q", answer.model.Name(), answer.stop)
	}
	return answer.text, nil
}
