package app

import (
	"context"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

const (
	ollamaHost = "OLLAMA_HOST"
	// probeTimeout limits the wait of a session for an Ollama's answer. Where no
	// server listens, the connection fails immediately.
	probeTimeout = 200 * time.Millisecond
	// probeFound and probeMissed are how long a result is reused.
	probeFound  = time.Minute
	probeMissed = 10 * time.Second
)

// ollamaProbe reports whether an Ollama answers at its default address. It
// sends a request only when it is called, that is, when no provider is
// configured.
type ollamaProbe struct {
	ask func(context.Context) bool
	now func() time.Time

	mu    sync.Mutex
	at    time.Time // of the last request; zero if there was none
	found bool
}

// getenv wraps next so that OLLAMA_HOST is set if an Ollama answers.
func (p *ollamaProbe) getenv(next func(string) string) func(string) string {
	return func(name string) string {
		value := next(name)
		if name == ollamaHost && value == "" && p.isRunning() {
			return provider.DefaultOllama
		}
		return value
	}
}

// isRunning reports whether an Ollama answers, now or at a recent request.
func (p *ollamaProbe) isRunning() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	lifetime := probeMissed
	if p.found {
		lifetime = probeFound
	}
	if age := p.now().Sub(p.at); !p.at.IsZero() && age >= 0 && age < lifetime {
		return p.found
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	p.found, p.at = p.ask(ctx), p.now()
	return p.found
}
