package filecommand

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax" // quotes words for bash

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/agent/frontmatter"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
)

// Prompt is the prompt of a command.
type Prompt struct {
	Parts []Part
	// Bounds returns the failure of a prepared call that the command does not permit, or
	// nil; nil permits every call.
	Bounds func(*executors.Call) *executors.Failure
}

// Part is a part of a prompt: a text, a command or a file.
type Part struct {
	Text    string
	Command string // of the shell; its output is the text
	File    string // an absolute path, with a separator at its end if it is a directory
	Name    string // of File, relative to the session's directory
}

// maxPrompt limits a prompt in bytes: a short file can repeat a long argument many times.
const maxPrompt = 1 << 20

// tooLong reports whether the prompt of a command could exceed maxPrompt.
func (f file) tooLong(rest string) bool {
	return len(f.body)+len(placeholder.FindAllStringIndex(f.body, -1))*len(rest) > maxPrompt
}

// The marks in the text of a command.
var (
	shellLine   = lazyregexp.New("(?m)(?:^|[ \t(])(!`([^`\n]+)`)")
	fileMark    = lazyregexp.New("(?m)(?:^|[ \t(])@([^\\s`]+)")
	placeholder = lazyregexp.New(`\$(?:ARGUMENTS|[1-9])\b`)
)

// prompt returns the prompt of a command with the text that the user typed after it. Only
// marks in the file itself count, not those in the typed text.
func (s *Set) prompt(f file, rest string) Prompt {
	p := Prompt{Bounds: s.bounds(f)}
	plain := arguments{rest, strings.Fields(rest)}
	shell := plain.quoted()
	text := func(s string) {
		if s = plain.fill(s); strings.TrimSpace(s) != "" { // providers refuse blank texts
			p.Parts = append(p.Parts, Part{Text: s})
		}
	}
	at := 0
	for _, m := range shellLine.FindAllStringSubmatchIndex(f.body, -1) {
		text(f.body[at:m[2]])
		if line := shell.fill(f.body[m[4]:m[5]]); strings.TrimSpace(line) != "" {
			p.Parts = append(p.Parts, Part{Command: line})
		}
		at = m[3]
	}
	text(f.body[at:])
	if rest != "" && !placeholder.MatchString(f.body) {
		p.Parts = append(p.Parts, Part{Text: "The user adds: " + rest})
	}
	p.Parts = append(p.Parts, s.files(f.body, plain)...)
	return p
}

// arguments are the texts of the placeholders.
type arguments struct {
	all   string
	words []string
}

// fill replaces the placeholders in a text.
func (a arguments) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(mark string) string {
		if mark == "$ARGUMENTS" {
			return a.all
		}
		if i := int(mark[1] - '1'); i < len(a.words) {
			return a.words[i]
		}
		return ""
	})
}

// quoted returns the arguments for a command of the shell: each is one word of it.
func (a arguments) quoted() arguments {
	words := make([]string, len(a.words))
	for i, w := range a.words {
		words[i] = quoted(w)
	}
	return arguments{strings.Join(words, " "), words}
}

// quoted returns a word as bash reads it back.
func quoted(word string) string {
	q, err := syntax.Quote(word, syntax.LangBash)
	if err != nil { // a byte that no word can have
		return "''"
	}
	return q
}

// files returns the files that a text names as @PATH and that exist, each once.
func (s *Set) files(body string, args arguments) (parts []Part) {
	for _, m := range fileMark.FindAllStringSubmatch(body, -1) {
		name := strings.TrimRight(args.fill(m[1]), ".,;:!?)'\"")
		if !filepath.IsLocal(name) {
			continue
		}
		path := filepath.Join(s.options.Dir, name)
		exists, dir := s.options.Stat(path)
		if dir {
			path += string(filepath.Separator)
		}
		if part := (Part{File: path, Name: name}); exists && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return parts
}

// bounds returns the limits on the calls of a turn.
func (s *Set) bounds(f file) func(*executors.Call) *executors.Failure {
	if f.tools == nil {
		return nil
	}
	allowed := skills.ParseAllowed(f.tools, s.options.Dir, s.options.Known())
	return func(call *executors.Call) *executors.Failure {
		if allowed.Permits(call) {
			return nil
		}
		listed := strings.Join(f.tools, ", ")
		if listed == "" {
			listed = "no tool"
		}
		return executors.Failuref(executors.PolicyBlocked, "the command /%s does not allow this call: its allowed-tools are %s", f.Name, listed).
			Hint("Do the task with the calls that it allows, or report what is missing.")
	}
}

// hint returns the hint for the arguments of a command: the declared one, or a general
// one if its text has placeholders.
func hint(declared frontmatter.Value, body string) string {
	if text := declared.Text(); text != "" || !placeholder.MatchString(body) {
		return text
	}
	return "[arguments]"
}
