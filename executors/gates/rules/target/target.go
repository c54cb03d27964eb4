// Package target lists what a call concerns: files, addresses and commands, for
// rules that check a call by them.
//
// Start with [Of]. It uses the card of the call and the parsed command, and the
// input where the card says nothing, as with tools of MCP servers. Each file has the
// names by which the call mentions it and the places where these lead.
//
// It promises that each file that the call names is among the targets under its real path. A part
// of the call that only the running command can determine is reported as unknown. A file that a
// program opens without being told to is not a target.
package target

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
)

// Session is the surroundings of a call.
type Session struct {
	Cwd  string // absolute; relative paths of inputs start here
	Home string // absolute; empty means unknown
	// Roots are further directories in which foreign tools may look for relative names.
	Roots []string
}

// Targets are the subjects of one call.
type Targets struct {
	// Parts are checked separately: the simple commands of a script, and one part
	// for anything else.
	Parts []Part
	// Texts are all texts of the input.
	Texts []string
	// Unknown says why a target of the call cannot be determined; empty means that
	// all targets are known.
	Unknown string
}

// Part is one simple command, the redirections of a script, or a call that runs no
// command.
type Part struct {
	Command *command.Command // nil if the part is not a command
	Texts   []string         // of the command, first as written; or of the whole input
	// DenyOnly means that the part can only lead to a deny: what the input of a foreign tool may mean.
	DenyOnly bool
	// Computed means that only the running shell can determine a word of the
	// command.
	Computed bool
	Files    []File
	URLs     []URL
}

// Guess reports whether the part is a guess, which can only be a reason to refuse.
func (p Part) Guess() bool { return p.DenyOnly || p.Command != nil && p.Command.Guess }

// File is a file or directory.
type File struct {
	Names []string // absolute, cleaned: as the call names it, links not followed
	// Places are where the names lead: absolute, without links, more than one for a
	// pattern. There are none if another File has them.
	Places []string
	Below  bool // the call also concerns everything below it
}

// maxTargets bounds the files and addresses of one call.
const maxTargets = 4096

// Of returns the targets of a prepared call.
func Of(call *executors.Call, s Session) Targets {
	values := inputValues(call.Input)
	t := Targets{Texts: values.texts}
	switch {
	case values.err != nil:
		t.Unknown = "the input is not an object: " + values.err.Error()
	case call.Card.Script != nil:
		t.script(call.Card.Script, s)
	default:
		t.Parts = []Part{t.inputPart(call, values, s)}
	}
	if call.Server() != "" {
		t.foreign(call, s)
	}
	if v := values.duplicate; v != "" && t.Unknown == "" { // programs differ in which of the two they use
		t.Unknown = "the input has " + v + " twice"
	}
	count := 0
	for _, p := range t.Parts {
		if !p.DenyOnly {
			count += 1 + len(p.Files) + len(p.URLs)
		}
	}
	if count > maxTargets {
		t.Unknown = "it has too many targets"
	}
	return t
}

// inputPart returns the part of a call that runs no command. Tools of our own report
// their files and addresses in the card; the input adds the names that the model
// used. For tools of servers there is only the input.
func (t *Targets) inputPart(call *executors.Call, v values, s Session) Part {
	p, card := Part{Texts: t.Texts}, call.Card
	for _, place := range card.Paths {
		p.Files = append(p.Files, File{Names: []string{place}, Places: []string{place}, Below: descends(card, call.Spec) && isDir(place)})
	}
	if u, ok := parseURL(card.URL); ok {
		p.URLs = append(p.URLs, u)
	}
	ours := len(card.Paths) > 0 || card.URL != ""
	texts := v.named
	if !ours && call.Server() != "" {
		texts = append(texts, v.pathLike...)
	}
	for _, text := range texts {
		u, isURL := parseURL(text)
		switch {
		case isURL:
			p.URLs = append(p.URLs, u)
		case !ours:
			p.Files = append(p.Files, fileNamed(text, s))
		case card.URL == "": // the card has the place
			p.Files = append(p.Files, File{Names: []string{filepath.Clean(absolute(text, s))}})
		}
	}
	return p
}

// descends reports whether a tool of our own also reads or changes the files below
// a directory that it names.
func descends(card executors.Card, tool executors.Tool) bool {
	switch cmp.Or(card.Kind, tool.Kind) {
	case executors.KindSearch, executors.KindMove, executors.KindDelete, executors.KindEdit:
		return true
	}
	return false
}

// fileNamed returns the file that a text of the input names.
func fileNamed(text string, s Session) File {
	abs := absolute(text, s)
	return File{Names: []string{filepath.Clean(abs)}, Places: places(abs), Below: isDir(abs)}
}

// values are the parts of an input.
type values struct {
	texts     []string // all texts
	named     []string // texts of parameters whose name says that they are files or addresses
	pathLike  []string // other texts that have the form of one
	duplicate string   // a member that an object has twice
	err       error
}

func inputValues(input json.RawMessage) values {
	var v values
	if len(input) == 0 {
		return v
	}
	if v.err = json.Unmarshal(input, &map[string]json.RawMessage{}); v.err == nil {
		v.read(json.NewDecoder(bytes.NewReader(input)), "")
	}
	return v
}
