package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxPage   = 8 << 10 // bytes of an address
	maxVisits = 100     // of a server that are remembered
)

// page returns the question whether to open a page, and the visit if the server can report
// its end, else nil.
func (i *instance) page(a *asker, p *sdk.ElicitParams) (Elicitation, *pageVisit, error) {
	if !a.user.pages() {
		return Elicitation{}, nil, errNoPages
	}
	u, err := pageAddress(p.URL)
	if err != nil {
		return Elicitation{}, nil, err
	}
	e := Elicitation{Message: questionText(i.entry.Name, "asks you to open a page of "+u.Host, p.Message),
		Page: u.String(), ID: rand.Text()}
	return e, i.newVisit(p.ElicitationID, a.user, e.ID), nil
}

// pageAddress parses the address of a page that the user is asked to open.
func pageAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || len(text) > maxPage || stripInvisible(text) != text {
		return nil, errors.New("the address of the page is not a usable http or https URL")
	}
	return u, nil
}

// pageVisit is a page that the user was asked to open.
type pageVisit struct {
	user  *queue
	id    string        // of the Elicitation
	ended chan struct{} // closed when the server reports the end
}

// newVisit returns a visit whose end the server reports by an id of its own. It returns
// nil if the server has no id for it, or too many visits.
func (i *instance) newVisit(serverID string, user *queue, id string) *pageVisit {
	i.mu.Lock()
	defer i.mu.Unlock()
	if serverID == "" || i.visits[serverID] == nil && len(i.visits) == maxVisits {
		return nil
	}
	if i.visits == nil {
		i.visits = map[string]*pageVisit{}
	}
	v := &pageVisit{user: user, id: id, ended: make(chan struct{})}
	i.visits[serverID] = v
	return v
}

// endVisit ends a visit by the server's id.
func (i *instance) endVisit(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
	i.mu.Lock()
	v := i.visits[r.Params.ElicitationID]
	delete(i.visits, r.Params.ElicitationID)
	i.mu.Unlock()
	if v != nil {
		v.user.Completed(v.id)
		close(v.ended)
	}
}

// neededPages returns the pages that the user must visit before a call that failed with
// err can succeed.
func neededPages(err error) []*sdk.ElicitParams {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code != codeURLElicitation {
		return nil
	}
	var data struct {
		Elicitations []*sdk.ElicitParams `json:"elicitations"`
	}
	if json.Unmarshal(e.Data, &data) != nil || len(data.Elicitations) > maxVisits {
		return nil
	}
	return data.Elicitations
}

// visitPages asks the user to open pages, and waits until the server reports that the user is
// done there. It reports whether all visits ended.
func (i *instance) visitPages(ctx context.Context, a *asker, pages []*sdk.ElicitParams) bool {
	var open []*pageVisit
	for _, p := range pages {
		if !a.countQuestion() {
			return false
		}
		e, v, err := i.page(a, p)
		if err != nil {
			a.note("The MCP server %s wants the user to open a page, which was declined: %v", i.entry.Name, err)
			return false
		}
		if a.ask(ctx, e).Action != Accept {
			return false
		}
		if v != nil {
			open = append(open, v)
		}
	}
	for _, v := range open {
		select {
		case <-v.ended:
		case <-ctx.Done():
			a.note("The user was shown a page of the MCP server %s. Call the tool again once the user says that it is done", i.entry.Name)
			return false
		}
	}
	return len(open) > 0
}
