package agent

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/filter/text/visible"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// runCalls runs the calls of one answer and adds their results to the history
// as one message, in the model's order. Adjacent calls of one class run
// concurrently, others alone. It returns the outcomes for the loop detection.
// On an error the results so far are in the history.
func (t *turn) runCalls(ctx context.Context, calls []llm.ToolCall) (outcomes []outcome, err error) {
	t.message.end()
	results, byCall := make([]*llm.ToolResult, len(calls)), make([]outcome, len(calls))
	for i := 0; i < len(calls) && err == nil; {
		n := 1
		if class := t.class(calls[i]); class != alone {
			for i+n < len(calls) && t.class(calls[i+n]) == class {
				n++
			}
		}
		err = t.runGroup(ctx, calls[i:i+n], results[i:i+n], byCall[i:i+n])
		i += n
	}
	var blocks []llm.Block
	for i, r := range results {
		if r != nil {
			blocks = append(blocks, llm.Block{Result: r})
			outcomes = append(outcomes, byCall[i])
		}
	}
	if len(blocks) > 0 {
		t.history = append(t.history, llm.Message{Role: llm.User, Blocks: blocks})
	}
	return outcomes, err
}

// callClass is a class of calls that may run at the same time.
type callClass int

const (
	alone    callClass = iota
	reading            // only reads
	isolated           // of a tool with Concurrent, which orders its own calls where necessary
)

// class returns the class of a call.
func (t *turn) class(c llm.ToolCall) callClass {
	switch tool, ok := executors.Find(t.tools, c.Name); {
	case ok && tool.Effect.ReadOnly():
		return reading
	case ok && tool.Concurrent:
		return isolated
	}
	return alone
}

// runGroup announces the calls in order and runs them concurrently.
func (t *turn) runGroup(ctx context.Context, calls []llm.ToolCall, results []*llm.ToolResult, outcomes []outcome) error {
	all := make([]*runningCall, len(calls))
	for i, c := range calls {
		r, err := t.announce(ctx, c)
		if err != nil {
			for i, r := range all[:i] {
				results[i], _ = r.finish(ctx, executors.Result{}, err)
			}
			return err
		}
		all[i] = r
	}
	run := func(i int, r *runningCall) (err error) {
		results[i], err = r.run(ctx)
		outcomes[i] = r.outcome
		return err
	}
	if len(all) == 1 { // a new goroutine would have to grow its stack
		return run(0, all[0])
	}
	var group errgroup.Group // without a context: a failed call must not cancel the others
	for i, r := range all {
		group.Go(func() error { return run(i, r) })
	}
	return group.Wait()
}

// runningCall is an announced tool call.
type runningCall struct {
	*turn
	call *executors.Call // the current attempt; a correction of its input makes another one
	id   string          // the provider's id of the call
	link int             // the 1-based part of the prompt that the result replaces; 0 for a call of the model

	original    llm.ToolCall // the model's original call
	outcome     outcome      // set once it ran
	skipped     bool         // the call had only thoughts: it does not run
	silent      bool         // the client is not shown the call, unless its user is asked about it
	notes       string       // for the model, after the result
	cancellable bool         // the client may cancel it while it runs
	step        int          // of a subturn: the number of its line in the parent's steps; 0 if it has none

	mu       sync.Mutex
	terminal string // the id of the terminal that the call's content embeds: the client's, or one streamed to it
	exit     *acp.TerminalExit
	started  bool
	// background reports that the command goes on after the call.
	background bool
	// check is copied from the record once the gates have decided: a running call may add to it.
	judgement string
	steps     []string // of the subturn that the call runs
	children  []string // the ids of the child sessions that the client was shown for it

	showing sync.Mutex // held while the steps are sent
}

