package gemini

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini/models"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// listedModel is a model as the API describes it.
// https://ai.google.dev/api/models
type listedModel struct {
	Name        string          `json:"name"` // with its collection, "models/NAME"
	DisplayName string          `json:"displayName"`
	InputLimit  wire.TokenCount `json:"inputTokenLimit"`
	Methods     []string        `json:"supportedGenerationMethods"`
}

// modelPage is a page of the list of models.
type modelPage struct {
	Models        []listedModel `json:"models"`
	NextPageToken string        `json:"nextPageToken"`
}

// List returns the models that hold conversations. It leaves out those for images, speech and other purposes.
func (g *Model) List(ctx context.Context) ([]llm.Choice, error) {
	if err := g.Ready(); err != nil {
		return nil, err
	}
	choices := []llm.Choice{}
	query := url.Values{"pageSize": {"1000"}}
	for {
		var page modelPage
		if err := g.get(ctx, "models?"+query.Encode(), &page); err != nil {
			return nil, g.endpoint.Outcome(ctx, err)
		}
		for _, m := range page.Models {
			if id := models.ID(m.Name); id != "" && models.IsForChat(id) && slices.Contains(m.Methods, "generateContent") {
				choices = append(choices, llm.Choice{
					Name: g.endpoint.Provider + ":" + id, Title: cmp.Or(m.DisplayName, id),
					Description: "Model of provider " + g.endpoint.Provider, Open: true,
				})
			}
		}
		if len(page.Models) == 0 || page.NextPageToken == "" || page.NextPageToken == query.Get("pageToken") || len(choices) >= llm.MaxListed {
			return choices[:min(len(choices), llm.MaxListed)], nil
		}
		query.Set("pageToken", page.NextPageToken)
	}
}

// get requests one JSON object.
func (g *Model) get(ctx context.Context, path string, out any) error {
	res, err := g.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return wire.ReadJSON(res, out)
}

// servedWindow is the window of a model as the server states it. All sessions share it.
type servedWindow struct {
	mu     sync.Mutex
	asked  bool
	window int
}

func (g *Model) served() *servedWindow {
	return wire.Recall[servedWindow](g.cfg.Memory, g.base, g.cfg.Model)
}

func (s *servedWindow) get() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.window
}

// Learn asks for the window of a model that is not known, once. A server that does not answer is asked again the next time.
func (g *Model) Learn(ctx context.Context) bool {
	s := g.served()
	s.mu.Lock()
	asked := s.asked
	s.mu.Unlock()
	if asked || g.Window() > 0 || g.Ready() != nil {
		return false
	}
	var m listedModel
	if g.get(ctx, g.path(), &m) != nil {
		return false // the request itself will report the failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.window = true, int(m.InputLimit)
	return s.window > 0
}
