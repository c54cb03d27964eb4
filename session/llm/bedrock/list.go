package bedrock

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// modelSummary is a model of the region.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_FoundationModelSummary.html
type modelSummary struct {
	ID         string   `json:"modelId"`
	Name       string   `json:"modelName"`
	Maker      string   `json:"providerName"`
	Input      []string `json:"inputModalities"`
	Output     []string `json:"outputModalities"`
	Inference  []string `json:"inferenceTypesSupported"`
	Streams    *bool    `json:"responseStreamingSupported"`
	LifeCircle struct {
		Status string `json:"status"`
	} `json:"modelLifecycle"`
}

// converses reports whether the model can be named in a request and answers with text.
func (m modelSummary) converses() bool {
	return slices.Contains(m.Output, "TEXT") && slices.Contains(m.Input, "TEXT") && slices.Contains(m.Inference, "ON_DEMAND") &&
		(m.Streams == nil || *m.Streams) && m.LifeCircle.Status != "LEGACY"
}

// profilePage is a page of the inference profiles of the region.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListInferenceProfiles.html
type profilePage struct {
	Profiles []struct {
		ID     string `json:"inferenceProfileId"`
		Name   string `json:"inferenceProfileName"`
		Status string `json:"status"`
	} `json:"inferenceProfileSummaries"`
	NextToken string `json:"nextToken"`
}

// List returns the inference profiles and the models that the region offers. Credentials that may only ask models have an empty
// list.
func (b *Model) List(ctx context.Context) ([]llm.Choice, error) {
	if err := b.Ready(); err != nil {
		return nil, err
	}
	choices := []llm.Choice{}
	add := func(id, title, maker string) {
		choices = append(choices, llm.Choice{Name: b.cfg.Name + ":" + id, Title: cmp.Or(title, id), Open: true,
			Description: cmp.Or(maker, "Model of provider "+b.cfg.Name)})
	}
	for token := ""; ; {
		query := url.Values{"maxResults": {"1000"}}
		if token != "" {
			query.Set("nextToken", token)
		}
		var page profilePage
		if err := b.get(ctx, "inference-profiles?"+query.Encode(), &page); err != nil {
			return b.unlisted(ctx, err)
		}
		for _, p := range page.Profiles {
			if p.Status == "ACTIVE" {
				add(p.ID, p.Name, "")
			}
		}
		if page.NextToken == "" || page.NextToken == token || len(page.Profiles) == 0 || len(choices) >= llm.MaxListed {
			break
		}
		token = page.NextToken
	}
	var models struct {
		Models []modelSummary `json:"modelSummaries"`
	}
	if err := b.get(ctx, "foundation-models?byOutputModality=TEXT", &models); err != nil {
		return b.unlisted(ctx, err)
	}
	for _, m := range models.Models {
		if m.converses() {
			add(m.ID, m.Name, m.Maker)
		}
	}
	return choices[:min(len(choices), llm.MaxListed)], nil
}

// unlisted returns the outcome of a list that failed.
func (b *Model) unlisted(ctx context.Context, err error) ([]llm.Choice, error) {
	if e, ok := errors.AsType[*wire.StatusError](err); ok && e.Kind == "AccessDeniedException" {
		return []llm.Choice{}, nil
	}
	return nil, b.endpoint.Outcome(ctx, err)
}

// get asks the service that lists models, which has another host than the models.
func (b *Model) get(ctx context.Context, path string, out any) error {
	res, err := b.send(ctx, strings.Replace(b.cfg.BaseURL, "//bedrock-runtime", "//bedrock", 1), http.MethodGet, path, "application/json")
	if err != nil {
		return err
	}
	return wire.ReadJSON(res, out)
}
