package anthropic

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// List returns the models that the key can use, the newest first.
func (c *Model) List(ctx context.Context) ([]llm.Choice, error) {
	if err := c.Ready(); err != nil {
		return nil, err
	}
	choices := []llm.Choice{}
	for after := ""; ; {
		page, err := c.page(ctx, after)
		if err != nil {
			return nil, c.endpoint.Outcome(ctx, err)
		}
		for _, m := range page.Data {
			choices = append(choices, c.choice(m))
		}
		if len(page.Data) == 0 || !page.HasMore || page.LastID == "" || page.LastID == after || len(choices) >= llm.MaxListed {
			return choices[:min(len(choices), llm.MaxListed)], nil
		}
		after = page.LastID
	}
}

// modelPage is a page of the list of models.
// https://platform.claude.com/docs/en/api/models-list
type modelPage struct {
	Data    []listedModel `json:"data"`
	HasMore bool          `json:"has_more"`
	LastID  string        `json:"last_id"`
}

type listedModel struct {
	ID          string `json:"id"`
	DisplayName string `json:"display_name"`
}

// page returns the page after the model of that ID; "" means the first.
func (c *Model) page(ctx context.Context, after string) (page modelPage, err error) {
	query := url.Values{"limit": {"100"}}
	if after != "" {
		query.Set("after_id", after)
	}
	res, err := c.send(ctx, http.MethodGet, "v1/models?"+query.Encode(), nil)
	if err != nil {
		return page, err
	}
	return page, wire.ReadJSON(res, &page)
}

// choice returns a listed model as the user picks it.
func (c *Model) choice(m listedModel) llm.Choice {
	choice := llm.Choice{
		Name: c.endpoint.Provider + ":" + m.ID, Title: m.DisplayName,
		Description: "Model of provider " + c.endpoint.Provider, Open: true,
	}
	if i := slices.IndexFunc(Current, func(l Line) bool { return l.Model == m.ID }); i >= 0 {
		choice.Title, choice.Description = Current[i].Title, Current[i].About
	}
	return choice
}
