package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// User asks the user of a session on behalf of a server. Its methods may be called
// concurrently.
type User interface {
	// Forms and Pages report whether the user can fill in a form, and open a page.
	Forms() bool
	Pages() bool
	// Elicit asks the user and returns the reaction. It ends with ctx.
	Elicit(ctx context.Context, e Elicitation) (Elicited, error)
	// Completed reports that nothing remains to be done on the page of an Elicitation.
	Completed(id string)
}

// Elicitation is a server's question to the user: a form, or a page to open.
type Elicitation struct {
	Call    string // the id of the tool call in which the server asks; may be empty
	Message string // names the server
	// Schema is a JSON Schema of a flat object, for a form.
	Schema json.RawMessage
	// Page is the http or https address of a page. ID identifies it for User.Completed.
	Page, ID string
}

// Elicited is the user's reaction to an Elicitation.
type Elicited struct {
	Action  Action
	Content map[string]any // the fields of the form, after Accept
}

// Action is the kind of a reaction.
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel" // no answer
)

const (
	// maxMessage bounds the message of a question, in characters.
	maxMessage = 2000
	// maxQuestions is how often a server may ask in one call. The timeout of the call is
	// paused during a question. Without a bound, a server that asks again after each
	// answer would keep the call running forever.
	maxQuestions = 20
)

// asker is a call in which the server may ask the user.
type asker struct {
	ctx    context.Context // of the call
	id     string
	server string
	user   *queue // nil means that there is no user
	clock  *clock

	mu        sync.Mutex
	notes     []string
	questions int // so far
}

// queue passes on one question at a time.
type queue struct {
	User
	turn chan struct{} // has a capacity of one, for the value that the asking call sends
}

func newQueue(u User) *queue {
	if u == nil {
		return nil
	}
	return &queue{u, make(chan struct{}, 1)}
}

// Elicit waits for its turn.
func (q *queue) Elicit(ctx context.Context, e Elicitation) (Elicited, error) {
	select {
	case q.turn <- struct{}{}:
	case <-ctx.Done():
		return Elicited{}, context.Cause(ctx)
	}
	defer func() { <-q.turn }()
	return q.User.Elicit(ctx, e)
}

func (q *queue) forms() bool { return q != nil && q.Forms() }

func (q *queue) pages() bool { return q != nil && q.Pages() }

// note adds a line about a question for the model.
func (a *asker) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notes = append(a.notes, "["+fmt.Sprintf(format, args...)+"]")
}

// allNotes returns the lines about questions for the model.
func (a *asker) allNotes() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.notes
}

// countQuestion counts a question and reports whether it may be asked.
func (a *asker) countQuestion() bool {
	a.mu.Lock()
	a.questions++
	n := a.questions
	a.mu.Unlock()
	if n == maxQuestions+1 {
		a.note("The MCP server %s asked more than %d questions in one call; the further ones were declined", a.server, maxQuestions)
	}
	return n <= maxQuestions
}

// ask asks the user. Without an answer of the user the question is declined or
// cancelled, and a note says why. The timeout of the call is paused meanwhile.
func (a *asker) ask(ctx context.Context, e Elicitation) Elicited {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(a.ctx, func() { cancel(context.Cause(a.ctx)) })()
	defer a.clock.hold()()
	e.Call = a.id
	r, err := a.user.Elicit(ctx, e)
	switch {
	case ctx.Err() != nil:
		return Elicited{Action: Cancel}
	case err != nil:
		a.note("The MCP server %s asked the user a question, which the client could not show: %s", a.server, oneLine(err.Error()))
		return Elicited{Action: Decline}
	case r.Action == Decline:
		a.note("The user declined a question of the MCP server %s", a.server)
	case r.Action != Accept:
		a.note("The user did not answer a question of the MCP server %s", a.server)
	}
	return r
}

type askerKey struct{}

var (
	errNoCall    = errors.New("it asked outside of a call")
	errManyCalls = errors.New("it asked while several sessions called it: per_session = true of its entry starts one for each")
)

// askerFor returns the call to which a question of the server belongs. Before revision
// 2026-07-28 the protocol does not name the call. If only one session calls the server,
// any of its calls will do.
func (i *instance) askerFor(ctx context.Context) (*asker, error) {
	if a, ok := ctx.Value(askerKey{}).(*asker); ok {
		return a, nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	var found *asker
	for a := range i.askers {
		if a.ctx.Err() != nil {
			continue // it was cancelled and is about to leave
		}
		if found != nil && found.user != a.user {
			return nil, errManyCalls
		}
		found = a
	}
	if found == nil {
		return nil, errNoCall
	}
	return found, nil
}

// addAsker adds a call in which the server may ask. The function leave removes it.
func (i *instance) addAsker(a *asker) (leave func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.askers[a] = true
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.askers, a)
	}
}

// offerQuestions declares to the server that it may ask the users questions.
func (i *instance) offerQuestions(o *sdk.ClientOptions) {
	if !i.forms && !i.pages {
		return
	}
	o.ElicitationHandler, o.ElicitationCompleteHandler = i.elicit, i.endVisit
	o.Capabilities.Elicitation = &sdk.ElicitationCapabilities{}
	if i.forms {
		o.Capabilities.Elicitation.Form = &sdk.FormElicitationCapabilities{}
	}
	if i.pages {
		o.Capabilities.Elicitation.URL = &sdk.URLElicitationCapabilities{}
	}
}

// elicit answers a question of the server.
func (i *instance) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	a, err := i.askerFor(ctx)
	if err != nil {
		i.pool.Log.Info("a question of an MCP server is declined", "server", i.entry.Name, "why", err)
		return &sdk.ElicitResult{Action: string(Decline)}, nil
	}
	if !a.countQuestion() {
		return &sdk.ElicitResult{Action: string(Decline)}, nil
	}
	var e Elicitation
	if r.Params.URL != "" {
		e, _, err = i.page(a, r.Params)
	} else {
		e, err = i.form(a, r.Params)
	}
	if err != nil {
		a.note("The MCP server %s asked the user a question, which was declined: %v", i.entry.Name, err)
		return &sdk.ElicitResult{Action: string(Decline)}, nil
	}
	answer := a.ask(ctx, e)
	out := &sdk.ElicitResult{Action: string(answer.Action)}
	if e.Schema != nil && answer.Action == Accept {
		out.Content = answer.Content
		if out.Content == nil {
			out.Content = map[string]any{} // the SDK adds the defaults
		}
	}
	return out, nil
}

var (
	errNoForms = errors.New("the client shows no forms")
	errNoPages = errors.New("the client opens no pages")
)

// form returns the question of a form.
func (i *instance) form(a *asker, p *sdk.ElicitParams) (Elicitation, error) {
	if !a.user.forms() {
		return Elicitation{}, errNoForms
	}
	schema, err := formSchema(p.RequestedSchema)
	return Elicitation{Message: questionText(i.entry.Name, "asks", p.Message), Schema: schema}, err
}

// questionText returns the text of a question, with the server's words marked as such.
func questionText(server, what, message string) string {
	message = line.TruncateRunes(strings.TrimSpace(stripInvisible(message)), maxMessage)
	return strings.TrimSuffix(fmt.Sprintf("The MCP server %s %s:\n\n%s", server, what, message), ":\n\n")
}
