package run

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// tally collects facts about a turn: the outcomes of its calls, its messages, its tokens,
// and the files that it changes. Its methods are called concurrently.
type tally struct {
	begun time.Time

	mu      sync.Mutex
	session string // its id
	model   string // of the last answer

	calls       int             // of tools
	refused     int             // calls that were not allowed
	denied      []deniedCall    // those calls
	userCalls   map[string]bool // ids of the user's calls
	userOutputs []string        // the outputs of those calls
	// callExit is the exit status of the user's first call that failed: of a command its own. 0
	// means that no call failed.
	callExit   int
	callFailed string // says which one failed

	lastAnswer     *shownMessage   // of a model; nil if there is none
	lastNote       *shownMessage   // of the agent itself, except warnings; nil if there is none
	last           *shownMessage   // the later one of both
	noteIDs        map[string]bool // by the ids of the messages of the agent itself: it is a warning
	callOrder      map[string]int  // by the id of a call: its place among the announced ones
	rounds         int             // of tool calls
	answerHasCalls bool            // the answer that streams has calls

	goal *goalResult // nil if the turn follows no goal

	savedBytes int                // that filters removed before the model read them
	usage      *llm.Usage         // nil if no model has reported any
	costs      map[string]float64 // by currency
	unpriced   bool               // a model was asked whose price is unknown
	currency   string             // of the last cost

	editedFiles   map[string]bool // by the calls of tools that change files
	changedFiles  []string        // by the turn, as a comparison found them
	filesCompared bool            // changedFiles is known

	lostOutput []string // the titles of the calls whose output is incomplete

	jobs        []app.Jobs       // of the sessions
	stoppedJobs []string         // the commands that ran at the end of the turn
	unreadJobs  []shell.Finished // the commands that ended, but whose end the model has not seen
}

// shownMessage is a message of the turn.
type shownMessage struct{ id, text string }

// deniedCall is a call that was not allowed.
type deniedCall struct {
	ID     string `json:"toolCallId"`
	Tool   string `json:"tool"`
	Title  string `json:"title"`
	Reason string `json:"reason"`
}

func newTally() *tally {
	return &tally{
		begun: time.Now(), userCalls: map[string]bool{}, noteIDs: map[string]bool{}, callOrder: map[string]int{},
		costs: map[string]float64{}, editedFiles: map[string]bool{},
	}
}

// middleware is the link of the chain that counts the calls.
func (t *tally) middleware(next executors.Executor) executors.Executor {
	return countingExecutor{next, t}
}

// countingExecutor passes each call to a tally.
type countingExecutor struct {
	executors.Executor
	tally *tally
}

func (c countingExecutor) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	c.tally.begin(call)
	res, err := c.Executor.Execute(ctx, call)
	if err == nil {
		c.tally.end(call, res)
	}
	return res, err
}

// begin records who made the call.
func (t *tally) begin(call *executors.Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if call.Origin == executors.User {
		t.userCalls[call.ID] = true
	}
}

// end records the outcome of a call.
func (t *tally) end(call *executors.Call, res executors.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	if r := call.Record; r != nil && r.OutputBytes > 0 {
		t.savedBytes += max(r.OutputBytes-len(res.ForModel()), 0)
	}
	if res.Output != nil && res.Output.Lost && call.Origin != executors.User { // the user's own output was printed as it came
		t.lostOutput = append(t.lostOutput, executors.WholeLine(call.Card.Title))
	}
	switch {
	case !res.Failed:
		t.recordEdits(call)
	case res.Denied():
		t.refused++
		t.denied = append(t.denied, deniedCall{call.ID, call.Tool, executors.WholeLine(call.Card.Title), reasonOf(res.Failure)})
		return
	case call.Origin == executors.User && call.Phase != executors.PhasePlanner && t.callExit == 0:
		t.callExit, t.callFailed = cli.ExitFailure, call.Failed()
		if r := call.Record; r != nil && r.ExitCode != nil && *r.ExitCode != 0 {
			t.callExit = *r.ExitCode
		}
	}
	if call.Origin == executors.User {
		t.userOutputs = append(t.userOutputs, res.ForPeople())
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

// recordEdits records the files that a call has changed.
func (t *tally) recordEdits(call *executors.Call) {
	switch call.Card.Kind {
	case executors.KindEdit, executors.KindDelete, executors.KindMove:
		for _, path := range call.Card.Paths {
			t.editedFiles[path] = true
		}
	}
}

// started records the session of the turn.
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
			t.noteIDs[e.MessageID] = e.Warning
			if !e.Warning {
				t.lastNote = &shownMessage{e.MessageID, e.Text}
				t.last = t.lastNote
			}
		case transcript.Call:
			t.callOrder[e.Shown.ToolCallID] = len(t.callOrder)
		case transcript.Cut:
			t.answerHasCalls = false
		case transcript.Answer:
			t.model = e.Model
			if t.answerHasCalls {
				t.rounds++
			}
			t.answerHasCalls = false
		}
	}
}

// block records a piece of an answer.
func (t *tally) block(b transcript.Block) {
	switch {
	case b.Block.Call != nil:
		t.answerHasCalls, t.lastAnswer, t.lastNote = true, nil, nil
	case b.Block.Text == "":
	case t.lastAnswer != nil && t.lastAnswer.id == b.MessageID:
		t.lastAnswer.text += b.Block.Text
		t.last = t.lastAnswer
	default:
		t.lastAnswer = &shownMessage{b.MessageID, b.Block.Text}
		t.last = t.lastAnswer
	}
}

// isNote reports whether a message is from the agent itself.
func (t *tally) isNote(messageID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.noteIDs[messageID]
	return ok
}

// isWarning reports whether a message is a warning about the session.
func (t *tally) isWarning(messageID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.noteIDs[messageID]
}

// lastMessage returns the last message of the turn, except warnings, which may come at any time.
func (t *tally) lastMessage() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lastMessageLocked()
}

func (t *tally) lastMessageLocked() string {
	if t.last == nil {
		return ""
	}
	return t.last.text
}

// isUserCall reports whether the user made a call.
func (t *tally) isUserCall(toolCallID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.userCalls[toolCallID]
}

// spent adds the tokens of an answer of any model.
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
	switch {
	case priced:
		t.currency = currency
		t.costs[currency] += amount
	case !llm.Unpaid(m):
		t.unpriced = true
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
	t.changedFiles, t.filesCompared = append(t.changedFiles, paths...), true
}

// changedPaths returns the files that the turn changed, sorted. Without a comparison of files
// these are the arguments of the tools that change files.
func (t *tally) changedPaths() []string {
	if t.filesCompared {
		return slices.Compact(slices.Sorted(slices.Values(t.changedFiles)))
	}
	return slices.Sorted(maps.Keys(t.editedFiles))
}
