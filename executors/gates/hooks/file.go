package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
)

// Limits on a file of hooks.
const (
	maxHooks   = 256
	maxCommand = 4 << 10 // bytes of a command of a repository
	maxWords   = 4096    // words of all its commands, in all directories that they change to
)

// settings is the part of a file that concerns hooks. Other keys belong to other
// programs.
type settings struct {
	Hooks   json.RawMessage `json:"hooks"`
	Disable bool            `json:"disableAllHooks"`
}

// hookGroup is the hooks of an event that have the same matcher.
type hookGroup struct {
	Matcher string `json:"matcher"`
	Hooks   []struct {
		Type    string  `json:"type"`
		Command string  `json:"command"`
		Timeout float64 `json:"timeout"` // seconds
	} `json:"hooks"`
}

// disables reports whether a file switches all hooks off.
func disables(data []byte) bool {
	var s settings
	return json.Unmarshal(data, &s) == nil && s.Disable
}

// parse reads the hooks of the file.
func (f *file) parse(c Config) error {
	var s settings
	if err := json.Unmarshal(f.content(), &s); err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	if len(s.Hooks) == 0 || string(s.Hooks) == "null" {
		return nil
	}
	var groups map[string]json.RawMessage
	if err := json.Unmarshal(s.Hooks, &groups); err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	var other []string
	for name := range groups {
		if !slices.Contains(events, Event(name)) {
			other = append(other, name)
		}
	}
	for _, event := range events {
		if err := f.addEvent(event, groups[string(event)], c); err != nil {
			return fmt.Errorf("hooks.%s: %w", event, err)
		}
	}
	if len(other) > 0 {
		slices.Sort(other)
		f.note = "hooks of these events are not run: " + strings.Join(other, ", ")
	}
	var text bytes.Buffer
	if err := json.Indent(&text, s.Hooks, "", "  "); err != nil {
		return err
	}
	f.text = text.String()
	return nil
}

// content returns the content of the file; an empty file is an empty object.
func (f *file) content() []byte {
	if len(bytes.TrimSpace(f.data)) == 0 {
		return []byte("{}")
	}
	return f.data
}

// Check reads the user's file of hooks. mistakes are the reasons why the file or a hook in it
// cannot run, and warnings name parts without effect.
func Check(content []byte, c Config) (mistakes, warnings []string) {
	f := &file{data: content}
	if err := f.parse(c); err != nil {
		return []string{err.Error()}, nil
	}
	for _, h := range f.hooks {
		if h.broken != "" {
			mistakes = append(mistakes, fmt.Sprintf("hooks.%s: %s", h.event, h.broken))
		}
	}
	if f.note != "" {
		warnings = append(warnings, f.note)
	}
	return mistakes, warnings
}

// addEvent reads the hooks of one event.
func (f *file) addEvent(event Event, raw json.RawMessage, c Config) error {
	var groups []hookGroup
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &groups); err != nil {
			return err
		}
	}
	for _, g := range groups {
		for _, each := range g.Hooks {
			h := &hook{event: event, match: newMatcher(event, g.Matcher), command: each.Command, timeout: c.timeout(each.Timeout), file: f}
			switch {
			case each.Type != "command":
				h.command, h.broken = each.Type+" hook", fmt.Sprintf("hooks of type %q are not supported", each.Type)
			case strings.TrimSpace(each.Command) == "":
				h.broken = "it has no command"
			}
			if f.hooks = append(f.hooks, h); len(f.hooks) > maxHooks {
				return fmt.Errorf("more than %d hooks", maxHooks)
			}
		}
	}
	return nil
}

// timeout returns the time limit of a hook, from the seconds that it sets.
func (c Config) timeout(secs float64) time.Duration {
	if secs <= 0 {
		secs = float64(c.TimeoutSecs)
	}
	return time.Duration(min(secs, maxTimeout) * float64(time.Second))
}

// scripts returns the hashes of the project's files that the commands of a file name.
func (s *Session) scripts(f *file) []string {
	var out []string
	for _, h := range f.hooks {
		for _, word := range s.candidatePaths(h.command) {
			if hash, err := s.options.Script(word); err == nil {
				out = append(out, word+" "+hash)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkWords returns an error if the commands of a repository's file have too many words
// to search for scripts.
func (s *Session) checkWords(f *file) error {
	n := 0
	for _, h := range f.hooks {
		if len(h.command) > maxCommand {
			return fmt.Errorf("a command has more than %d bytes", maxCommand)
		}
		if n += len(s.candidatePaths(h.command)); n > maxWords {
			return fmt.Errorf("the commands have more than %d words", maxWords)
		}
	}
	return nil
}

// candidatePaths returns the words of a command that may be files of the project, as absolute
// paths. They are relative to the project's directory, and to those that the command
// changes to.
func (s *Session) candidatePaths(text string) []string {
	for _, name := range projectVariables {
		text = strings.ReplaceAll(text, `"$`+name+`"`, "$"+name)
		text = strings.NewReplacer("$"+name, s.options.Dir, "${"+name+"}", s.options.Dir).Replace(text)
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;|&<>()=", r) })
	bases := []string{s.options.Dir}
	for i, word := range words {
		if i > 0 && len(bases)*len(words) <= maxWords && (words[i-1] == "cd" || words[i-1] == "pushd") {
			bases = append(bases, pathname.From(bases[len(bases)-1], word))
		}
	}
	paths := s.shellPaths(text)
	for _, base := range bases {
		for _, word := range words {
			paths = append(paths, pathname.From(base, word))
		}
	}
	for _, name := range approval.Implied(words, nil) {
		paths = append(paths, pathname.From(s.options.Dir, name))
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		rel, err := filepath.Rel(s.options.Dir, path)
		return err != nil || !filepath.IsLocal(rel)
	})
}

// shellPaths returns the paths in a command as a shell reads it. It also finds paths that
// are quoted, escaped or matched by a pattern, which a split at white space would miss.
func (s *Session) shellPaths(text string) []string {
	script := command.Parse(text, command.Shell{Dir: s.options.Dir})
	if script.Err != nil {
		return nil // its words count
	}
	var out []string
	add := func(paths ...command.Path) {
		for _, p := range paths {
			for _, abs := range p.Abs {
				found, trail := []string{abs}, &follow.Trail{}
				if p.Glob {
					found, _ = follow.Files(abs, p.Glob, trail) // with an error, those found so far
				}
				for _, path := range found[:min(len(found), max(0, maxWords-len(out)))] {
					out = append(out, filepath.Clean(path))
				}
			}
		}
	}
	for _, r := range script.Redirects {
		add(r.Path())
	}
	for _, c := range script.Commands {
		if program := c.Words[0]; len(c.Dirs) > 0 && program.Glob {
			add(command.Path{Abs: []string{pathname.From(c.Dirs[0], program.Text)}, Glob: true})
		}
		add(c.Paths()...)
		add(c.Mentions()...)
	}
	return out
}
