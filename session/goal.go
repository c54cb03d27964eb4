package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/goal"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// goalCommand is the command that follows a goal. Its prompt stays open until the goal is met, over
// as many turns of the model as needed.
const goalCommand = "goal"

// goalRun is the work on a goal in the running turn. It is the agent's supervisor. Session.mu guards
// its fields.
type goalRun struct {
	goal.Goal
	session   *Session
	inbox     *agent.Inbox
	since     time.Time   // of the work that Used does not have yet
	questions int         // that wait for the user; meanwhile the time does not count
	asked     goal.Status // Paused or Stopped, once the user has asked for it
	message   string      // with which the agent ended the last turn itself
}

// answerGoal carries out the command /goal.
func (s *Session) answerGoal(ctx context.Context, in agent.Input, rest string) (acp.StopReason, error) {
	reply := func(text string) (acp.StopReason, error) {
		in.Inbox.Close(agent.ErrNotAccepted) // no model sees this turn
		s.recordCommand(in.Content)
		return acp.StopEndTurn, s.runner().Say(ctx, text)
	}
	r, err := goal.Parse(rest)
	if err != nil {
		return reply(fmt.Sprintf("%s: %v.\n\n%s", nothingChanged, err, goal.Usage))
	}
	g := s.storedGoal()
	switch {
	case r.Act == goal.Show && g.Text == "":
		return reply("There is no goal. " + goal.Usage)
	case r.Act == goal.Show:
		return reply(g.Report(false))
	case r.Act != goal.Set && !g.IsOpen():
		return reply(fmt.Sprintf("%s: there is no goal to %s.", nothingChanged, r.Act))
	case r.Act == goal.Pause:
		return reply("The goal is " + g.State(false) + ".")
	case r.Act == goal.Stop:
		g.Status, g.Reason = goal.Stopped, ""
		s.recordGoal(g)
		return reply(g.EndLine())
	}
	if _, direct := s.model().(local.Direct); direct {
		return reply(agent.NoModel)
	}
	if r.Act == goal.Resume {
		why := g.State(false)
		g.Resume(r)
		in.ModelText = g.Resumed(why)
	} else {
		g = goal.New(r, s.sessions.Goal)
		in.ModelText = g.Prompt()
	}
	return s.followGoal(ctx, g, in)
}

// followGoal runs turns and checks until the goal is met, or the work on it ends otherwise.
func (s *Session) followGoal(ctx context.Context, g goal.Goal, in agent.Input) (acp.StopReason, error) {
	run := &goalRun{Goal: g, session: s, inbox: in.Inbox, since: s.sessions.Now()}
	s.mu.Lock()
	s.tally.goal = run
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.tally.goal = nil
		s.mu.Unlock()
	}()
	in.Inbox.Hold()
	for {
		in.Supervisor, in.Words = run, g.Text
		reason, err := s.modelTurn(ctx, in)
		if !s.prompted { // it was refused before it began
			return reason, err
		}
		status, why := run.ended(ctx, reason, err)
		next := ""
		if status == goal.Running {
			status, why, next = run.check(ctx)
			if asked := run.askedFor(); asked != "" && status != goal.Met && ctx.Err() == nil {
				status, why = asked, ""
			}
		}
		if status != goal.Running {
			return run.end(ctx, status, why, reason, err)
		}
		s.showWarnings(ctx, "\n\n", "\n\n")
		s.record(transcript.TurnEnd{Reason: acp.StopEndTurn})
		s.currentClient().NextWork(s.id, s.journal.beginTurn)
		in = agent.Input{ModelText: next, Inbox: in.Inbox, Caller: in.Caller}
	}
}

// ended returns the status after a turn; Running means that the goal is to be checked.
func (r *goalRun) ended(ctx context.Context, reason acp.StopReason, err error) (goal.Status, string) {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.addTime()
	message := r.message
	r.message = ""
	exceeded := r.Exceeded()
	switch {
	case ctx.Err() != nil:
		return goal.Paused, causeOf(ctx)
	case err != nil:
		return goal.Failed, err.Error()
	case r.asked != "":
		return r.asked, ""
	case reason == acp.StopMaxTurnRequests && message == "":
		return goal.Limit, exceeded
	case reason == acp.StopMaxTurnRequests, reason == acp.StopMaxTokens:
		return goal.Limit, strings.TrimPrefix(cmp.Or(message, reason.Sentence()), "Stopped: ")
	case reason == acp.StopRefusal:
		return goal.Failed, "the model refused to go on"
	case message != "" && message != agent.NoAnswer: // a hook, or a question to the user
		return goal.Blocked, message
	}
	return goal.Running, ""
}

// causeOf says why a turn was cancelled.
func causeOf(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, acp.ErrClosed), errors.Is(cause, errSessionClosed):
		return "the session was closed"
	case errors.Is(cause, acp.ErrTurnCancelled):
		return "the turn was cancelled" // by you, a timeout or a signal: the client does not say
	default:
		return cause.Error()
	}
}

// end records the end of the work and tells the user. reason and err are of the last turn.
func (r *goalRun) end(ctx context.Context, status goal.Status, why string, reason acp.StopReason, err error) (acp.StopReason, error) {
	s := r.session
	s.mu.Lock()
	r.addTime()
	r.Status, r.Reason = status, goal.Reason(why)
	g := r.Goal
	s.mu.Unlock()
	s.recordGoal(g)
	told := s.runner().Say(context.WithoutCancel(ctx), "\n\n"+g.EndLine())
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		if wrong, ok := errors.AsType[*acp.ParamsError](err); ok { // the prompt that continues is the session's own
			err = errors.New(wrong.Reason)
		}
		return "", err
	case reason == acp.StopEndTurn && status == goal.Failed:
		return "", errors.New(why)
	case reason == acp.StopEndTurn && (status == goal.Limit || status == goal.Stalled):
		reason = acp.StopMaxTurnRequests
	}
	return reason, told
}

