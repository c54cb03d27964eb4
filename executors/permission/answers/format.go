package answers

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/zeph-acp/zeph-acp/executors"
)

// header begins a new file.
const header = `# The "always" answers of permission requests, by project. Remove an entry, and you
# are asked again. A deny rule takes precedence over every entry.
`

// document is the content of the file.
type document struct {
	Project map[string]struct {
		Allow  []table `toml:"allow"`
		Reject []table `toml:"reject"`
	} `toml:"project"`
}

// table is one entry. Exactly one of its first fields is set.
type table struct {
	Command string   `toml:"command"`
	Exactly string   `toml:"exactly"`
	Host    string   `toml:"host"`
	Web     string   `toml:"web"`
	Tool    string   `toml:"tool"`
	Reads   string   `toml:"reads"`
	Dirs    []string `toml:"dirs"`
}

// entry returns the entry that a table stands for.
func (t table) entry() (Entry, error) {
	e := Entry{Dirs: t.Dirs}
	for i, covers := range []string{t.Command, t.Exactly, t.Host, t.Web, t.Tool, t.Reads} {
		switch {
		case covers == "":
		case e.Kind != "":
			return e, fmt.Errorf("an entry has either %s or %s", e.Kind, kinds[i])
		default:
			e.Kind, e.Covers = kinds[i], covers
		}
	}
	if e.Kind == "" {
		return e, errors.New("an entry has none of command, exactly, host, web, tool, reads")
	}
	return e, nil
}

// Parse returns the answers of a file, in the order of its tables. An error names the
// line; no answer is returned with it.
func Parse(data []byte) ([]Entry, error) {
	tables, err := scan(data)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, t := range tables {
		out = append(out, t.entries...)
	}
	return out, nil
}

// section is a part of the file: a table header with all lines up to the next one.
type section struct {
	text    string
	entries []Entry // of this table; at most one, apart from arrays that are written inline
}

// scan divides a file into its sections. The first one may have no header.
func scan(data []byte) ([]section, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // as some editors of Windows begin a file
	var whole document
	dec := toml.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&whole); err != nil {
		return nil, withLine(err)
	}
	var sections []section
	for _, part := range split(data) {
		if err := part.checkSpelling(); err != nil {
			return nil, fmt.Errorf("line %d: %w", part.line, err)
		}
		var doc document
		if err := toml.Unmarshal([]byte(part.text), &doc); err != nil {
			return nil, withLine(err)
		}
		found, err := doc.entries(part.line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", part.line, err)
		}
		sections = append(sections, section{part.text, found})
	}
	return sections, nil
}

// part is a text of the file that begins in a line.
type part struct {
	text string
	line int
}

// split cuts a valid file above each header of a table. Comments directly above a
// header belong to it.
func split(data []byte) []part {
	var cuts []int
	p := unstable.Parser{}
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			continue
		}
		it := e.Key()
		it.Next()
		cuts = append(cuts, startWithComments(data, int(it.Node().Raw.Offset)))
	}
	var parts []part
	from := 0
	for _, cut := range append(cuts, len(data)) {
		if cut > from {
			text := string(data[from:cut])
			above := strings.Count(string(data[:from]), "\n")
			parts = append(parts, part{text, 1 + above + leadingComments(text)})
		}
		from = cut
	}
	return parts
}

