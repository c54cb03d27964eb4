package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
)

// renames are the keys that had another path in older versions, and those that are gone.
// In a new path "[]" is an array of tables, and the key becomes its first element.
var renames = []toml.Rename{
	{Old: "llm.provider", New: "llm.providers[].type"},
	{Old: "llm.model", New: "llm.providers[].model"},
	{Old: "llm.base_url", New: "llm.providers[].base_url"},
	{Old: "logging", New: "log", Table: true},
	{Old: "agent.max_retry_duration_secs", New: "tools.retry.budget_secs"},
	{Old: "agent.max_tool_retries", New: "tools.retry.max_attempts"},
	{Old: "memory.context_budget_tokens", New: "agent.context_budget_tokens"},
	{Old: "tools.permissions.glob", New: "tools.permissions.find_path", Table: true},
	{Old: "tools.permissions.shell", New: "tools.permissions.bash", Table: true},
	{Old: "acp.max_queue_bytes", Gone: "the size of the queue is no longer a setting"},
	{Old: "tools.file.max_read_chars", New: "tools.file.max_output_chars", Reads: true},
	{Old: "tools.overflow.threshold", New: "tools.max_output_chars", Reads: true},
	{Old: "tools.hooks.max_timeout_secs", Gone: "no hook runs for more than an hour"},
	{Old: "tools.policy.cedar", Gone: "Cedar policies are no longer supported; write them as [[tools.policy.rules]]"},
	{Old: "tools.rewind.max_bytes", New: "tools.undo.max_bytes"},
	{Old: "tools.rewind.max_file_bytes", New: "tools.undo.max_file_bytes"},
	{Old: "tools.rewind.max_files", New: "tools.undo.max_files"},
	{Old: "tools.shell.max_snapshot_bytes", Gone: "tools.undo.max_bytes limits the copies for a rollback too"},
	{Old: "tools.timeout", New: "tools.shell.timeout"},
}

// renameHint names the new path of a key, or says why the key is gone.
func renameHint(r toml.Rename) string {
	if r.New == "" {
		return fmt.Sprintf(": %s (zeph-acp config migrate removes it)", r.Gone)
	}
	return fmt.Sprintf(": it is now %q (zeph-acp config migrate renames it)", r.New)
}

// readOldKeys moves the values of the old keys that are still read to their new paths, each with a
// warning.
func readOldKeys(d *toml.Decoder, document *toml.Node) {
	for _, r := range renames {
		if !r.Reads {
			continue
		}
		n, dropped := r.Read(document)
		switch {
		case n == nil:
		case dropped:
			d.Warnings = append(d.Warnings, toml.Mistake{Line: n.Line, Key: r.Old, Text: "has no effect, since " + r.New + " is set"})
		default:
			d.Warnings = append(d.Warnings, toml.Mistake{Line: n.Line, Key: r.Old, Text: strings.TrimPrefix(renameHint(r), ": ")})
		}
	}
}

// renamed returns a hint for the unknown key n if it, or a key in it, has a new
// path.
func renamed(path string, n *toml.Node) string {
	for _, r := range renames {
		key, inside := strings.CutPrefix(r.Old, path+".")
		switch {
		case r.Old == path && r.Of(n):
			return renameHint(r)
		case inside && r.New != "" && r.Of(n.Child(key)):
			return fmt.Sprintf(": %s is now %q (zeph-acp config migrate renames it)", key, r.New)
		}
	}
	return ""
}

// Migration is the plan to rename or remove the old keys of a configuration file.
type Migration struct {
	File      string   // absolute; may be empty
	Found     bool     // File exists
	Changes   []string // one line each, FILE:LINE first; empty if there are no old keys
	Remaining []string // mistakes that remain, one line each
	Refused   bool     // the file is left alone, since it would not load after the Changes

	result []byte
}

// Migrate finds the old keys of the configuration file. It changes nothing; see
// [Migration.Apply]. The migrated text is checked first: if the configuration
// would have any mistake after the changes, they are refused.
func Migrate(o Options) (*Migration, error) {
	env := newEnvironment(o.Environ)
	l := newLoaded(env)
	data, err := l.read(o.File, env["ZEPH_CONFIG"])
	if err != nil {
		return nil, err
	}
	m := &Migration{File: l.File, Found: l.Found}
	if !m.Found {
		return m, nil
	}
	if err := m.plan(data, env); err != nil {
		return nil, err
	}
	return m, nil
}

// plan computes the changes for a file with this content.
func (m *Migration) plan(data []byte, env environment) error {
	_, unparsed := toml.Parse(data)
	e := toml.NewEditor(data, renames)
	m.result = e.Migrate()
	if _, mistakes := toml.Parse(m.result); len(mistakes) > 0 {
		if len(unparsed) > 0 {
			return unparsed.In(m.File)
		}
		return fmt.Errorf("%s cannot be migrated: the result would not be valid TOML: %s", toml.Printable(m.File), mistakes[0].Text)
	}
	for _, c := range e.Changes {
		m.Changes = append(m.Changes, fmt.Sprintf("%s:%d: %s", toml.Printable(m.File), c.Line, c.Text))
	}
	before := mistakesIn(m.File, data, env)
	after := mistakesIn(m.File, m.result, env)
	for _, mistake := range after {
		mistake.Line = e.LineBefore(mistake.Key) // users see the file before its migration
		if i := slices.IndexFunc(before, func(b toml.Mistake) bool { return b.Key == mistake.Key && b.Text == mistake.Text }); i >= 0 {
			mistake = before[i]
		}
		m.Remaining = append(m.Remaining, mistake.Error())
	}
	for _, text := range slices.Compact(e.NotRenamed) {
		m.Remaining = append(m.Remaining, toml.Printable(m.File)+": "+text)
	}
	if len(m.Changes) > 0 && len(after) > 0 {
		m.Refused, m.result = true, data
	}
	return nil
}

// mistakesIn returns the mistakes of a file with this content, including those
// that only [Loaded.Check] finds.
func mistakesIn(file string, data []byte, env environment) toml.Mistakes {
	l := newLoaded(env)
	l.File = file
	if mistakes := l.applyFile(data); len(mistakes) > 0 {
		return mistakes
	}
	var f Findings
	l.checkScripts(&f)
	l.checkKeys(&f)
	for i := range f.Mistakes {
		f.Mistakes[i].Where = file
	}
	return f.Mistakes
}

// Apply writes the file and keeps its mode. First it copies the previous
// version to a new file next to it: FILE.bak, FILE.bak.1 and so on.
func (m *Migration) Apply() (backup string, err error) {
	file, err := filepath.EvalSymlinks(m.File) // a symbolic link is kept
	if err != nil {
		return "", err
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if backup, err = keys.WriteNew(m.File+".bak", data, info.Mode()); err != nil {
		return "", fmt.Errorf("keep the old configuration: %w", err)
	}
	return backup, keys.ReplaceFile(file, m.result, info.Mode())
}
