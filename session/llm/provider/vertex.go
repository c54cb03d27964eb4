package provider

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini/models"
	"github.com/zeph-acp/zeph-acp/session/llm/google"
	"github.com/zeph-acp/zeph-acp/session/llm/pricelist"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// googleAccount returns the Google Cloud account of a provider.
func (p Provider) googleAccount(getenv func(string) string) google.Account {
	return google.Account{Getenv: getenv, Project: p.Project, Location: p.Region, Metadata: p.Metadata}
}

// googleSource returns the source of an account's access tokens.
func googleSource(p opening) *wire.Source {
	return p.googleAccount(p.getenv).Source(p.memory.Credentials)
}

// vertexAddress returns the address of Vertex AI at the provider's location, or "" if that is no location.
func vertexAddress(p Provider, getenv func(string) string) string {
	location, err := p.googleAccount(getenv).ResolveLocation()
	if err != nil {
		return ""
	}
	return "https://" + google.VertexHost(location)
}

// The publishers at Vertex AI whose protocols zeph-acp speaks there.
const (
	publisherGoogle    = "google"
	publisherAnthropic = "anthropic"
)

// splitPublisher returns the publisher of a model at Vertex AI and the model's name: of "anthropic/claude-x", of
// "publishers/anthropic/models/claude-x", and of "claude-x" alone.
func splitPublisher(model string) (publisher, name string) {
	name = strings.TrimPrefix(model, "publishers/")
	if before, after, ok := strings.Cut(name, "/"); ok && before != "models" {
		return before, models.ID(after)
	}
	if name = models.ID(name); strings.HasPrefix(name, "claude-") {
		return publisherAnthropic, name
	}
	return publisherGoogle, name
}

// openVertex returns the model of a provider of the type vertex.
func openVertex(p opening) (llm.Model, error) {
	account := p.googleAccount(p.getenv)
	v := vertexModel{provider: p.Name}
	project, err := account.ResolveProject()
	v.unready = err
	location, err := account.ResolveLocation()
	v.unready = cmp.Or(v.unready, err)
	publisher, name := splitPublisher(p.Model)
	host, query := wire.SplitQuery(p.BaseURL)
	host = strings.TrimRight(host, "/")
	version := ""
	if u, err := url.Parse(host); err == nil && u.Path == "" { // else a gateway has its own path
		version = map[string]string{publisherGoogle: "/v1beta1", publisherAnthropic: "/v1"}[publisher]
	}
	address := host + version + "/projects/" + project + "/locations/" + location + "/publishers/" + publisher
	if query != "" {
		address += "?" + query
	}
	price := p.Price
	if price == (llm.Price{}) && location == "global" { // other locations cost more
		price = vertexPrice(publisher, name)
	}
	advise := func(f *llm.Error, _ error) {
		if f.Status == http.StatusNotFound {
			f.Hint = fmt.Sprintf("check model %q, region and project, and that the model is enabled in the Model Garden of the project", name)
		}
	}
	switch publisher {
	case publisherGoogle:
		v.Model = gemini.New(gemini.Config{Name: p.Name, Model: name, BaseURL: address, KeyEnv: p.APIKeyEnv, APIKey: p.key(p.APIKeyEnv), Source: p.source(), KeyOptional: p.keyOptional,
			Embedding: p.EmbeddingModel, EmbeddingPrefix: p.embeddingPrefix(), FirstByte: p.firstByte(), MaxTokens: p.MaxTokens, Window: p.ContextWindow,
			NoImages: p.Images == imagesNo, Price: price, Memory: p.memory, Vertex: true, Advise: advise})
	case publisherAnthropic:
		v.Model = anthropic.New(anthropic.Config{Name: p.Name, Model: name, BaseURL: address, KeyEnv: p.APIKeyEnv, APIKey: p.key(p.APIKeyEnv), Source: p.source(), KeyOptional: p.keyOptional,
			FirstByte: p.firstByte(), MaxTokens: p.MaxTokens, Window: p.ContextWindow, NoImages: p.Images == imagesNo, Price: price, Vertex: true, Advise: advise})
	default:
		return nil, fmt.Errorf("provider %q: models of %q at Vertex AI are not known here; type vertex has those of google and of anthropic", p.Name, publisher)
	}
	v.list = vertexList{publisher: publisher, project: project, address: host, endpoint: &wire.Endpoint{
		Provider: p.Name, APIKey: p.key(p.APIKeyEnv), KeyEnv: p.APIKeyEnv, Source: p.source(), KeyOptional: p.keyOptional, Address: p.BaseURL, Advise: advise,
	}}
	return v, nil
}

