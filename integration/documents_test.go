package integration

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	fence    = regexp.MustCompile("(?ms)^```.*?^```$")
	inline   = regexp.MustCompile("`[^`\n]*`")
	mdLink   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHead   = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	pageCite = regexp.MustCompile(`(?:^|[^\w/.-])(docs/(?:reference/)?[\w-]+\.md)(#[\w-]+)?`)
	pageName = regexp.MustCompile(`\bsee ([\w-]+\.md)`) // in the samples of docs/
)

// TestDocuments checks that each link between documents of the repository has a
// target, that the list of pages has all of them, and that Go comments cite only pages and
// sections that exist.
func TestDocuments(t *testing.T) {
	headings := map[string][]string{} // by path relative to the repository
	pages, sources := repositoryFiles(t)
	for _, page := range pages {
		headings[page] = anchors(readText(t, page))
	}
	exists := func(page, section string) bool {
		return section == "" || slices.Contains(headings[page], section)
	}
	for _, page := range pages {
		for _, name := range pageName.FindAllStringSubmatch(readText(t, page), -1) {
			if target := filepath.Join("docs", name[1]); headings[target] == nil {
				t.Errorf("%s: there is no page %s", page, name[1])
			}
		}
		text := inline.ReplaceAllString(fence.ReplaceAllString(readText(t, page), ""), "")
		for _, link := range mdLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], "://") || strings.HasPrefix(link[1], "mailto:") {
				continue
			}
			file, section, _ := strings.Cut(link[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil || !exists(target, section) {
				t.Errorf("%s: the link %s has no target", page, link[1])
			}
		}
	}
	list := readText(t, "docs/README.md")
	for _, page := range pages {
		if name, ok := strings.CutPrefix(page, "docs/"); ok && name != "README.md" && !strings.Contains(list, "]("+name+")") {
			t.Errorf("docs/README.md, the list of all pages, lacks %s", name)
		}
	}
	for _, source := range sources {
		for _, cite := range pageCite.FindAllStringSubmatch(comments(t, source), -1) {
			if _, ok := headings[cite[1]]; !ok || !exists(cite[1], strings.TrimPrefix(cite[2], "#")) {
				t.Errorf("%s: a comment cites %s%s, which does not exist", source, cite[1], cite[2])
			}
		}
	}
}

// repositoryFiles returns the Markdown pages and the Go files of the repository,
// relative to its root, without testdata and hidden directories.
func repositoryFiles(t *testing.T) (pages, sources []string) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != ".." && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel("..", path)
		switch filepath.Ext(name) {
		case ".md":
			pages = append(pages, filepath.ToSlash(rel))
		case ".go":
			sources = append(sources, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil || len(pages) == 0 || len(sources) == 0 {
		t.Fatalf("the files of the repository: %d pages, %d sources, %v", len(pages), len(sources), err)
	}
	return pages, sources
}

// readText returns the text of a file of the repository.
func readText(t *testing.T, file string) string {
	t.Helper()
	return read(t, filepath.Join("..", file))
}

// section returns the part of a page from a heading to the next one of its level.
func section(t *testing.T, file, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(readText(t, file), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", file, heading)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// comments returns the comments of a Go file.
func comments(t *testing.T, source string) string {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", source), nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, group := range f.Comments {
		b.WriteString(group.Text() + "\n")
	}
	return b.String()
}

// anchors returns the anchors that GitHub generates for the headings of a page.
func anchors(page string) []string {
	var names []string
	for _, heading := range mdHead.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, heading[1]))
	}
	return names
}
