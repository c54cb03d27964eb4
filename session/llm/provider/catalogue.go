package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

const (
	// listFresh is how long a list counts as new.
	listFresh = 24 * time.Hour
	// listAgain is the time between two requests for a list that fails.
	listAgain = 5 * time.Minute
	// listTimeout bounds the request of one list, with all its pages.
	listTimeout = 5 * time.Second
)

// Catalogue keeps the models that the providers list, as this process or an earlier one
// received them. No call waits for a provider: known lists are returned immediately,
// and old ones are requested again in the background. A provider that fails keeps its
// last list.
//
// The exported fields must not change once it is used. A nil Catalogue returns the
// models of [Models], and sends no requests.
type Catalogue struct {
	// Load and Save read and write the lists between processes; nil keeps nothing.
	Load    func() ([]byte, error)
	Save    func([]byte) error
	Memory  *wire.Memory // of the servers; nil means none is kept
	Now     func() time.Time
	Changed func()          // called on its own goroutine when Models or a Model has changed; may be nil
	Log     func(err error) // receives failures; may be nil

	mu      sync.Mutex
	loaded  bool
	lists   map[string]modelList // by listKey
	asked   map[string]time.Time // the time of this process's last request for a list, by listKey
	closed  bool
	ctx     context.Context // of background requests; Close ends it
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// modelList is the list of one provider. It holds no secrets.
type modelList struct {
	Provider string        `json:"provider"` // name of the provider
	Address  string        `json:"address"`  // without user and password
	At       time.Time     `json:"at"`
	Models   []listedModel `json:"models"`
	Facts    []keptFacts   `json:"facts,omitempty"`
}

type listedModel struct {
	Name  string `json:"name"` // the provider's name of the model
	Title string `json:"title,omitempty"`
	About string `json:"about,omitempty"`
}

// modelLister is a model whose provider can list its models.
type modelLister interface {
	List(ctx context.Context) ([]llm.Choice, error)
}

// Models returns the models of [Models] and those that the providers list.
func (c *Catalogue) Models(cfg Config, getenv func(string) string) []llm.Choice {
	if c == nil {
		return Models(cfg, getenv)
	}
	return listChoices(cfg, getenv, func(p Provider) []llm.Choice { return c.listed(p, getenv) })
}

// listed returns the models in the last list of a provider.
func (c *Catalogue) listed(p Provider, getenv func(string) string) []llm.Choice {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	var choices []llm.Choice
	for _, m := range c.lists[p.listKey(getenv)].Models {
		choices = append(choices, llm.Choice{Name: p.name() + ":" + m.Name, Title: cmp.Or(m.Title, m.Name),
			Description: cmp.Or(m.About, "Model of provider "+p.name()), Open: true})
	}
	return choices
}

// Refresh requests old lists again, in the background. It runs no command for a key.
func (c *Catalogue) Refresh(cfg Config, getenv func(string) string) {
	if c == nil {
		return
	}
	for _, p := range availableProviders(cfg, getenv) {
		if k, _ := p.kind(); k.offline {
			continue
		}
		m, err := p.open(getenv, c.Memory)
		if err != nil || llm.Ready(m) != nil || !llm.KeyAtHand(m) {
			continue
		}
		if l, ok := llm.As[modelLister](m); ok {
			c.ask(p, p.listKey(getenv), l)
		}
	}
}

// ask requests one list, unless it is new or was requested a short time ago: listAgain is
// longer than the timeout of a request, so two requests for a list never overlap.
func (c *Catalogue) ask(p Provider, key string, l modelLister) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	now := c.Now()
	tried := now.Sub(c.asked[key])
	if c.isFresh(c.lists[key].At) || tried >= 0 && tried < listAgain {
		return
	}
	c.asked[key] = now
	c.background(func(ctx context.Context) bool {
		ctx, cancel := context.WithTimeout(ctx, listTimeout)
		defer cancel()
		choices, err := l.List(ctx)
		return c.storeList(p, key, choices, err)
	})
}

