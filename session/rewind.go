package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// RewindPoint is a turn to go back to.
type RewindPoint struct {
	transcript.Turn
	// Files is the number of files that the turn changed; -1 means that they are no longer
	// kept.
	Files int
}

// rewindRun is a planned rewind or redo.
type rewindRun struct {
	event   transcript.Rewound // recorded once it was carried out
	plan    FilesPlan          // empty if only the conversation is restored
	dropped int                // messages that the model forgets; negative after a redo
	history []llm.Message      // of the model, afterwards
	after   []transcript.Event // the log afterwards; nil if the conversation stays
}

// ErrNoTurn means that the conversation has no such turn.
var ErrNoTurn = errors.New("the conversation has no such turn")

var errCopied = errors.New("this session is a fork or an import, and has no file history for that turn: only the conversation can go back there")

// files returns the files that the session keeps.
func (s *Session) files() Files {
	tools := s.toolState()
	if tools == nil {
		return noFiles{}
	}
	if f := tools.Files(); f != nil {
		return f
	}
	return noFiles{}
}

// recoverFiles completes or undoes the rewind of a killed process, before the first turn.
func (s *Session) recoverFiles(ctx context.Context) {
	if s.recovered {
		return
	}
	s.recovered = true
	files := s.files()
	mark, message, err := files.Recover(ctx)
	if err == nil && len(mark) > 0 {
		err = s.completeRewind(ctx, mark)
	}
	if err != nil {
		message = fmt.Sprintf("An interrupted rewind could not be completed: %v.", err)
	}
	if message != "" {
		s.warn(message)
	}
}

