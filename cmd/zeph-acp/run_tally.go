package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// tally collects the facts about a turn: how its calls end, its messages, its tokens, and
// the files that it changes. Its methods are called concurrently.
type tally struct {
	begun time.Time

	mu             sync.Mutex
	session, model string
	calls, refused int
	denied         []deniedCall
	exit           int                // status of the first command of the user that failed
	own            map[string]bool    // ids of the user's calls
	outputs        []string           // of those
	notes          map[string]bool    // ids of the messages of the agent itself
	said, noted    *saidMessage       // the last message of a model, and of the agent; nil if there is none
	rounds         int                // of tool calls
	called         bool               // the answer that streams has calls
	saved          int                // bytes that filters removed before the model read them
	usage          *llm.Usage         // nil if no model has reported any
	costs          map[string]float64 // by currency
	currency       string             // of the last cost
	touched        map[string]bool    // files that calls changed
	files          []string           // files that the turn changed
	compared       bool               // files is known
	running        []func() []string  // see app.App.Background
	commands       []string           // in the background at the end of the turn
}

type saidMessage struct{ id, text string }

// deniedCall is a call that was not allowed.
type deniedCall struct {
	ID     string `json:"toolCallId"`
	Tool   string `json:"tool"`
	Title  string `json:"title"`
	Reason string `json:"reason"`
}

func newTally() *tally {
	return &tally{
		begun: time.Now(), own: map[string]bool{}, notes: map[string]bool{}, costs: map[string]float64{}, touched: map[string]bool{},
	}
}

// watch is a link that counts the calls.
func (t *tally) watch(next executors.Executor) executors.Executor { return counted{next, t} }

type counted struct {
	executors.Executor
	tally *tally
}

func (c counted) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	c.tally.begin(call)
	res, err := c.Executor.Execute(ctx, call)
	if err == nil {
		c.tally.end(call, res)
	}
	return res, err
}

func (t *tally) begin(call *executors.Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if call.Origin == executors.User {
		t.own[call.ID] = true
	}
}

func (t *tally) end(call *executors.Call, res executors.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	if r := call.Record; r != nil && r.Before > 0 {
		t.saved += max(r.Before-len(res.ForModel()), 0)
	}
	switch {
	case !res.Failed:
		t.touch(call)
	case res.Category().Denial():
		t.refused++
		t.denied = append(t.denied, deniedCall{call.ID, call.Tool, executors.WholeLine(call.Card.Title), reasonOf(res.Failure)})
		return
	case call.Origin == executors.User && call.Tool == "bash" && t.exit == 0:
		t.exit = exitFailure
		if r := call.Record; r != nil && r.ExitCode != nil && *r.ExitCode != 0 {
			t.exit = *r.ExitCode
		}
	}
	if call.Origin == executors.User {
		t.outputs = append(t.outputs, res.ForPeople())
	}
}

// reasonOf returns why a call was denied. A last sentence that introduces the rules below it
// is left out.
func reasonOf(f *executors.Failure) string {
	reason := executors.WholeLine(executors.Result{Failure: f}.ForPeople())
	if i := strings.LastIndex(reason, ". "); i >= 0 && strings.HasSuffix(reason, ":") {
		reason = reason[:i+1]
	}
	return reason
}

// touch records the files that a call has changed.
func (t *tally) touch(call *executors.Call) {
	switch call.Card.Kind {
	case executors.KindEdit, executors.KindDelete, executors.KindMove:
		for _, path := range call.Card.Paths {
			t.touched[path] = true
		}
	}
}

func (t *tally) started(session string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session = session
	return nil
}

// recorded follows the log of the session.
func (t *tally) recorded(events ...transcript.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		switch e := e.(type) {
		case transcript.Block:
			t.block(e)
		case transcript.Note:
			t.notes[e.MessageID] = true
			t.noted = &saidMessage{e.MessageID, e.Text}
		case transcript.Cut:
			t.called = false
		case transcript.Answer:
			t.model = e.Model
			if t.called {
				t.rounds++
			}
			t.called = false
		}
	}
}

func (t *tally) block(b transcript.Block) {
	switch {
	case b.Block.Call != nil:
		t.called, t.said, t.noted = true, nil, nil
	case b.Block.Text == "":
	case t.said != nil && t.said.id == b.MessageID:
		t.said.text += b.Block.Text
	default:
		t.said = &saidMessage{b.MessageID, b.Block.Text}
	}
}

func (t *tally) isNote(messageID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.notes[messageID]
}

func (t *tally) isOwn(toolCallID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.own[toolCallID]
}

// spent adds the tokens of an answer, of whatever model.
func (t *tally) spent(m llm.Model, u llm.Usage) {
	if u == (llm.Usage{}) {
		return
	}
	amount, currency, priced := llm.Cost(m, u)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.usage == nil {
		t.usage = &llm.Usage{}
	}
	t.usage.Input += u.Input
	t.usage.Output += u.Output
	t.usage.CacheRead += u.CacheRead
	t.usage.CacheWrite += u.CacheWrite
	if priced {
		t.currency = currency
		t.costs[currency] += amount
	}
}

// cost returns the cost of the turn, rounded to six decimals.
func (t *tally) cost() *cost {
	if t.currency == "" {
		return nil
	}
	return &cost{math.Round(t.costs[t.currency]*1e6) / 1e6, t.currency}
}

// changed records the files that a turn changed, its commands included.
func (t *tally) changed(paths []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files, t.compared = append(t.files, paths...), true
}

// changes returns the files that the turn changed, sorted. If they were not compared, it
// returns those of the tools that change files.
func (t *tally) changes() []string {
	if t.compared {
		return slices.Compact(slices.Sorted(slices.Values(t.files)))
	}
	return slices.Sorted(maps.Keys(t.touched))
}

// background keeps the function that returns the commands in the background of a session.
func (t *tally) background(running func() []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = append(t.running, running)
}

// ended records the commands that are in the background at the end of the turn.
func (t *tally) ended() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, running := range t.running {
		t.commands = append(t.commands, running()...)
	}
}

// printStopped prints a line for each command in the background that ended with the run or
// chat.
func (t *tally) printStopped(w io.Writer, with string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.commands {
		fmt.Fprintf(w, "zeph-acp: the background command %s was stopped: it ends with the %s\n", headless.Visible(c), with)
	}
}