// vertexPrice returns the price of the maker itself, which Vertex AI has at the location global.
func vertexPrice(publisher, name string) llm.Price {
	if publisher == publisherAnthropic {
		name, _, _ = strings.Cut(name, "@")
		return pricelist.Of("api.anthropic.com", name)
	}
	return pricelist.Of("generativelanguage.googleapis.com", name)
}

// vertexModel is a model at Vertex AI, whose address depends on the account.
type vertexModel struct {
	llm.Model
	provider string
	unready  error // why the address is not known; nil if it is
	list     vertexList
}

// Unwrap returns the model of the protocol.
func (v vertexModel) Unwrap() llm.Model { return v.Model }

// Ready returns an *llm.Error with Auth if the project is not known, or if a key is needed and missing.
func (v vertexModel) Ready() error {
	if v.unready != nil {
		return &llm.Error{Provider: v.provider, Message: v.unready.Error(), Hint: wire.Advice(v.unready), Auth: true}
	}
	return llm.Ready(v.Model)
}

// Stream implements llm.Model.
func (v vertexModel) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	if err := v.Ready(); err != nil {
		return func(yield func(llm.Event, error) bool) { yield(llm.Event{}, err) }
	}
	return v.Model.Stream(ctx, req)
}

// List returns the models of the publisher.
func (v vertexModel) List(ctx context.Context) ([]llm.Choice, error) {
	if err := v.Ready(); err != nil {
		return nil, err
	}
	return v.list.choices(ctx)
}

// vertexList asks for the models of a publisher.
// https://docs.cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models/list
type vertexList struct {
	publisher, project, address string
	endpoint                    *wire.Endpoint
}

type publisherPage struct {
	Models []struct {
		Name string `json:"name"` // "publishers/google/models/NAME"
	} `json:"publisherModels"`
	NextPageToken string `json:"nextPageToken"`
}

func (l vertexList) choices(ctx context.Context) ([]llm.Choice, error) {
	client, choices := l.endpoint.Client(), []llm.Choice{}
	query := url.Values{"pageSize": {"200"}}
	for {
		header := http.Header{"Accept": {"application/json"}, "X-Goog-User-Project": {l.project}}
		res, err := client.Send(ctx, http.MethodGet, l.address+"/v1beta1/publishers/"+l.publisher+"/models?"+query.Encode(), header)
		var page publisherPage
		if err == nil {
			err = wire.ReadJSON(res, &page)
		}
		if err != nil {
			return nil, l.endpoint.Outcome(ctx, err)
		}
		for _, m := range page.Models {
			if id := models.ID(m.Name); l.isForChat(id) && len(choices) < llm.MaxListed {
				choices = append(choices, llm.Choice{Name: l.endpoint.Provider + ":" + id, Title: id, Description: "Model of provider " + l.endpoint.Provider, Open: true})
			}
		}
		if len(page.Models) == 0 || page.NextPageToken == "" || page.NextPageToken == query.Get("pageToken") || len(choices) >= llm.MaxListed {
			return choices, nil
		}
		query.Set("pageToken", page.NextPageToken)
	}
}

// isForChat reports whether a listed model is one of those that are for conversations in the publisher's protocol.
func (l vertexList) isForChat(id string) bool {
	if l.publisher == publisherAnthropic {
		return strings.HasPrefix(id, "claude-")
	}
	return strings.HasPrefix(id, "gemini-") && models.IsForChat(id)
}