// announce shows the client a call with the card from Prepare.
func (t *turn) announce(ctx context.Context, c llm.ToolCall) (*runningCall, error) {
	tool, _ := executors.Find(t.tools, c.Name)
	call := &executors.Call{
		ID: t.NewID(), Tool: c.Name, Input: c.Input,
		Session: t.Session, Caller: t.caller(), Origin: t.origin, Phase: cmp.Or(tool.Phase, t.phase), UserWords: t.typed, Attempt: 1,
		Record: &executors.Record{}, InTurn: executors.InTurn{Steered: t.inbox.Arrived()},
	}
	if c.Note != "" {
		call.Notes = strings.Split(c.Note, "\n")
	}
	r := &runningCall{turn: t, call: call, id: c.ID, original: c}
	if t.bare[c.ID] && tool.TakesInput() {
		r.skipped, r.silent = true, true
		return r, nil
	}
	call.Notify = r.notify
	t.setDelegation(r)
	if t.origin == executors.Model {
		call.Compress = t.compress
		if t.sub == nil {
			call.Question = r.question
		}
	}
	if err := t.prepare(ctx, call); err != nil {
		return nil, err
	}
	t.recordSuspects(call)
	r.addStep()
	if r.silent = tool.Is(executors.ShowsPlan) || t.shownAsSteps(); r.silent { // the plan itself is shown
		return r, nil
	}
	if said := call.Card.Said; said != "" {
		if err := t.sayParagraph(ctx, "\n\n"+strings.Trim(visible.Text(executors.Shown(said)), "\n")); err != nil {
			return nil, err
		}
	}
	u := r.announcement()
	if t.StreamTerminals && call.Card.Command() != "" {
		r.terminal = call.ID
		u.Terminal = &acp.TerminalUpdate{TerminalID: call.ID, Opens: true, Command: executors.Shown(call.Card.Command()), CWD: call.Card.Dir()}
		u.Content = r.content(nil)
	}
	t.Record(transcript.Call{Shown: u})
	return r, t.Send(ctx, u)
}

// prepare fills in the card of the call.
func (t *turn) prepare(ctx context.Context, call *executors.Call) error {
	call.Card, call.PrepareErr = t.Chain.Prepare(ctx, call)
	if cancelled(ctx, call.PrepareErr) {
		return context.Cause(ctx)
	}
	call.Card.Title = executors.Shown(cmp.Or(call.Card.Title, call.Tool, "Tool call without a name"))
	return nil
}

// announcement returns the update that announces the call.
func (r *runningCall) announcement() acp.ToolCall {
	u := r.card(acp.UpdateToolCall)
	u.Name, u.Status = executors.Shown(r.call.Tool), acp.ToolPending
	return u
}

// card returns the call in the form shown before it runs.
func (r *runningCall) card(update string) acp.ToolCall {
	card := r.call.Card
	u := acp.ToolCall{
		Update: update, ToolCallID: r.call.ID, Title: card.Title, Kind: string(cmp.Or(card.Kind, r.call.Spec.Kind, executors.KindOther)),
		Content: r.content(nil), Locations: locations(card.Locations),
	}
	if card.Said == "" { // otherwise the input was said
		u.RawInput = r.call.ShownInput()
	}
	return u
}

// onlyThoughts is the model's result of a call whose hidden fields were its only ones.
const onlyThoughts = "[skipped] This call contained only thoughts, which are not kept, so it was not run. Repeat it with its parameters."

// run executes the call and shows its outcome to the client.
func (r *runningCall) run(ctx context.Context) (*llm.ToolResult, error) {
	if r.skipped {
		res := executors.Result{Text: onlyThoughts}
		r.outcome = outcomeOf(r.original, r.call.Spec, res)
		r.notes = r.loops.nudge(r.outcome)
		return r.finish(ctx, res, nil)
	}
	res, err := r.execute(ctx)
	if err == nil || err == errCallCancelled {
		r.outcome = outcomeOf(r.original, r.call.Spec, res)
		r.notes = r.turn.notes[r.id] + r.reflection(res)
		if r.call.Origin == executors.Model {
			r.notes += r.loops.nudge(r.outcome)
		}
	}
	return r.finish(ctx, res, err)
}

