package agent

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

//go:embed compact.md
var compactPrompt string

// ErrNoModel means that there is no model for work that needs one.
var ErrNoModel = errors.New("there is no model to do that: connect one first")

// Compact lets the model sum up the history and gives the history that takes its
// place. Beside an error that is the old one.
func (a *Agent) Compact(ctx context.Context, history []llm.Message) ([]llm.Message, error) {
	model := a.Model()
	if isDirect(model) {
		return history, ErrNoModel
	}
	ask := llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: strings.TrimSpace(compactPrompt)}}}
	// With the same tools, although it may call none: providers want them beside
	// calls in the history, and cache the prefix.
	req := llm.Request{System: a.system(model), Messages: append(history[:len(history):len(history)], ask), Tools: a.offers(model), NoCalls: true, Thought: a.Thought()}
	var summary strings.Builder
	var done Answer
	var stop llm.StopReason
	for ev, err := range model.Stream(ctx, req) {
		switch {
		case err != nil:
			return history, err
		case ev.Wait != nil, ev.Instead != nil:
			if err := a.tellFailure(ctx, ev); err != nil {
				return history, err
			}
			if ev.Instead != nil {
				model = ev.Instead.Model
			}
		case ev.Usage != nil:
			done.Usage = ev.Usage
		case ev.Stop != "":
			stop = ev.Stop
		}
		summary.WriteString(ev.Text)
	}
	if ctx.Err() != nil {
		return history, context.Cause(ctx)
	}
	text := strings.TrimSpace(summary.String())
	if text == "" || stop == llm.StopMaxTokens || stop == llm.StopRefusal {
		return history, &llm.Error{Provider: model.Name(), Message: fmt.Sprintf("gave no summary (it stopped with %q)", stop), Hint: "try again"}
	}
	history, done.Model = summarised(text), model.Name()
	var cost *acp.Cost
	if done.Usage != nil {
		cost = a.Spend(model, *done.Usage)
	}
	if window := model.Window(); window > 0 {
		used := llm.Tokens(llm.Request{System: req.System, Tools: req.Tools, Messages: history})
		done.Shown = &acp.UsageUpdate{Update: acp.UpdateUsage, Used: min(used, window), Size: window, Cost: cost}
	}
	a.Record(Compaction{Summary: text}, done)
	if done.Shown == nil {
		return history, nil
	}
	return history, a.Send(ctx, *done.Shown)
}
