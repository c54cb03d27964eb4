package mcp

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// otherListsTimeout is how long a server with prompts or resources has to list them before
	// it is ready without them. They are added once they are listed.
	otherListsTimeout = 2 * time.Second

	maxPrompts   = 500
	maxResources = 2000 // templates count separately
	maxURI       = 2048 // bytes
)

// otherLists are the lists of a server other than its tools.
type otherLists struct {
	prompts   []prompt
	resources []resource
	templates []resource // their URIs have parts to fill in

	listing [2]changes // of prompts, and of resources
}

// The indexes of listing.
const (
	promptList = iota
	resourceList
)

// readOtherLists reads prompts and resources in the background. The channel is closed when
// both have been read, or cannot be read.
func (i *instance) readOtherLists(session *sdk.ClientSession) <-chan struct{} {
	done := make(chan struct{})
	var all sync.WaitGroup
	for kind := range i.lists.listing {
		all.Add(1)
		i.spawn(func() {
			defer all.Done()
			i.rereadOtherList(session, kind)
		})
	}
	i.spawn(func() {
		defer close(done)
		all.Wait()
	})
	return done
}

// watchLists reads prompts and resources again when the server says that they have
// changed.
func (i *instance) watchLists(o *sdk.ClientOptions) {
	again := func(session *sdk.ClientSession, kind int) {
		i.rereadLater(&i.lists.listing[kind], func() { i.rereadOtherList(session, kind) })
	}
	o.PromptListChangedHandler = func(_ context.Context, r *sdk.PromptListChangedRequest) { again(r.Session, promptList) }
	o.ResourceListChangedHandler = func(_ context.Context, r *sdk.ResourceListChangedRequest) { again(r.Session, resourceList) }
}

// rereadOtherList reads one of the lists. A failure leaves it unchanged.
func (i *instance) rereadOtherList(session *sdk.ClientSession, kind int) {
	read := i.readPrompts
	if kind == resourceList {
		read = i.readResources
	}
	err := i.lists.listing[kind].read(func() error {
		ctx, cancel := context.WithTimeout(i.ctx, listTimeout)
		defer cancel()
		set, err := read(ctx, session)
		if err != nil {
			return err
		}
		i.update(func() {
			if i.session == session { // a later session has its own lists
				set()
			}
		})
		return nil
	})
	switch {
	case err != nil && i.ctx.Err() == nil:
		i.pool.Log.Warn("list the prompts and resources of an MCP server", "server", i.entry.Name, "err", i.pool.mask(err.Error()))
	case err == nil && kind == promptList:
		i.notifyPrompts()
	}
}

// notifyPrompts notifies the sessions that the prompts may have changed.
func (i *instance) notifyPrompts() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for w := range i.watchers {
		if w.changed != nil {
			w.changed()
		}
	}
}

// readPrompts reads the prompts, and returns a function that sets them.
func (i *instance) readPrompts(ctx context.Context, session *sdk.ClientSession) (set func(), err error) {
	var all []prompt
	if c := capabilities(session); c != nil && c.Prompts != nil {
		found, err := pages(func(cursor string) ([]*sdk.Prompt, string, error) {
			r, err := session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Prompts, r.NextCursor, nil
		}, maxPrompts)
		if err != nil {
			return nil, err
		}
		all = newPrompts(found)
	}
	return func() { i.lists.prompts = all }, nil
}

// readResources reads the resources and their templates, and returns a function that
// sets them.
func (i *instance) readResources(ctx context.Context, session *sdk.ClientSession) (set func(), err error) {
	var all, templates []resource
	if c := capabilities(session); c != nil && c.Resources != nil {
		found, err := pages(func(cursor string) ([]*sdk.Resource, string, error) {
			r, err := session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Resources, r.NextCursor, nil
		}, maxResources)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			all = append(all, resource{r.URI, oneLine(r.Name), oneLine(r.Description), oneLine(r.MIMEType), r.Size})
		}
		// Many servers have no templates, and some of them fail the request.
		patterns, _ := pages(func(cursor string) ([]*sdk.ResourceTemplate, string, error) {
			r, err := session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.ResourceTemplates, r.NextCursor, nil
		}, maxResources)
		for _, r := range patterns {
			templates = append(templates, resource{r.URITemplate, oneLine(r.Name), oneLine(r.Description), oneLine(r.MIMEType), 0})
		}
	}
	return func() { i.lists.resources, i.lists.templates = usable(all), usable(templates) }, nil
}

// capabilities returns the capabilities that a server has declared; nil if it has not.
func capabilities(session *sdk.ClientSession) *sdk.ServerCapabilities {
	if r := session.InitializeResult(); r != nil {
		return r.Capabilities
	}
	return nil
}

// usable returns the resources that have a URI, sorted.
func usable(all []resource) []resource {
	all = slices.DeleteFunc(all, func(r resource) bool { return !isURI(r.uri) })
	slices.SortFunc(all, func(a, b resource) int { return cmp.Compare(a.uri, b.uri) })
	return slices.CompactFunc(all, func(a, b resource) bool { return a.uri == b.uri })
}

// isURI reports whether a text can be a URI that is written on a line.
func isURI(text string) bool {
	return text != "" && len(text) <= maxURI && stripInvisible(text) == text && !strings.ContainsFunc(text, unicode.IsSpace)
}

// pages reads the pages of a list, up to maxItems items. It stops when a cursor repeats.
func pages[P comparable](read func(cursor string) (items []P, next string, err error), maxItems int) ([]P, error) {
	var all []P
	var missing P
	seen, cursor := map[string]bool{}, ""
	for range maxPages {
		items, next, err := read(cursor)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if item != missing && len(all) < maxItems {
				all = append(all, item)
			}
		}
		if next == "" || seen[next] || len(all) == maxItems {
			break
		}
		seen[next], cursor = true, next
	}
	return all, nil
}
