package run

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/session/goal"
)

// exitGoal is the exit status if a goal was not met.
const exitGoal = 5

// goalFlags are the flags about a goal.
type goalFlags struct {
	goal  string // --goal
	until string // --until
}

func (g *goalFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&g.goal, "goal", "", "work until the goal `TEXT` is met or a bound is reached, over as many turns as needed")
	fs.StringVar(&g.until, "until", "", "with --goal: the goal is met when `COMMAND` exits with 0")
}

// check checks the flags. A blank value is a mistake: a script passes it if its variable is unset.
func (g *goalFlags) check(fs *pflag.FlagSet, args []string) error {
	switch {
	case !fs.Changed("goal") && fs.Changed("until"):
		return cli.Usagef("--until: want --goal too")
	case fs.Changed("goal") && strings.TrimSpace(g.goal) == "":
		return cli.Usagef("--goal: want the text of the goal")
	case fs.Changed("until") && strings.TrimSpace(g.until) == "":
		return cli.Usagef("--until: want a command")
	case fs.Changed("goal") && len(args) > 0:
		return cli.Usagef("want --goal or a prompt, not both")
	}
	return nil
}

// prompt returns the arguments with the command that follows the goal, if there is one.
func (g *goalFlags) prompt(args []string, r *Flags) []string {
	if g.goal == "" {
		return args
	}
	request := goal.Request{Act: goal.Set, Text: g.goal, Until: g.until}
	if r.roundsSet {
		request.MaxRounds = r.MaxRounds
	}
	return []string{"/goal " + request.String()}
}

// goalResult is the outcome of a goal.
type goalResult struct {
	Status goal.Status `json:"status"`
	Reason string      `json:"reason"` // in one line; may be empty
	Turns  int         `json:"turns"`
	Checks int         `json:"checks"`
	Rounds int         `json:"rounds"`
}

// followed records the state of a goal that the turn follows.
func (t *tally) followed(g goal.Goal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.goal != nil || g.Status == goal.Running {
		t.goal = &goalResult{g.Status, g.Reason, g.Turns, g.Checks, g.Used.Rounds}
	}
}

// goalAnswer returns the model's last message in a turn that follows a goal; else "".
func (t *tally) goalAnswer() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.goal == nil || t.lastAnswer == nil {
		return ""
	}
	return t.lastAnswer.text
}

// goalError returns the error of a turn that ended with err, or the one about its goal if that was not
// met. cause is the cause of the turn's cancellation, nil if it was not cancelled.
func (t *tally) goalError(err, cause error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, failed := errors.AsType[*agentError](err); t.goal == nil || failed || cause != nil {
		return err
	}
	if t.goal.Status == goal.Met || t.goal.Status == goal.Failed && err != nil {
		return err
	}
	why := "the goal was not met"
	if t.goal.Reason != "" {
		why += ": " + t.goal.Reason
	}
	return &cli.ExitError{Code: exitGoal, Cause: errors.New(why)}
}