// finish shows the outcome of the call to the client. An error ends the turn;
// the call is then shown as failed or cancelled.
func (r *runningCall) finish(ctx context.Context, res executors.Result, err error) (*llm.ToolResult, error) {
	status := acp.ToolCompleted
	if res.Failed {
		status = acp.ToolFailed
	}
	if err != nil {
		text := "[error] " + err.Error()
		status = acp.ToolFailed
		switch {
		case cancelled(ctx, err):
			status, text = acp.ToolCancelled, "[cancelled]"
		case err == errCallCancelled:
			status, text = acp.ToolCancelled, "[cancelled] The user cancelled this call. Do not repeat it unless they ask for it."
		}
		res.Below(text) // below the output of the command until then
		res = executors.Result{
			Failed: true, Failure: res.Failure, Text: res.Text, Notes: res.Notes,
			Content: res.Content, Raw: res.Raw, Done: res.Done,
		}
	}
	if res.Done != nil {
		defer res.Done()
	}
	images, imageNotes := r.modelImages(res)
	text := strings.ToValidUTF8(res.ForModel(), "\uFFFD")
	if err == nil && len(images) == 0 {
		text = r.again(ctx, r.original, res, text)
	}
	if err == errCallCancelled { // the turn goes on
		err = nil
	}
	text += imageNotes + r.notes
	result := llm.ToolResult{ID: r.id, Text: text, Failed: res.Failed, Images: images}
	shown := acp.ToolCall{
		Update: acp.UpdateToolCallPatch, ToolCallID: r.call.ID, Status: status,
		Content: r.content(&res), Locations: locations(res.Locations), RawOutput: executors.ShownRaw(res.Raw),
	}
	if res.Failed {
		r.failStep(status)
	}
	r.mu.Lock()
	if title := r.ownTitle(); title != "" {
		shown.Title = title
	}
	if r.cancellable && r.started {
		shown.Cancel = new(false)
	}
	exit := r.exit
	if r.StreamTerminals && r.terminal != "" && exit == nil && !r.background { // the command never ran, or was abandoned
		shown.Terminal = &acp.TerminalUpdate{TerminalID: r.terminal, Exit: &acp.TerminalExit{TerminalID: r.terminal}}
	}
	r.mu.Unlock()
	if r.silent {
		r.Record(transcript.Result{Result: result, Shown: acp.ToolCall{Update: shown.Update, Status: shown.Status}})
		return &result, err
	}
	if r.call.Card.Said != "" && !res.Failed { // the user has answered, and the result is for the model
		shown.Content = shown.Content[:len(r.children)]
	}
	recorded := shown
	recorded.Content = shown.Content[len(r.children):] // a replay adds them where they are shown
	r.Record(transcript.Result{Result: result, Shown: recorded, Exit: exit, Link: r.link})
	return &result, errors.Join(err, r.Send(ctx, shown))
}

// notify passes progress on to the client. It ignores write errors, since the
// final update reports them.
func (r *runningCall) notify(ev executors.Event) {
	if u, ok := r.progressUpdate(ev); ok {
		r.sendProgress(u)
		if ev.Terminal != "" && r.TitlesTerminals {
			card := r.card(acp.UpdateToolCallPatch)
			r.sendProgress(acp.ToolCall{Update: card.Update, ToolCallID: card.ToolCallID, Title: card.Title, Kind: card.Kind})
		}
	}
}

// sendProgress sends an update on a call that runs.
func (r *runningCall) sendProgress(u acp.SessionUpdate) {
	ctx := &lazyTimeout{Context: context.Background()}
	defer ctx.end()
	if err := r.Send(ctx, u); err != nil {
		r.Log.Debug("progress", "call", r.call.ID, "err", err)
	}
}