// storeList keeps a new list, and reports whether it differs from the one before.
func (c *Catalogue) storeList(p Provider, key string, choices []llm.Choice, err error) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.log(err)
		return false
	}
	_, address, _ := strings.Cut(key, " ")
	list := modelList{Provider: p.name(), Address: address, At: c.Now().UTC(), Models: listedModels(p, choices), Facts: c.lists[key].Facts}
	changed = !slices.Equal(list.Models, c.lists[key].Models)
	c.lists[key] = list
	c.save()
	return changed
}

// background runs work, which reports whether something changed; c.mu is held.
func (c *Catalogue) background(work func(context.Context) bool) {
	if c.closed {
		return
	}
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithCancel(context.Background())
	}
	ctx := c.ctx
	c.running.Go(func() {
		if work(ctx) && ctx.Err() == nil && c.Changed != nil {
			c.Changed()
		}
	})
}

// Close stops the background requests and waits for them.
func (c *Catalogue) Close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.closed = true
	if c.cancel != nil {
		c.cancel()
	}
	c.mu.Unlock()
	c.running.Wait()
}

// load reads the kept lists, once; c.mu is held. Unreadable lists are ignored.
func (c *Catalogue) load() {
	if c.loaded {
		return
	}
	c.loaded = true
	c.lists, c.asked = map[string]modelList{}, map[string]time.Time{}
	for key, list := range c.readSaved() {
		c.lists[key] = list
	}
}

// readSaved returns the lists that any process has kept.
func (c *Catalogue) readSaved() map[string]modelList {
	if c.Load == nil {
		return nil
	}
	data, err := c.Load()
	if err != nil || len(data) == 0 {
		c.log(err)
		return nil
	}
	lists, err := parseLists(data)
	c.log(err)
	return lists
}

// parseLists parses kept lists and drops invalid models.
func parseLists(data []byte) (map[string]modelList, error) {
	var lists []modelList
	if err := json.Unmarshal(data, &lists); err != nil {
		return nil, err
	}
	byKey := map[string]modelList{}
	for _, l := range lists {
		l.Models = slices.DeleteFunc(l.Models, func(m listedModel) bool { return !m.isShowable() })
		l.Models = l.Models[:min(len(l.Models), llm.MaxListed)]
		byKey[l.Provider+" "+l.Address] = l
	}
	return byKey, nil
}

// save writes all lists, merged with those that another process saved in the meantime;
// c.mu is held.
func (c *Catalogue) save() {
	if c.Save == nil {
		return
	}
	for key, list := range c.readSaved() {
		known, ok := c.lists[key]
		facts := newestFacts(known.Facts, list.Facts)
		if !ok || list.At.After(known.At) && !list.At.After(c.Now()) {
			known = list
		}
		known.Facts = facts
		c.lists[key] = known
	}
	var lists []modelList
	for _, l := range c.lists {
		lists = append(lists, l)
	}
	slices.SortFunc(lists, func(a, b modelList) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Address, b.Address))
	})
	data, err := json.MarshalIndent(lists, "", "\t")
	if err == nil {
		err = c.Save(append(data, '\n'))
	}
	c.log(err)
}

func (c *Catalogue) log(err error) {
	if err != nil && c.Log != nil {
		c.Log(err)
	}
}

// listedModels returns a provider's list in the form in which it is kept.
func listedModels(p Provider, choices []llm.Choice) []listedModel {
	var out []listedModel
	for _, choice := range choices {
		name, ok := strings.CutPrefix(choice.Name, p.name()+":")
		m := listedModel{Name: name, Title: choice.Title, About: choice.Description}
		if ok && m.isShowable() && len(out) < llm.MaxListed {
			out = append(out, m)
		}
	}
	return out
}

// isShowable reports whether a model from a server or a file can be shown.
func (m listedModel) isShowable() bool {
	for _, text := range []string{m.Name, m.Title, m.About} {
		if len(text) > 500 || strings.ContainsFunc(text, unicode.IsControl) {
			return false
		}
	}
	return m.Name != ""
}

// listKey is the key of a provider's list: its name and address.
func (p Provider) listKey(getenv func(string) string) string {
	return p.name() + " " + p.address(getenv)
}

// address returns the provider's address without secrets.
func (p Provider) address(getenv func(string) string) string {
	address := p.baseURL(getenv)
	if k, _ := p.kind(); k.bareAddress {
		address = ollama.ParseAddress(address).String()
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
