package anthropic

import (
	"context"
	"slices"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// List returns the models that the key can use, the newest first.
// https://platform.claude.com/docs/en/api/models-list
func (c *Model) List(ctx context.Context) ([]llm.Choice, error) {
	if err := c.Ready(); err != nil {
		return nil, err
	}
	choices := []llm.Choice{}
	pages := c.client().Models.ListAutoPaging(ctx, anthropic.ModelListParams{Limit: anthropic.Int(100)}, option.WithAPIKey(c.endpoint.Key()))
	for len(choices) < llm.MaxListed && pages.Next() {
		m := pages.Current()
		choice := llm.Choice{Name: c.endpoint.Provider + ":" + m.ID, Title: m.DisplayName, Description: "Model of provider " + c.endpoint.Provider, Open: true}
		if i := slices.IndexFunc(Current, func(l Line) bool { return l.Model == m.ID }); i >= 0 {
			choice.Title, choice.Description = Current[i].Title, Current[i].About
		}
		choices = append(choices, choice)
	}
	if err := pages.Err(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, c.endpoint.Failure(err)
	}
	return choices, nil
}