// askedFor returns Paused or Stopped if the user has asked for it.
func (r *goalRun) askedFor() goal.Status {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	return r.asked
}

// snapshot returns the goal as it is now.
func (r *goalRun) snapshot() goal.Goal {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.addTime()
	return r.Goal
}

// addTime adds the time since the last call to Used, unless a question waits. The caller holds mu.
func (r *goalRun) addTime() {
	now := r.session.sessions.Now()
	if r.questions == 0 {
		r.Used.Time += max(0, now.Sub(r.since))
	}
	r.since = now
}

// Next is called before each request to the model.
func (r *goalRun) Next() acp.StopReason {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.addTime()
	switch {
	case r.asked != "":
		return acp.StopEndTurn
	case r.Exceeded() != "":
		return acp.StopMaxTurnRequests
	}
	r.Used.Rounds++
	return ""
}

// Ended is called with the message with which the agent ends a turn.
func (r *goalRun) Ended(message string) {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.message = message
}

// Waits is called when a question is opened or answered.
func (r *goalRun) Waits(open bool) {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.addTime()
	if open {
		r.questions++
	} else {
		r.questions = max(0, r.questions-1)
	}
}

// goalState returns the state of the goal that the running turn follows, as the next turn begins.
func (s *Session) goalState() (transcript.State, bool) {
	s.mu.Lock()
	run := s.tally.goal
	if run == nil {
		s.mu.Unlock()
		return transcript.State{}, false
	}
	run.addTime()
	run.Turns++
	g := run.Goal
	s.mu.Unlock()
	state := s.follow(g)
	s.setState(state)
	return state, true
}

// recordGoal records the state of a goal.
func (s *Session) recordGoal(g goal.Goal) { s.record(s.follow(g)) }

// follow returns a goal in the form of the log, after it has told Followed.
func (s *Session) follow(g goal.Goal) transcript.State {
	if s.sessions.Followed != nil {
		s.sessions.Followed(g)
	}
	return stateOf(g)
}

// stateOf returns a goal in the form of the log.
func stateOf(g goal.Goal) transcript.State {
	value, err := json.Marshal(g)
	if err != nil { // every goal can be marshalled
		panic(err)
	}
	return transcript.State{Name: goal.StateName, Value: value}
}

// storedGoal returns the goal of the session, which does not run. If the log says that it does, the
// agent was killed.
func (s *Session) storedGoal() goal.Goal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.storedGoalLocked()
}

func (s *Session) storedGoalLocked() (g goal.Goal) {
	if s.tally.goal != nil {
		return s.tally.goal.Goal
	}
	if json.Unmarshal(s.states[goal.StateName], &g) != nil {
		return goal.Goal{}
	}
	if g.Status == goal.Running {
		g.Status, g.Reason = goal.Paused, "the agent was stopped in the midst of a turn"
	}
	return g
}

// hintAtGoal makes the client of a session that was opened again show a goal that is not met yet.
func (s *Session) hintAtGoal() {
	g := s.storedGoal()
	if !g.IsOpen() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hint = fmt.Sprintf("This session has a goal that is not met yet: %s. `/goal` shows its state, and `/goal resume` goes on.", goal.Reason(g.Text))
}

// controlGoal carries out a command about the goal that the running turn follows, without a turn of
// its own. It returns false for any other prompt.
func (s *Session) controlGoal(prompt []acp.ContentBlock) (reply string, ok bool) {
	name, rest := local.SplitCommand(strings.TrimSpace(transcript.TypedText(prompt)))
	if name != goalCommand {
		return "", false
	}
	r, err := goal.Parse(strings.TrimSpace(rest))
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.tally.goal
	if err != nil || run == nil {
		return "", false
	}
	switch r.Act {
	case goal.Show:
		run.addTime()
		return run.Report(run.questions > 0), true
	case goal.Pause:
		run.asked = goal.Paused
		return "The goal will pause after the calls that run now.", true
	case goal.Stop:
		run.asked = goal.Stopped
		return "The goal will stop after the calls that run now.", true
	}
	return "", false
}

// goalReply is the acp.Steering of a command about the goal.
type goalReply struct {
	session *Session
	text    string
}

func (r goalReply) Wait(ctx context.Context) error { return r.session.say(ctx, r.text) }
func (goalReply) Answered()                        {}

// say shows the user a message of the session while a turn runs. It is no message of that turn.
func (s *Session) say(ctx context.Context, text string) error {
	note := transcript.Note{MessageID: s.sessions.NewID(), Text: "\n\n" + strings.TrimSpace(text) + "\n\n"}
	s.journal.record(note)
	return s.update(ctx, s.id, acp.MessageChunk{Update: acp.UpdateAgentMessage, Content: acp.TextBlock(note.Text), MessageID: note.MessageID})
}

// titleOf returns a title for the first prompt of the session.
func (s *Session) titleOf(prompt []acp.ContentBlock) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run := s.tally.goal; run != nil {
		prompt = []acp.ContentBlock{acp.TextBlock(run.Text)}
	}
	return titleOf(prompt)
}