// checkSpelling returns an error for a key that differs from the right one in its case. The decoder
// accepts such a key, and of two spellings it is unclear which one counts.
func (p part) checkSpelling() error {
	var projects map[string]map[string]map[string][]map[string]any
	if err := toml.Unmarshal([]byte(p.text), &projects); err != nil {
		return err
	}
	for top, projects := range projects {
		if top != "project" {
			return unknownKey(top)
		}
		for _, lists := range projects {
			if err := checkLists(lists); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLists is checkSpelling for the lists of answers of a project.
func checkLists(lists map[string][]map[string]any) error {
	for answer, list := range lists {
		if answer != "allow" && answer != "reject" {
			return unknownKey(answer)
		}
		for _, entry := range list {
			for key := range entry {
				if key != "dirs" && !slices.Contains(kinds, Kind(key)) {
					return unknownKey(key)
				}
			}
		}
	}
	return nil
}

func unknownKey(key string) error { return fmt.Errorf("unknown key %q", key) }

// leadingComments returns the number of lines before the first one that is neither empty nor
// a comment.
func leadingComments(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return n
		}
		n++
	}
	return 0
}

// startWithComments returns the offset of the line that holds a position, or of the first of the
// comment lines directly above it.
func startWithComments(data []byte, at int) int {
	lineOf := func(at int) int { return strings.LastIndexByte(string(data[:at]), '\n') + 1 }
	from := lineOf(at)
	for from > 0 {
		above := lineOf(from - 1)
		if !strings.HasPrefix(strings.TrimSpace(string(data[above:from])), "#") {
			break
		}
		from = above
	}
	return from
}

// entries returns the entries of a part of the file that begins in a line.
func (d document) entries(line int) (out []Entry, err error) {
	for project, lists := range d.Project {
		if !filepath.IsAbs(project) {
			return nil, fmt.Errorf("%q is not an absolute path", project)
		}
		for answer, list := range map[executors.Decision][]table{executors.Allow: lists.Allow, executors.Deny: lists.Reject} {
			for _, t := range list {
				e, err := t.entry()
				if err != nil {
					return nil, err
				}
				e.Project, e.Answer, e.Line = project, answer, line
				out = append(out, e)
			}
		}
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.key(), b.key()))
	})
	return out, nil
}

// withLine adds the line to an error of the TOML decoder.
func withLine(err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		line, _ := strict.Errors[0].Position()
		return fmt.Errorf("line %d: unknown key %q", line, strings.Join(strict.Errors[0].Key(), "."))
	}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := wrong.Position()
		return fmt.Errorf("line %d: %s", line, strings.TrimPrefix(err.Error(), "toml: "))
	}
	return err
}

// appendEntries returns a file with further answers. An answer replaces an earlier one for
// the same project and extent.
func appendEntries(old []byte, added []Entry) ([]byte, error) {
	replaced := func(e Entry) bool {
		return slices.ContainsFunc(added, func(a Entry) bool { return a.Project == e.Project && a.key() == e.key() })
	}
	data, _, err := removeEntries(old, replaced)
	if err != nil {
		return nil, err
	}
	if data == nil {
		data = []byte(header)
	}
	if data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	for _, e := range added {
		if !utf8.ValidString(e.Project + e.Covers + strings.Join(e.Dirs, "")) {
			return nil, errors.New("a text that is not UTF-8 cannot be stored")
		}
		data = append(data, e.text()...)
	}
	if _, err := Parse(data); err != nil {
		return nil, fmt.Errorf("cannot be added to: %w", err)
	}
	return data, nil
}

// removeEntries returns a file without the entries for which remove returns true. The result
// is nil if old is empty.
func removeEntries(old []byte, remove func(Entry) bool) (data []byte, removed []Entry, err error) {
	sections, err := scan(old)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range sections {
		if !slices.ContainsFunc(s.entries, remove) {
			data = append(data, s.text...)
			continue
		}
		for _, e := range s.entries { // an array that is written inline becomes tables
			if remove(e) {
				removed = append(removed, e)
			} else {
				data = append(data, e.text()...)
			}
		}
	}
	if len(data) == 0 && len(old) > 0 {
		data = []byte(header)
	}
	return data, removed, nil
}

// text returns the table of an entry.
func (e Entry) text() string {
	list := map[executors.Decision]string{executors.Allow: "allow", executors.Deny: "reject"}[e.Answer]
	var b strings.Builder
	fmt.Fprintf(&b, "\n[[project.%s.%s]]\n%s = %s\n", executors.TOMLString(e.Project), list, e.Kind, executors.TOMLString(e.Covers))
	if len(e.Dirs) > 0 {
		var dirs []string
		for _, d := range e.Dirs {
			dirs = append(dirs, executors.TOMLString(d))
		}
		fmt.Fprintf(&b, "dirs = [%s]\n", strings.Join(dirs, ", "))
	}
	return b.String()
}