// completeRewind records a rewind unless it is recorded already.
func (s *Session) completeRewind(ctx context.Context, mark []byte) error {
	e, err := transcript.Decode(transcript.Rewound{}.Kind(), mark)
	if err != nil {
		return err
	}
	events, err := s.journal.events(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(events, e) {
		s.record(e)
		events = append(events, e)
		s.history = transcript.History(events)
		s.adoptKeys(events)
	}
	s.journal.sync() // before the mark of the files is removed
	return s.files().Complete()
}

// rewindPoints returns the turns to go back to.
func (s *Session) rewindPoints(events []transcript.Event) ([]RewindPoint, error) {
	changed, err := s.files().Changed()
	if err != nil {
		return nil, err
	}
	var points []RewindPoint
	lastCopied := copiedTurns(events)
	for _, t := range transcript.Turns(events) {
		files := changed[t.Number]
		if t.Number <= lastCopied {
			files = -1
		}
		points = append(points, RewindPoint{t, files})
	}
	return points, nil
}

// rewind answers the command /rewind.
func (s *Session) rewind(ctx context.Context, rest string) (string, error) {
	args := strings.Fields(rest)
	if len(args) == 0 {
		return s.listTurns(ctx)
	}
	run, err := s.planTyped(ctx, args)
	if err == nil {
		return s.confirmRewind(ctx, run)
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if errors.Is(err, ErrNoTurn) {
		err = fmt.Errorf("the conversation has no turn %s", args[0])
	} else if !errors.Is(err, errRewindUsage) {
		return fmt.Sprintf("%s: %v.", nothingChanged, err), nil
	}
	list, listErr := s.listTurns(ctx)
	return fmt.Sprintf("%s: %v.\n\n%s", nothingChanged, err, list), listErr
}

var errRewindUsage = errors.New("`/rewind` takes the number of a turn and `files`, `conversation` or `both`; or `redo`")

// planTyped plans the rewind or redo that the user typed.
func (s *Session) planTyped(ctx context.Context, args []string) (*rewindRun, error) {
	if len(args) == 1 && args[0] == "redo" {
		return s.planRedo(ctx)
	}
	mode := transcript.RewindBoth
	if len(args) == 2 {
		mode = args[1]
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || len(args) > 2 || !transcript.IsRewindMode(mode) {
		return nil, errRewindUsage
	}
	return s.planRewind(ctx, func(t transcript.Turn) bool { return t.Number == n }, mode)
}

// listTurns lists the turns for the user.
func (s *Session) listTurns(ctx context.Context) (string, error) {
	events, err := s.journal.events(ctx)
	var points []RewindPoint
	if err == nil {
		points, err = s.rewindPoints(events)
	}
	if err != nil {
		return "", fmt.Errorf("list the turns: %w", err)
	}
	list := turnList(points)
	if _, ok := transcript.LastRedoable(eventsAfterCopy(events)); ok {
		list += " `/rewind redo` undoes the last rewind."
	}
	return list, nil
}

// planRewind plans a rewind to before the first turn that matches.
func (s *Session) planRewind(ctx context.Context, matches func(transcript.Turn) bool, mode string) (*rewindRun, error) {
	events, err := s.journal.events(ctx)
	if err != nil {
		return nil, err
	}
	turns := transcript.Turns(events)
	i := slices.IndexFunc(turns, matches)
	if i < 0 {
		return nil, ErrNoTurn
	}
	run := &rewindRun{event: transcript.Rewound{ID: s.sessions.NewID(), MessageID: turns[i].MessageID, Turn: turns[i].Number, Mode: mode}}
	if mode != transcript.RewindConversation {
		if run.event.Turn <= copiedTurns(events) {
			return nil, errCopied
		}
		if run.plan, err = s.files().Before(ctx, run.event.Turn, run.event.ID); err != nil {
			return nil, err
		}
	}
	run.planHistory(s, events)
	return run, nil
}

// planRedo plans the way forward after the last rewind.
func (s *Session) planRedo(ctx context.Context) (*rewindRun, error) {
	events, err := s.journal.events(ctx)
	if err != nil {
		return nil, err
	}
	last, ok := transcript.LastRedoable(eventsAfterCopy(events))
	if !ok {
		return nil, errors.New("there is no rewind to undo: the last one was undone, or the conversation has continued since")
	}
	run := &rewindRun{event: last}
	run.event.Redo = true
	if last.Mode != transcript.RewindConversation {
		if run.plan, err = s.files().Again(ctx, last.ID); err != nil {
			return nil, err
		}
	}
	run.planHistory(s, events)
	return run, nil
}

// planHistory computes the history after the rewind.
func (r *rewindRun) planHistory(s *Session, events []transcript.Event) {
	r.history = s.history
	if r.event.Conversation() {
		r.after = append(slices.Clone(events), r.event)
		r.history = transcript.History(r.after)
		r.dropped = len(s.history) - len(r.history)
	}
}

// differing returns the names of the files that have changed since the agent's last
// change.
func (r *rewindRun) differing() []string {
	var names []string
	for _, f := range r.plan.Files {
		if f.Differs != "" && f.Lost == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

// confirmRewind asks the user, and carries out the rewind after a yes.
func (s *Session) confirmRewind(ctx context.Context, run *rewindRun) (string, error) {
	tools := s.toolState()
	ask := func(question, text string) bool { return tools != nil && tools.Confirm(ctx, question, text) }
	if !ask(run.title()+"?", run.preview()) {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return nothingChanged + ", because this needs your approval. It would do this:\n\n" + run.preview(), nil
	}
	force := false
	if names := run.differing(); len(names) > 0 {
		force = ask(differTitle(len(names)), differingList(names))
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	out, err := s.carryOut(ctx, run, force)
	if err != nil {
		return "", err
	}
	return run.report(out), nil
}

// carryOut restores the files, records the rewind, and shortens the history. A cancel
// does not interrupt it.
func (s *Session) carryOut(ctx context.Context, run *rewindRun, force bool) (out FilesOutcome, err error) {
	ctx = context.WithoutCancel(ctx)
	run.event.Files = len(run.plan.Files)
	mark, err := json.Marshal(run.event)
	if err != nil {
		return out, err
	}
	if run.plan.Apply != nil {
		if out, err = run.plan.Apply(ctx, force, mark); err != nil {
			return out, fmt.Errorf("rewind the files: %w", err)
		}
	}
	s.record(run.event)
	s.journal.sync() // before the mark of the files is removed
	s.history = run.history
	if run.after != nil {
		s.adoptKeys(run.after)
	}
	if err := s.files().Complete(); err != nil {
		return out, fmt.Errorf("complete the rewind: %w", err)
	}
	if len(out.Changes) > 0 {
		changes := acp.NewFileChanges(s.sessions.NewID(), run.title(), out.Changes)
		s.record(transcript.FilesRewound{Shown: changes.Call})
		s.send(ctx, changes)
	}
	if run.event.Conversation() {
		s.showUsageEstimate(ctx)
	}
	return out, nil
}

// showUsageEstimate shows an estimate of the context's usage after the history has changed.
func (s *Session) showUsageEstimate(ctx context.Context) {
	s.mu.Lock()
	if s.usage.Size == 0 { // the client has seen no usage
		s.mu.Unlock()
		return
	}
	s.usage.Used = min(llm.Tokens(s.settings.model.Name(), llm.Request{Messages: s.history}), s.usage.Size)
	usage := s.usage
	s.mu.Unlock()
	s.journal.record(transcript.Answer{Model: s.model().Name(), Shown: &usage})
	s.send(ctx, usage)
}
