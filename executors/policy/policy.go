// Package policy decides whether a call may run: it allows, asks the user or
// denies.
//
// Start with [Guard], which blocks what no rule can allow, and [Permission],
// which judges the rest by rules, mode and defaults and is the only one that
// asks. Both go into the chain in this order. They judge what would happen, the
// call's Card, and never the words in which the model asked for it: files by
// their absolute path, a shell command by each simple command that it would run.
//
// It promises that what it cannot parse is asked about, that a deny from any
// source holds whatever another source or an earlier "always" says, that nobody
// is asked about a call that could not run, and that no command which names
// zeph-acp's own files gets through. What a program finds by itself it cannot see.
//
// Why does an "always" not cover what a gate wants asked? Because the user said
// it of another case: gates add their reasons call by call.
package policy

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// Workspace is what policy needs to know of the session's roots;
// workspace.Roots fits.
type Workspace interface {
	// Dirs lists the roots, absolute and without symlinks.
	Dirs() []string
	// Resolve returns path without symlinks, or an error if it lies outside the
	// roots.
	Resolve(path string) (string, error)
	// ResolveEntry is Resolve, but a symlink at path itself is not followed.
	ResolveEntry(path string) (string, error)
}

// Action is what a source says of a call.
type Action string

// The actions, from weak to strong; the strongest of all sources counts, except
// that a rule's allow is stronger than the default's ask.
const (
	Allow Action = "allow"
	Ask   Action = "ask"
	Deny  Action = "deny"
)

// Rule is one entry of [[tools.permissions.TOOL]].
type Rule struct {
	// Pattern is matched without regard to case against the whole of a simple
	// command, or of an absolute path; a pattern that does not begin with "/",
	// "~" or "*" is also taken from the roots. "*" is any text, "/" included;
	// "?" one character; "[a-z]" one of these.
	Pattern string `toml:"pattern"`
	// Action is allow, ask or deny.
	Action Action `toml:"action"`
}

// Mode is a way for the agent to work.
type Mode struct {
	ID, Name, Description string
	readOnly              bool // nothing is changed
	edits                 bool // files inside the roots are changed without asking
}

// Modes lists the modes, the one that allows least first.
func Modes() []Mode {
	return []Mode{
		{ID: "ask", Name: "Ask", Description: "Looks and answers; changes nothing.", readOnly: true},
		{ID: "architect", Name: "Architect", Description: "Looks and makes plans; changes nothing.", readOnly: true},
		{ID: "code", Name: "Code", Description: "Changes files and runs commands, with your permission."},
		{ID: "auto", Name: "Auto", Description: "Changes files without asking; runs commands with your permission.", edits: true},
	}
}

// mode returns the mode of that id; what is not known allows least.
func mode(id string) Mode {
	for _, m := range Modes() {
		if m.ID == id {
			return m
		}
	}
	return Modes()[0]
}

// verdict is a decision and why it was made, for the audit log and the user.
type verdict struct {
	action  Action
	why     string
	pattern string // of the user's rule that says so, if one does
	byMode  bool   // another mode would not deny it
	said    string // to people instead of why; empty means why
}

// stronger returns the verdict that counts of two.
func (v verdict) stronger(o verdict) verdict {
	rank := map[Action]int{Allow: 1, Ask: 2, Deny: 3}
	if rank[o.action] > rank[v.action] {
		return o
	}
	return v
}

// parsed is a command that is judged, parsed once for both links.
type parsed struct {
	text   string
	script *command.Script
	err    error
}

func parse(text, dir, home string) parsed {
	s, err := command.Parse(text, command.Shell{Dir: dir, Home: home})
	return parsed{text: text, script: s, err: err}
}

// quote shows a command to people, on one line.
func quote(s string) string {
	return "`" + strings.Join(strings.Fields(s), " ") + "`"
}
