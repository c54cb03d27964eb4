package provider

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// keptFacts are the facts about one model, as its server stated them.
type keptFacts struct {
	Model string    `json:"model"`       // the provider's name of the model
	At    time.Time `json:"at,omitzero"` // zero: the server was not asked
	llm.Facts
	// InText is when the model was found to call tools only in text; zero if it was not.
	InText time.Time `json:"inText,omitzero"`
}

// toolUser is a model of textcalls that finds out how it calls tools.
type toolUser interface {
	RecallToolUse(inText bool, keep func(inText bool))
}

// Learn recalls the kept facts about a model, and asks for unknown ones in the background; see
// [llm.Learn]. A server on this machine is always asked, since it may have been started anew.
func (c *Catalogue) Learn(cfg Config, getenv func(string) string, m llm.Model) {
	if c == nil || llm.Ready(m) != nil {
		return
	}
	c.recallToolUse(cfg, getenv, m)
	if _, ok := llm.As[llm.Learner](m); !ok {
		return
	}
	fresh := c.recall(cfg, getenv, m)
	c.mu.Lock()
	defer c.mu.Unlock()
	if fresh || !llm.KeyAtHand(m) { // no command runs before a prompt
		return
	}
	c.background(func(ctx context.Context) bool {
		ctx, cancel := context.WithTimeout(ctx, listTimeout)
		defer cancel()
		return c.learn(ctx, cfg, getenv, m)
	})
}

// LearnFirst recalls the kept facts about a model, or asks for them if there are none, and waits a short time for them.
func (c *Catalogue) LearnFirst(ctx context.Context, cfg Config, getenv func(string) string, m llm.Model) {
	if c == nil {
		return
	}
	c.recallToolUse(cfg, getenv, m)
	f, ok := llm.As[llm.Facted](m)
	if !ok {
		return
	}
	if _, known := f.Facts(); !known {
		c.recall(cfg, getenv, m)
	}
	if _, known := f.Facts(); !known {
		llm.LearnFacts(ctx, m)
		c.keep(cfg, getenv, m)
	}
}

// learn asks for the facts about a model, and keeps them.
func (c *Catalogue) learn(ctx context.Context, cfg Config, getenv func(string) string, m llm.Model) (changed bool) {
	f, ok := llm.As[llm.Facted](m)
	if !ok {
		return llm.Learn(ctx, m)
	}
	changed = f.Learn(ctx)
	c.keep(cfg, getenv, m)
	return changed
}

// keep keeps the facts about a model for later processes.
func (c *Catalogue) keep(cfg Config, getenv func(string) string, m llm.Model) {
	f, ok := llm.As[llm.Facted](m)
	if !ok {
		return
	}
	facts, known := f.Facts()
	if !known {
		return
	}
	c.change(cfg, getenv, m, func(k *keptFacts) bool {
		if k.Facts == facts && c.isFresh(k.At) {
			return false
		}
		k.Facts, k.At = facts, c.Now().UTC()
		return true
	})
}

// change changes what is kept about a model, if set reports a change.
func (c *Catalogue) change(cfg Config, getenv func(string) string, m llm.Model, set func(*keptFacts) bool) {
	p, err := chooseProvider(availableProviders(cfg, getenv), m.Name())
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	key := p.listKey(getenv)
	list := c.lists[key]
	_, list.Address, _ = strings.Cut(key, " ")
	list.Provider = p.name()
	kept, _ := list.factsOf(p.model())
	if kept.Model = p.model(); !set(&kept) {
		return
	}
	list.Facts = newestFacts([]keptFacts{kept}, list.Facts)
	c.lists[key] = list
	c.save()
}

// recallToolUse tells a model how an earlier process has found it to call tools, and keeps what this one finds.
func (c *Catalogue) recallToolUse(cfg Config, getenv func(string) string, m llm.Model) {
	u, ok := llm.As[toolUser](m)
	p, err := chooseProvider(availableProviders(cfg, getenv), m.Name())
	if !ok || err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	kept, _ := c.lists[p.listKey(getenv)].factsOf(p.model())
	u.RecallToolUse(c.isFresh(kept.InText), func(inText bool) {
		c.change(cfg, getenv, m, func(k *keptFacts) bool {
			if !inText && k.InText.IsZero() {
				return false
			}
			if k.InText = (time.Time{}); inText {
				k.InText = c.Now().UTC()
			}
			return true
		})
	})
}

// factsOf returns the kept facts about a model.
func (l modelList) factsOf(model string) (f keptFacts, ok bool) {
	i := slices.IndexFunc(l.Facts, func(k keptFacts) bool { return k.Model == model })
	if i < 0 {
		return f, false
	}
	return l.Facts[i], true
}

// isFresh reports whether facts or a list of that time need not be requested again.
func (c *Catalogue) isFresh(at time.Time) bool {
	age := c.Now().Sub(at)
	return age >= 0 && age < listFresh
}

// recall gives a model the facts that are kept about it. It reports whether they need not be asked
// for again.
func (c *Catalogue) recall(cfg Config, getenv func(string) string, m llm.Model) (fresh bool) {
	f, ok := llm.As[llm.Facted](m)
	p, err := chooseProvider(availableProviders(cfg, getenv), m.Name())
	if !ok || err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	list := c.lists[p.listKey(getenv)]
	kept, ok := list.factsOf(p.model())
	if !ok || kept.At.IsZero() {
		return false
	}
	f.Recall(kept.Facts)
	u, err := url.Parse(list.Address)
	return c.isFresh(kept.At) && err == nil && !wire.IsLoopback(u.Hostname())
}

// newestFacts joins the facts of two lists, at most as many as a list has models.
func newestFacts(a, b []keptFacts) []keptFacts {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y keptFacts) int { return y.At.Compare(x.At) })
	slices.SortStableFunc(all, func(x, y keptFacts) int { return cmp.Compare(x.Model, y.Model) })
	all = slices.CompactFunc(all, func(x, y keptFacts) bool { return x.Model == y.Model })
	return all[:min(len(all), llm.MaxListed)]
}
