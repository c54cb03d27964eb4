package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
)

// Bounds of a list of tools.
const (
	maxTools    = 2000
	maxPages    = 200
	listTimeout = 30 * time.Second
)

// rereadTools reads the tools again. A failure leaves them unchanged.
func (i *instance) rereadTools(session *sdk.ClientSession) {
	ctx, cancel := context.WithTimeout(i.ctx, listTimeout)
	defer cancel()
	if err := i.readTools(ctx, session, nil); err != nil && ctx.Err() == nil {
		i.pool.Log.Warn("list the tools of an MCP server", "server", i.entry.Name, "err", i.pool.mask(err.Error()))
	}
}

// readTools reads the tools of a session and makes the server ready. It waits a little while
// for others, which is closed when the other lists have been read; nil is not waited for.
func (i *instance) readTools(ctx context.Context, session *sdk.ClientSession, others <-chan struct{}) error {
	return i.listing.read(func() error {
		ctx, cancel := context.WithTimeout(ctx, listTimeout)
		defer cancel()
		return i.readToolsNow(ctx, session, others)
	})
}

// readToolsNow is readTools once no other reading runs.
func (i *instance) readToolsNow(ctx context.Context, session *sdk.ClientSession, others <-chan struct{}) error {
	began := time.Now()
	tools, err := i.requestTools(ctx, session)
	if errors.Is(err, context.DeadlineExceeded) {
		err = &classifiedError{Code: transient, Category: executors.Timeout, Err: fmt.Errorf("no answer within %s", listTimeout)}
	}
	if err != nil {
		return fmt.Errorf("list its tools: %w", err)
	}
	took := time.Since(began)
	if others != nil {
		select {
		case <-others:
		case <-time.After(otherListsTimeout):
		case <-ctx.Done():
		}
	}
	i.update(func() {
		i.tools, i.state, i.err, i.listed = tools, Ready, nil, took
	})
	if others != nil {
		i.notifyPrompts()
	}
	return nil
}

// requestTools asks the server for all pages of its tools, and returns the tools that the
// entry offers, sorted by name. Repeated pages, names and cursors end or shorten the list.
func (i *instance) requestTools(ctx context.Context, session *sdk.ClientSession) ([]tool, error) {
	if res := session.InitializeResult(); res != nil && (res.Capabilities == nil || res.Capabilities.Tools == nil) {
		return nil, nil
	}
	var tools []tool
	seen, cursors := map[string]bool{}, map[string]bool{}
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if len(tools) == maxTools || seen[t.Name] || !i.entry.offers(t.Name) {
				continue
			}
			seen[t.Name] = true
			tools = append(tools, newTool(i.entry, new(texts.Map(*t, texts.Change{Text: i.pool.mask}))))
		}
		if page.NextCursor == "" || cursors[page.NextCursor] || len(tools) == maxTools {
			break
		}
		cursors[page.NextCursor] = true
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	slices.SortFunc(tools, func(a, b tool) int { return cmp.Compare(a.name, b.name) })
	return tools, nil
}
