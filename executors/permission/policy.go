// Package permission decides whether a call may run: it allows, asks the user or
// denies.
//
// Start with [Guard], which blocks calls that no rule can allow, and
// [Permission], which checks the rest by rules, mode and defaults. Only
// [Permission] asks the user. Both go into the chain in this order. They check
// the call's Card, not the words of the model: files by their absolute path,
// and a shell command by each simple command that it would run.
//
// It promises that the user is asked about each command that it cannot parse. A deny from any
// source overrides every other source and every earlier "always". The user is never asked about a
// call that could not run. It lets no command through that names zeph-acp's own files. It does not
// see files that a program opens without being named in the command.
//
// Why does an "always" not cover a question that a gate adds? Because the user
// answered about another case: gates add their reasons call by call.
//
// Why is the package larger than others? One verdict weighs every source against
// the others: blocked commands, paths, own files, rules, mode and defaults all
// check the same parsed command. Half of its lines are tests, most of them
// attacks on that verdict.
package permission

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// Workspace holds the session's roots; workspace.Roots implements it.
type Workspace interface {
	// Dirs lists the roots, absolute and without symlinks.
	Dirs() []string
	// Resolve returns path without symlinks, or an error if it lies outside the
	// roots.
	Resolve(path string) (string, error)
	// ResolveEntry is Resolve without following a symlink at path itself.
	ResolveEntry(path string) (string, error)
}

// Action is the decision of one source about a call.
type Action = executors.Decision

// The actions, from weak to strong. The strongest of all sources counts, except
// that a rule's allow overrides the default's ask.
const (
	Allow = executors.Allow
	Ask   = executors.Ask
	Deny  = executors.Deny
)

// Rule is one entry of [[tools.permissions.TOOL]].
type Rule struct {
	// Pattern is matched without regard to case against the whole of a simple
	// command, or of an absolute path. A pattern that does not begin with "/",
	// "~" or "*" is also tried relative to each root.
	Pattern  string   `toml:"pattern" doc:"matches one simple command, or for file tools the whole absolute path; * is any text, ? one character; letter case is ignored"`
	Action   Action   `toml:"action" oneof:"allow,ask,deny" doc:"what happens to the call"`
	Match    []string `toml:"match" doc:"examples that the rule must match; checked when the file is read"`
	NotMatch []string `toml:"not_match" doc:"examples that it must not match"`

	position string // FILE:LINE; empty means unknown
}

// SetPosition records the position of the rule: FILE:LINE.
func (r *Rule) SetPosition(at string) { r.position = at }

// Mode is a working mode of the agent.
type Mode struct {
	ID, Name, Description string
	readOnly              bool // the agent changes nothing
	editsUnasked          bool // files inside the roots may be changed without permission
	usesArbiter           bool // a model answers questions in the user's place
}

// Modes lists the modes, the strictest first.
func Modes() []Mode {
	return []Mode{
		{ID: "ask", Name: "Ask", Description: "Reads and answers; changes nothing.", readOnly: true},
		{ID: "architect", Name: "Architect", Description: "Reads and makes plans; changes nothing.", readOnly: true},
		{ID: "code", Name: "Code", Description: "Changes files and runs commands, with your permission."},
		{ID: "auto", Name: "Auto", Description: "Changes files without asking; runs commands with your permission.", editsUnasked: true},
		{ID: "auto-judge", Name: "Auto, judged", Description: "Changes files without asking; a model decides about commands and asks you if it is unsure.", editsUnasked: true, usesArbiter: true},
	}
}

// mode returns the mode of that id. An unknown id has the strictest mode.
func mode(id string) Mode {
	for _, m := range Modes() {
		if m.ID == id {
			return m
		}
	}
	return Modes()[0]
}

// verdict is a decision with its reason, for the decision record and the user.
type verdict struct {
	action   Action
	why      string
	pattern  string // of the rule that decided; empty if no rule did
	byMode   bool   // another mode could decide otherwise
	userText string // to people instead of why; empty means why
	position string // FILE:LINE of the rule that decided; empty if unknown
	key      string // the list that has the rule: tools.permissions.TOOL, or the project's file
}

// userVerdict returns the verdict of a rule in the user's configuration that matches.
func (r Rule) userVerdict(tool string) verdict {
	return r.verdict("tools.permissions." + tool)
}

// projectFile is the file of the repository's own rules.
const projectFile = "the project's .zeph/config.toml"

// repositoryVerdict returns the verdict of a rule in the repository's file that matches.
func (r Rule) repositoryVerdict() verdict { return r.verdict(projectFile) }

// verdict returns the verdict of a rule of a list.
func (r Rule) verdict(key string) verdict {
	why := fmt.Sprintf("rule %q of %s", r.Pattern, key)
	return verdict{action: r.Action, why: why, pattern: r.Pattern, position: r.position, key: key}
}

// stronger returns the stronger of two verdicts.
func (v verdict) stronger(o verdict) verdict {
	rank := map[Action]int{Allow: 1, Ask: 2, Deny: 3}
	if rank[o.action] > rank[v.action] {
		return o
	}
	return v
}

// quote shows a command to people, on one line.
func quote(s string) string {
	return "`" + line.Join(s) + "`"
}
