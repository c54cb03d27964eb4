// Package goal has the state of a goal that a session follows over several turns: what the user
// types, the bounds, the outcome of each check, and the texts for the model and the user.
//
// Start with [Parse] and [New]. The session runs the turns and the checks; the package decides
// what follows from them, and does nothing itself. A Goal is stored as JSON in the session's log.
package goal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// StateName is the name of the state in a session's log.
const StateName = "goal"

// Status is the state of a goal.
type Status string

// The states of a goal. All but Met and Stopped can be resumed.
const (
	Running Status = "running" // in a log: also after the agent was killed
	Paused  Status = "paused"  // by the user, or the turn was cancelled
	Blocked Status = "blocked" // the agent needs the user
	Limit   Status = "limit"   // a bound or another limit was reached
	Stalled Status = "no_progress"
	Failed  Status = "failed"
	Met     Status = "met"
	Stopped Status = "stopped" // by the user
)

// Bounds limit the work on a goal. They are the table [agent.goal].
type Bounds struct {
	MaxRounds  int `toml:"max_rounds" json:"rounds,omitempty" default:"100" range:"1..10000" tighten:"lower" unit:"rounds" doc:"over all turns of a goal, each a request to the model"`
	MaxMinutes int `toml:"max_minutes" json:"minutes,omitempty" default:"120" range:"0.." zero:"no limit" tighten:"limit" unit:"minutes" doc:"of work on a goal, without the time that questions wait for you"`
	MaxTokens  int `toml:"max_tokens" json:"tokens,omitempty" default:"0" range:"0.." zero:"no limit" tighten:"limit" unit:"tokens" doc:"of all models that work on a goal, read and written"`
}

// over returns the bounds, with the ones that are set in o instead.
func (b Bounds) over(o Bounds) Bounds {
	for _, m := range []struct{ to, from *int }{{&b.MaxRounds, &o.MaxRounds}, {&b.MaxMinutes, &o.MaxMinutes}, {&b.MaxTokens, &o.MaxTokens}} {
		if *m.from > 0 {
			*m.to = *m.from
		}
	}
	return b
}

// Used is what the work on a goal has taken.
type Used struct {
	Rounds int           `json:"rounds"`
	Tokens int           `json:"tokens"`
	Time   time.Duration `json:"time"` // in nanoseconds
}

// Goal is a goal with its state.
type Goal struct {
	Text   string `json:"text"`
	Until  string `json:"until,omitempty"` // a command of the shell that decides; may be empty
	Bounds Bounds `json:"bounds"`
	Asked  Bounds `json:"asked,omitzero"` // the bounds that the user has set for this goal
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"` // of the status, in one line
	Turns  int    `json:"turns"`
	Checks int    `json:"checks"`
	Used   Used   `json:"used"`             // in total
	Before Used   `json:"before,omitempty"` // Used when the work last began: the bounds count from there
	// Print identifies what the last check found, and Same is the number of checks in a row that
	// found the same, without a changed file in between.
	Print string `json:"print,omitempty"`
	Same  int    `json:"same,omitempty"`
}

// New returns a goal that runs.
func New(r Request, defaults Bounds) Goal {
	return Goal{Text: r.Text, Until: r.Until, Bounds: defaults.over(r.Bounds), Asked: r.Bounds, Status: Running}
}

// IsOpen reports whether there is a goal that can be resumed.
func (g *Goal) IsOpen() bool { return g.Text != "" && g.Status != Met && g.Status != Stopped }

// Resume makes the goal run again. Its bounds count anew, and r may change them and the command.
func (g *Goal) Resume(r Request) {
	g.Bounds, g.Asked, g.Before = g.Bounds.over(r.Bounds), g.Asked.over(r.Bounds), g.Used
	if r.Until != "" {
		g.Until = r.Until
	}
	g.Status, g.Reason, g.Print, g.Same = Running, "", "", 0
}

// Exceeded returns the bound that was reached, with the flag or the key that has set it, or "".
func (g *Goal) Exceeded() string {
	rounds, tokens, spent := g.Used.Rounds-g.Before.Rounds, g.Used.Tokens-g.Before.Tokens, g.Used.Time-g.Before.Time
	reached := func(bound string, asked int, name string) string {
		set := "agent.goal.max_" + name
		if asked > 0 {
			set = "--max-" + name
		}
		return fmt.Sprintf("it has used its %s (%s)", bound, set)
	}
	switch b := g.Bounds; {
	case rounds >= b.MaxRounds:
		return reached(quantity.Count(b.MaxRounds, "round"), g.Asked.MaxRounds, "rounds")
	case b.MaxMinutes > 0 && spent >= time.Duration(b.MaxMinutes)*time.Minute:
		return reached(quantity.Count(b.MaxMinutes, "minute"), g.Asked.MaxMinutes, "minutes")
	case b.MaxTokens > 0 && tokens >= b.MaxTokens:
		return reached(quantity.CountGrouped(b.MaxTokens, "token"), g.Asked.MaxTokens, "tokens")
	}
	return ""
}

// maxSame is the number of checks without progress that end the work.
const maxSame = 3

// Checked records that a check found the goal not met. output is what the command wrote, without
// parts that differ from run to run; changed reports that files changed since the last check. It
// returns false if there was no progress for too long.
func (g *Goal) Checked(why, output string, changed bool) bool {
	g.Reason = why
	sum := sha256.Sum256([]byte(plain(why) + "\n" + output))
	print := hex.EncodeToString(sum[:8])
	if print != g.Print || changed {
		g.Print, g.Same = print, 0
	}
	g.Same++
	return g.Same < maxSame
}

// plain returns the words of a reason: two answers of a model may differ in the rest.
func plain(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

// maxReason bounds a reason, in characters.
const maxReason = 300

// Reason returns a text as the reason of a status: one line without a period at its end.
func Reason(text string) string {
	return strings.TrimSuffix(line.TruncateRunes(line.Join(text), maxReason), ".")
}
