package highlight

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"io"
	"path/filepath"
	"strings"
	"sync"

	// The definitions of chroma cover all common languages, in a form that can be read one by one.
	"github.com/alecthomas/chroma/v2"
	"github.com/dlclark/regexp2/v2"
)

//go:generate go test -run TestDefinitions . -update

// archive holds the definitions that definitions_test.go selects, and their list.
//
//go:embed languages.zip
var archive []byte

// definition is what is known of a language before its rules are read.
type definition struct {
	Name            string
	Aliases         []string `json:",omitempty"`
	Files           []string `json:",omitempty"` // patterns of file names
	Rules           string   // the rules, a file of the archive
	CaseInsensitive bool     `json:",omitempty"`
	DotAll          bool     `json:",omitempty"`
	NotMultiline    bool     `json:",omitempty"`
}

// listName is the file of the archive that lists the definitions.
const listName = "languages.json"

// languages are the lexers of all languages.
type languages struct {
	named map[string]*lexer // by names and aliases, in lower case
	all   []*lexer
}

var definitions = sync.OnceValue(func() *languages {
	regexp2.SetTimeoutCheckPeriod(limits.match / 4)
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic(err)
	}
	var list []definition
	if err := json.Unmarshal(content(files, listName), &list); err != nil {
		panic(err)
	}
	all := &languages{named: map[string]*lexer{}}
	registry := chroma.NewLexerRegistry()
	for _, d := range list {
		l := newLexer(d, files, registry)
		all.all = append(all.all, l)
		for _, name := range append(d.Aliases, d.Name) {
			all.named[strings.ToLower(name)] = l
		}
	}
	return all
})

// content returns a file of the archive, which the tests read as a whole.
func content(files *zip.Reader, name string) []byte {
	f, err := files.Open(name)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		panic(err)
	}
	return data
}

// forFile returns the lexer for a file; nil if there is none.
func (l *languages) forFile(path string) *lexer {
	name := filepath.Base(path)
	for _, lexer := range l.all {
		for _, pattern := range lexer.files {
			if ok, _ := filepath.Match(pattern, name); ok {
				return lexer
			}
		}
	}
	return nil
}

// lexer divides text by the rules of one language, which are compiled at the first use.
type lexer struct {
	files    []string // patterns
	chroma   *chroma.RegexLexer
	registry *chroma.LexerRegistry
	compiled func() chroma.CompiledRules // nil if that failed
}

// newLexer returns the lexer of a definition. It is added to the registry, where the rules of
// other languages find it.
func newLexer(d definition, files *zip.Reader, registry *chroma.LexerRegistry) *lexer {
	found := &ruleFinder{}
	config := &chroma.Config{
		Name: d.Name, Aliases: d.Aliases, CaseInsensitive: d.CaseInsensitive, DotAll: d.DotAll, NotMultiline: d.NotMultiline,
	}
	l := chroma.MustNewLexer(config, func() chroma.Rules {
		var rules chroma.Rules
		if err := xml.Unmarshal(content(files, d.Rules), &rules); err != nil {
			panic(err)
		}
		rules["the finder's"] = []chroma.Rule{{Mutator: found}}
		return rules
	})
	registry.Register(l)
	return &lexer{files: d.Files, chroma: l, registry: registry, compiled: sync.OnceValue(func() chroma.CompiledRules {
		if _, err := l.Rules(); err != nil {
			return nil
		}
		return found.rules
	})}
}

// ruleFinder is a rule that finds the compiled rules of its language and limits their time.
type ruleFinder struct{ rules chroma.CompiledRules }

// MutateLexer is called once, when the rules are compiled.
func (f *ruleFinder) MutateLexer(rules chroma.CompiledRules, state string, _ int) error {
	delete(rules, state)
	for _, all := range rules {
		for _, r := range all {
			r.Regexp.MatchTimeout = limits.match
		}
	}
	f.rules = rules
	return nil
}

// Mutate is never called.
func (f *ruleFinder) Mutate(*chroma.LexerState) error { return nil }
