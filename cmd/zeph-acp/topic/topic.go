// Package topic finds sections of the documentation by the words of a question, for "zeph-acp help".
//
// Start with [Read], and search its result with [Library.Find].
package topic

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/zeph-acp/zeph-acp/filter/text/rank"
)

// Section is a heading of a page with the text below it, up to the next heading.
type Section struct {
	Page    string // such as "undo.md"
	Title   string // of the page
	Heading string // equal to Title for the beginning of the page
	Level   int    // 1 for the beginning of the page
	Text    string // Markdown, without the heading
	asked   string // the question that the list of pages has for it
}

// Name returns what "zeph-acp help" accepts for the section, such as "undo.md#what-is-covered".
func (s Section) Name() string {
	if s.Level == 1 {
		return s.Page
	}
	return s.Page + "#" + Anchor(s.Heading)
}

// Anchor returns the part of a link after "#" that leads to a heading, as GitHub writes it.
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// Library is all sections of all pages, in the order of the pages' names.
type Library struct {
	Sections []Section
	index    *rank.Index // made by the first search
}

// Read returns the sections of the Markdown pages in a file system. README.md there is the list of the pages: rows of
// a table with a question and links to the pages or sections that answer it.
func Read(pages fs.FS) (*Library, error) {
	var l Library
	list, err := fs.ReadFile(pages, "README.md")
	if err != nil {
		return nil, err
	}
	asked := map[string]string{}
	for line := range strings.Lines(string(list)) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(cells) == 2 {
			for _, part := range strings.Split(cells[1], "](")[1:] {
				name, _, _ := strings.Cut(part, ")")
				asked[name] += strings.TrimPrefix(cells[0], "| ") + " "
			}
		}
	}
	err = fs.WalkDir(pages, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".md" || file == "README.md" {
			return err
		}
		text, err := fs.ReadFile(pages, file)
		if err == nil {
			for _, s := range split(file, string(text)) {
				s.asked = asked[s.Name()]
				l.Sections = append(l.Sections, s)
			}
		}
		return err
	})
	return &l, err
}

// split returns the sections of a page.
func split(page, text string) (all []Section) {
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		marks, heading, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case !fenced && strings.HasPrefix(line, "#") && strings.Trim(marks, "#") == "":
			s := Section{Page: page, Heading: heading, Level: len(marks), Title: heading}
			if len(all) > 0 {
				s.Title = all[0].Title
			}
			all = append(all, s)
		case len(all) > 0:
			all[len(all)-1].Text += line
		}
	}
	return all
}

// Named returns the sections by a name: the whole page for "undo.md", the section with its subsections
// for "undo.md#what-is-covered". Nil means that there are none.
func (l *Library) Named(name string) []Section {
	page, anchor, _ := strings.Cut(name, "#")
	var found []Section
	for _, s := range l.Sections {
		switch {
		case s.Page != page:
		case anchor == "", len(found) > 0 && s.Level > found[0].Level:
			found = append(found, s)
		case len(found) > 0:
			return found
		case Anchor(s.Heading) == anchor:
			found = append(found, s)
		}
	}
	return found
}

// Find returns the sections whose page, title and heading fit the words of a question best, at most so many, with at
// most one of a heading and those below it.
func (l *Library) Find(question string, most int) (found []Section) {
	if l.index == nil {
		documents := make([][]rank.Text, len(l.Sections))
		for i, s := range l.Sections {
			name := strings.TrimSuffix(path.Base(s.Page), ".md")
			documents[i] = []rank.Text{{Text: s.Heading, Weight: 2}, {Text: rank.Parts(s.Heading), Weight: 1}, {Text: s.asked, Weight: 1.5},
				{Text: s.Title + " " + name, Weight: 1}}
			if path.Dir(s.Page) == "." { // a page of reference has every word
				documents[i] = append(documents[i], rank.Text{Text: s.Text, Weight: 0.1})
			}
		}
		l.index = rank.New(documents)
	}
	words := rank.Subject(question)
	if len(words) == 0 {
		words = rank.Words(question)
	}
	scores := l.index.Score(words)
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, i := range order {
		if scores[i] == 0 || len(found) == most {
			break
		}
		s := l.Sections[i]
		if !slices.ContainsFunc(found, func(f Section) bool {
			return f.Page == s.Page && (f.Level == 1 || s.Level == 1 || f.Heading == s.Heading)
		}) {
			found = append(found, s)
		}
	}
	return found
}
