package trust

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const usage = "`/trust set SUBJECT LEVEL` sets a level, `/trust reset SUBJECT` returns to the configured one. " +
	"A subject is a tool, `server:NAME`, `skill:NAME`, or `content` (web pages). " +
	"The levels are blocked, untrusted, provisional and trusted."

// Command runs the user's command "/trust REST" and returns the reply. servers and tools are
// the names of the session's MCP servers and of its tools.
func (t *Trust) Command(rest string, servers, tools []string) string {
	words := strings.Fields(rest)
	switch {
	case len(words) == 0 || len(words) == 1 && words[0] == "list":
		return t.list(servers)
	case len(words) == 3 && words[0] == "set":
		return t.set(words[1], words[2], servers, tools)
	case len(words) == 2 && words[0] == "reset":
		return t.reset(words[1])
	}
	return "Nothing was changed. " + usage
}

func (t *Trust) set(name, word string, servers, tools []string) string {
	subject, err := subjectOf(name)
	var level Level
	if err == nil {
		err = level.UnmarshalText([]byte(word))
	}
	if err != nil {
		return fmt.Sprintf("Nothing was changed: %v. %s", err, usage)
	}
	if configured := t.configured(subject); t.tooHigh(level, configured) {
		return fmt.Sprintf("Nothing was changed: an administrator has set levels, and `%s` cannot be more than %s.", subject, configured)
	}
	t.Set(subject, level)
	return fmt.Sprintf("`%s` is now %s.%s%s", subject, level, missingNote(subject, servers, tools), t.disabledNote())
}

// missingNote returns a sentence if this session has no such tool or server: it may come later,
// or the name is misspelt.
func missingNote(subject string, servers, tools []string) string {
	if name, ok := strings.CutPrefix(subject, toolPrefix); ok && !slices.Contains(tools, name) {
		return " This session has no tool of that name."
	}
	if name, ok := strings.CutPrefix(subject, serverPrefix); ok && !slices.Contains(servers, name) {
		return " This session has no MCP server of that name."
	}
	return ""
}

func (t *Trust) reset(name string) string {
	subject, err := subjectOf(name)
	if err != nil {
		return fmt.Sprintf("Nothing was changed: %v. %s", err, usage)
	}
	t.Reset(subject)
	return fmt.Sprintf("`%s` is now %s again.", subject, t.LevelOf(subject))
}

// disabledNote returns a sentence if the levels have no effect.
func (t *Trust) disabledNote() string {
	if t.cfg.Enabled {
		return ""
	}
	return " It has no effect on calls: `[tools.trust] enabled` is false."
}

// list describes the levels in Markdown.
func (t *Trust) list(servers []string) string {
	var b strings.Builder
	for _, subject := range t.subjectsToList(servers) {
		level, why := t.explain(subject)
		fmt.Fprintf(&b, "- `%s`: %s%s\n", subject, level, why)
	}
	fmt.Fprintf(&b, "- other skills: %s; other tools: %s\n", t.cfg.Skills, Trusted)
	if level, read := t.leastRead(); read != "" {
		fmt.Fprintf(&b, "\nThis turn has read `%s`, which is %s.\n", read, level)
	}
	return b.String() + "\n" + usage + t.disabledNote()
}

// subjectsToList returns the subjects with their own level, and the servers.
func (t *Trust) subjectsToList(servers []string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := map[string]bool{content: true}
	for _, name := range servers {
		all[Server(name)] = true
	}
	for subject := range t.cfg.Levels {
		all[subject] = true
	}
	for subject := range t.overrides.Set {
		all[subject] = true
	}
	for subject := range t.overrides.Blocked {
		all[subject] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// Status returns a line for /status, or no line if every level is the configured
// one.
func (t *Trust) Status() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var parts []string
	for _, subject := range slices.Sorted(maps.Keys(t.overrides.Blocked)) {
		parts = append(parts, fmt.Sprintf("%s blocked (%s; `/trust reset %s` ends it)", subject, t.overrides.Blocked[subject], subject))
	}
	for _, subject := range slices.Sorted(maps.Keys(t.overrides.Set)) {
		if t.overrides.Blocked[subject] == "" {
			parts = append(parts, fmt.Sprintf("%s %s", subject, t.overrides.Set[subject]))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"Trust: " + strings.Join(parts, ", ")}
}