// progressUpdate returns the update for an event, if the client is shown one.
func (r *runningCall) progressUpdate(ev executors.Event) (acp.SessionUpdate, bool) {
	if ev.Status == executors.QuestionOpen || ev.Status == executors.QuestionClosed {
		r.waits(ev.Status == executors.QuestionOpen)
		r.showAsked(ev.Status == executors.QuestionOpen)
		return nil, false
	}
	if ev.Plan != nil && ev.Plan.Approved != "" {
		plan := transcript.ApprovedPlan{Content: ev.Plan.Approved}
		r.Record(plan)
		return plan.Update(), true
	}
	if ev.Plan != nil {
		plan := transcript.Plan{Entries: []acp.PlanEntry{}}
		for _, e := range ev.Plan.Entries {
			plan.Entries = append(plan.Entries, acp.PlanEntry{Content: e.Content, Priority: e.Priority, Status: e.Status})
		}
		r.Record(plan)
		return plan.Update(), true
	}
	u := acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: r.call.ID}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case ev.Status == executors.InProgress && !r.started:
		r.started, r.judgement = true, r.call.Record.Judgement()
		u.Status = acp.ToolInProgress
		u.Title = r.ownTitle()
		if r.cancellable {
			u.Cancel = new(true)
		}
	case ev.Terminal != "" && r.sub != nil: // it belongs to the session, whose client does not see the call
		return nil, false
	case ev.Terminal != "":
		r.terminal = ev.Terminal
		u.Content = r.contentLocked(nil)
	case ev.Progress != "":
		u.Content = append(r.contentLocked(nil), acp.BlockContent(acp.TextBlock(ev.Progress)))
	case ev.Output != nil && r.StreamTerminals && r.terminal != "":
		return acp.TerminalChunk{TerminalID: r.terminal, ToolCallID: r.call.ID, Data: string(ev.Output)}, !r.silent
	case ev.Background != nil && r.StreamTerminals && r.terminal != "":
		r.background = true
		r.sessionTurn().terminals.add(r.terminal, ev.Background)
		return acp.TerminalUpdate{TerminalID: r.terminal, ToolCallID: r.call.ID, Background: true}, !r.silent
	case ev.Exit != nil && r.terminal != "":
		r.sessionTurn().terminals.remove(r.terminal)
		r.exit = &acp.TerminalExit{TerminalID: r.terminal, ExitCode: ev.Exit.Code}
		if ev.Exit.Signal != "" {
			r.exit.Signal = &ev.Exit.Signal
		}
		// Otherwise the client saw it in its own terminal.
		return acp.TerminalUpdate{TerminalID: r.terminal, ToolCallID: r.call.ID, Exit: r.exit}, r.StreamTerminals && !r.silent
	default:
		return nil, false
	}
	return u, !r.silent
}

// ownTitle returns the title of the call, once, if a question showed another one; else "".
func (r *runningCall) ownTitle() string {
	if !r.call.Record.Retitled {
		return ""
	}
	r.call.Record.Retitled = false
	return r.call.Card.Title
}

func (r *runningCall) content(res *executors.Result) []acp.ToolContent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.contentLocked(res)
}

// contentLocked returns the call's content for the client: the terminal, the texts about the
// call, changes of files, images, and the text of the result without the parts for models alone. An
// update replaces the whole list, so each has all parts. The caller holds mu.
func (r *runningCall) contentLocked(res *executors.Result) []acp.ToolContent {
	var out []acp.ToolContent
	addText := func(text string) {
		if text != "" {
			out = append(out, acp.BlockContent(acp.TextBlock(text)))
		}
	}
	for _, id := range r.children {
		out = append(out, acp.ToolContent{Type: acp.SessionContent, SessionID: id})
	}
	if r.terminal != "" {
		out = append(out, acp.ToolContent{Type: "terminal", TerminalID: r.terminal})
	}
	if res != nil {
		r.judgement = r.call.Record.Judgement()
	}
	addText(r.judgement)
	addText(ShownSteps(r.steps))
	changes := r.call.Card.Changes
	var images []*executors.Image
	if res != nil {
		var own []filechange.Change
		for _, c := range res.Content {
			switch {
			case c.Change != nil:
				own = append(own, *c.Change)
			case c.Image != nil:
				images = append(images, c.Image)
			}
		}
		if own != nil {
			changes = own // that really happened
		}
	}
	for _, c := range changes {
		out = append(out, acp.ChangeContent(c))
	}
	for _, i := range images {
		out = append(out, acp.BlockContent(acp.ImageBlock(i.MIME, i.Data)))
	}
	if res != nil {
		addText(transcript.FitResult(strings.ToValidUTF8(res.ForPeople(), "\uFFFD")))
	}
	return out
}

func locations(ls []executors.Location) []acp.ToolCallLocation {
	var out []acp.ToolCallLocation
	for _, l := range ls {
		out = append(out, acp.ToolCallLocation{Path: l.Path, Line: l.Line})
	}
	return out
}
