package llm

import (
	"context"
	"slices"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// List gives the models that the key can use, the newest first.
// https://platform.claude.com/docs/en/api/models-list
func (c *Claude) List(ctx context.Context) ([]Choice, error) {
	if err := c.Ready(); err != nil {
		return nil, err
	}
	choices := []Choice{}
	pages := c.client().Models.ListAutoPaging(ctx, anthropic.ModelListParams{Limit: anthropic.Int(100)}, option.WithAPIKey(c.endpoint.key()))
	for len(choices) < maxListed && pages.Next() {
		m := pages.Current()
		choice := Choice{Name: c.endpoint.provider + ":" + m.ID, Title: m.DisplayName, Description: "Model of provider " + c.endpoint.provider, Open: true}
		if i := slices.IndexFunc(currentClaude, func(l claudeLine) bool { return l.model == m.ID }); i >= 0 {
			choice.Title, choice.Description = currentClaude[i].title, currentClaude[i].about
		}
		choices = append(choices, choice)
	}
	if err := pages.Err(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, c.endpoint.failure(err)
	}
	return choices, nil
}
