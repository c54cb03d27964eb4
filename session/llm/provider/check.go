package provider

import (
	"context"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// CheckKey asks the server of a provider whether it accepts a key, by the list of its models. An *llm.Error with Auth
// means that it refuses the key. After any other error nobody knows.
func CheckKey(ctx context.Context, cfg Config, getenv func(string) string, name, key string) error {
	p, err := chooseProvider(availableProviders(cfg, getenv), name)
	if err != nil {
		return err
	}
	env := p.keyEnv()
	m, err := p.open(func(variable string) string {
		if variable == env {
			return key
		}
		return getenv(variable)
	}, nil)
	if err != nil {
		return err
	}
	l, ok := llm.As[modelLister](m)
	if !ok {
		return nil
	}
	_, err = l.List(ctx)
	return err
}
