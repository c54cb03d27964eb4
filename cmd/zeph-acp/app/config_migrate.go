package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// rename is a key or table that had another path.
type rename struct {
	old, new string
	table    bool // a table or an array of tables; else neither
}

// of reports whether it is about the value n at its old path.
func (r rename) of(n *node) bool {
	return n != nil && r.table == slices.Contains([]unstable.Kind{unstable.Table, unstable.InlineTable, unstable.ArrayTable}, n.kind)
}

// renames are the keys that older configurations know by another path. In a new
// path "[]" is an array of tables, of which the key makes the first element.
var renames = []rename{
	{"llm.provider", "llm.providers[].type", false},
	{"llm.model", "llm.providers[].model", false},
	{"llm.base_url", "llm.providers[].base_url", false},
	{"logging", "log", true},
	{"agent.max_retry_duration_secs", "tools.retry.budget_secs", false},
	{"agent.max_tool_retries", "tools.retry.max_attempts", false},
	{"memory.context_budget_tokens", "agent.context_budget_tokens", false},
	{"tools.permissions.glob", "tools.permissions.find_path", true},
	{"tools.permissions.shell", "tools.permissions.bash", true},
	{"tools.timeout", "tools.shell.timeout", false},
}

// hint tells the new path of a key.
func (r rename) hint() string {
	return fmt.Sprintf(": it is now %q (zeph-acp config migrate renames it)", r.new)
}

// renamed is the hint to an unknown key n that, or keys in which, have another
// path now.
func renamed(path string, n *node) string {
	for _, r := range renames {
		key, inside := strings.CutPrefix(r.old, path+".")
		switch {
		case r.old == path && r.of(n):
			return r.hint()
		case inside && r.of(n.child(key)):
			return fmt.Sprintf(": %s is now %q (zeph-acp config migrate renames it)", key, r.new)
		}
	}
	return ""
}

// Migration is the plan for a configuration file with old keys in it.
type Migration struct {
	File    string   // absolute; may be empty
	Found   bool     // File is there
	Changes []string // one line each, FILE:LINE first; none if there is nothing to do
	Left    []string // what stays wrong, one line each
	Refused bool     // the file stays as it is, since it would not load after the Changes

	result []byte
}

// Migrate finds the old keys of the configuration file. It changes nothing; see
// [Migration.Apply]. The migrated text is checked first: if the configuration
// would have any mistake after the changes, they are refused.
func Migrate(o Options) (*Migration, error) {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	env := environment(o.Environ)
	l := &Loaded{Paths: FindPaths(func(name string) string { return env[name] })}
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

// plan finds what there is to do for a file with that content.
func (m *Migration) plan(data []byte, env map[string]string) error {
	_, unparsed := parse(data)
	e := newEditor(data)
	m.result = e.migrate()
	if _, mistakes := parse(m.result); len(mistakes) > 0 {
		if len(unparsed) > 0 {
			return unparsed.in(m.File)
		}
		return fmt.Errorf("%s cannot be migrated: the result would be no TOML: %s", printable(m.File), mistakes[0].Text)
	}
	for _, c := range e.changes {
		m.Changes = append(m.Changes, fmt.Sprintf("%s:%d: %s", printable(m.File), c.line, c.text))
	}
	before := mistakesIn(m.File, data, env)
	after := mistakesIn(m.File, m.result, env)
	for _, mistake := range after {
		mistake.Line = e.lineBefore(mistake.Key) // people look at the file as it is
		if i := slices.IndexFunc(before, func(b Mistake) bool { return b.Key == mistake.Key && b.Text == mistake.Text }); i >= 0 {
			mistake = before[i]
		}
		m.Left = append(m.Left, mistake.Error())
	}
	for _, text := range slices.Compact(e.stays) {
		m.Left = append(m.Left, printable(m.File)+": "+text)
	}
	if len(m.Changes) > 0 && len(after) > 0 {
		m.Refused, m.result = true, data
	}
	return nil
}

// mistakesIn returns the mistakes of a file with that content, those that only
// [Loaded.Check] finds included.
func mistakesIn(file string, data []byte, env map[string]string) Mistakes {
	getenv := func(name string) string { return env[name] }
	l := &Loaded{Config: Defaults(), Paths: FindPaths(getenv), File: file, origin: map[string]string{}}
	if mistakes := l.applyFile(data); len(mistakes) > 0 {
		return mistakes
	}
	var f Findings
	l.checkScripts(&f)
	l.checkHelpers(&f)
	for i := range f.Mistakes {
		f.Mistakes[i].Where = file
	}
	return f.Mistakes
}

// Apply writes the file anew, with the mode it has, after it kept what was there
// in a new file beside it, FILE.bak or FILE.bak.1 and so on.
func (m *Migration) Apply() (backup string, err error) {
	file, err := filepath.EvalSymlinks(m.File) // a link stays one
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
	if backup, err = writeNew(m.File+".bak", data, info.Mode()); err != nil {
		return "", fmt.Errorf("keep the old configuration: %w", err)
	}
	return backup, replaceFile(file, m.result, info.Mode())
}

// writeNew writes a file that is not there yet: name, or the first of name.1,
// name.2 and so on that is free.
func writeNew(name string, data []byte, mode fs.FileMode) (file string, err error) {
	file = name
	for i := 1; ; i++ {
		err := createFile(file, data, mode)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
		file = fmt.Sprintf("%s.%d", name, i)
	}
}

// createFile writes a file that must not be there yet.
func createFile(file string, data []byte, mode fs.FileMode) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(file)
	}
	return err
}
