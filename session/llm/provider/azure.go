package provider

import (
	"context"
	"net/url"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/entra"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// azureKey is the variable of the key of a resource, which is used instead of a token.
const azureKey = "AZURE_OPENAI_API_KEY"

// entraSource returns the source of tokens for a resource of Azure.
func entraSource(p opening) *wire.Source {
	resource := "https://cognitiveservices.azure.com"
	for _, domain := range []string{"us", "cn"} { // the clouds of other authorities
		if strings.HasSuffix(p.host(), ".azure."+domain) {
			resource = "https://cognitiveservices.azure." + domain
		}
	}
	return entra.Account{Getenv: p.getenv, Resource: resource, Metadata: p.Metadata}.Source(p.memory.Credentials)
}

// azureModel is a deployment at a resource of Azure.
type azureModel struct{ *openai.Model }

// List returns the deployment alone: a resource lists the models that could be deployed, and not its deployments. It asks
// nevertheless, since that checks the key.
func (a azureModel) List(ctx context.Context) ([]llm.Choice, error) {
	if _, err := a.Model.List(ctx); err != nil {
		return nil, err
	}
	_, model, _ := strings.Cut(a.Name(), ":")
	return []llm.Choice{{Name: a.Name(), Title: model, Open: true}}, nil
}

// openAzure returns the model of a provider of the type azure.
func openAzure(p opening) (llm.Model, error) {
	base, api, list := p.azureAddress()
	p.BaseURL, p.API = base, api
	cfg := p.openAIConfig(openai.ServerOpenAI)
	cfg.KeyHeader, cfg.ModelsURL = "Api-Key", list
	if cfg.Source != nil && len(p.APIKeyCmd) > 0 {
		cfg.Source = p.memory.Credentials.Source(withTokens(*cfg.Source))
	}
	return azureModel{openai.New(cfg)}, nil
}

// azureAddress returns the address below which the requests of a deployment are, their protocol, and the address of the list
// of models. People name the resource, the API v1 or the whole address of a request.
func (p opening) azureAddress() (base, api, list string) {
	base, query := wire.SplitQuery(p.BaseURL)
	base, _ = wire.TrimEndpoint(base)
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil {
		return p.BaseURL, p.API, ""
	}
	values, _ := url.ParseQuery(query)
	if p.APIVersion != "" {
		values.Set("api-version", p.APIVersion)
	}
	api = p.API
	root := *u
	root.Path, _, _ = strings.Cut(u.Path, "/openai")
	root.Path += "/openai"
	inPath := strings.Contains(u.Path, "/deployments/")
	switch {
	case inPath:
		api = openai.APIChat
	case values.Get("api-version") != "" && !strings.HasSuffix(u.Path, "/v1"):
		if u = &root; p.API == openai.APIChat {
			u = root.JoinPath("deployments", url.PathEscape(p.Model))
		}
	default:
		root.Path += "/v1"
		if !strings.Contains(u.Path, "/v1") {
			u = &root
		}
	}
	list = root.String() + "/models"
	u.RawQuery = values.Encode()
	return u.String(), api, list
}

// withTokens returns a source whose keys are sent as bearers if they are tokens, such as tokens of "az account get-access-token".
func withTokens(s wire.Source) wire.Source {
	fetch := s.Fetch
	s.ID += "\x00token"
	s.Fetch = func(ctx context.Context) (*wire.Credential, error) {
		c, err := fetch(ctx)
		if err == nil && strings.HasPrefix(c.Key, "eyJ") && strings.Count(c.Key, ".") == 2 {
			return wire.Bearer(c.Key, c.Expires), nil
		}
		return c, err
	}
	return s
}
