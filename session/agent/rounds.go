package agent

import (
	"context"
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// RoundLimit ends a turn after a number of rounds of tool calls, without a question.
type RoundLimit struct {
	Rounds int    // 0 means that the configuration decides
	Name   string // of the flag or the key, for people
	Next   string // a sentence about how to continue; empty means by another prompt
}

// roundQuestions is what a session remembers of the questions whether a turn continues.
type roundQuestions struct {
	asked bool // at least once
	over  bool // the user wants no more of them
}

// The two keys of the configuration, as a message names them.
const (
	atSoftLimit = " (agent.max_tool_iterations)"
	atHardLimit = " (agent.max_tool_iterations_hard)"
)

// roundLimitReason returns why the turn ends after this many rounds of tool calls, or
// "" if it continues. Every max_tool_iterations rounds it asks the user, unless the turn has a
// limit of its own, there is no user, or the user has allowed further rounds in advance.
func (t *turn) roundLimitReason(ctx context.Context, rounds int) (why string, err error) {
	limit, hard := t.Config.MaxToolIterations, t.Config.hardCap()
	switch own := t.RoundLimit; {
	case t.origin != executors.Model:
		return "", nil
	case t.supervisor != nil && rounds < hard:
		return "", nil
	case t.supervisor != nil:
		return atHardLimit, nil
	case own.Rounds > 0 && rounds >= own.Rounds:
		return " (" + own.Name + ")", nil
	case own.Rounds > 0 && rounds >= hard:
		return atHardLimit, nil
	case own.Rounds > 0, rounds < max(limit, t.allowedRounds):
		return "", nil
	case rounds >= hard && rounds > limit:
		return atHardLimit, nil
	case rounds >= hard:
		return atSoftLimit, nil
	}
	if !t.rounds.over && (t.ContinueUnasked == nil || !t.ContinueUnasked()) {
		if why, err := t.askToContinue(ctx, rounds); err != nil || why != "" {
			return why, err
		}
	}
	t.allowedRounds = min(rounds+limit, hard)
	return "", nil
}

// askToContinue asks the user whether the turn continues.
func (t *turn) askToContinue(ctx context.Context, rounds int) (why string, err error) {
	if t.Ask == nil {
		return atSoftLimit, nil
	}
	limit, hard := t.Config.MaxToolIterations, t.Config.hardCap()
	answer, err := t.askUser(ctx, fmt.Sprintf("Go on for %s?", quantity.Count(min(limit, hard-rounds), "more round")),
		fmt.Sprintf("the turn has had %s of tool calls%s.", quantity.Count(rounds, "round"), atSoftLimit), t.rounds.choices())
	switch answer {
	case "":
		return atSoftLimit, err
	case stopHere:
		return ", as you asked", err
	case goOnUnasked:
		t.rounds.over = true
	}
	return "", err
}

// choices returns the answers to the next question. A user who is asked again is first offered
// not to be asked any more.
func (q *roundQuestions) choices() []choice {
	once := choice{goOn, "Go on", "Going on."}
	always := choice{goOnUnasked, "Go on without asking in this session", "Going on, without asking again in this session."}
	stop := choice{stopHere, "Stop", "Stopped."}
	if q.asked {
		return []choice{always, once, stop}
	}
	q.asked = true
	return []choice{once, always, stop}
}
