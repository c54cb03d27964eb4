package code

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// language has the patterns of a programming language. Most definitions begin on a line
// with a keyword before the name.
type language struct {
	names string // extensions and names of files, separated by spaces
	// keywords are the words that may stand directly before a defined name; "*" means
	// any word except neverBeforeName.
	keywords       string
	before         string // other bytes that may be before a defined name
	prose          bool   // text with headings
	unchecked      bool   // a definition needs no check before its pattern
	comments       string // beginnings of lines that define nothing, separated by spaces
	typeFirst      bool   // the type is before the name
	indentedLocals bool   // indented variables belong to a function
	typeLine       string // regex of a line that begins a type; its group is the name
	patterns       []pattern

	once          sync.Once
	exprs         []*regexp.Regexp // of patterns
	typeLineRE    *regexp.Regexp   // of typeLine
	commentStarts [][]byte         // of comments
	words         map[string]bool  // of keywords
}

// pattern is a regex of a line that defines a name. Its groups are "name", and where they
// apply "kind", the keyword, and "in", the container.
type pattern struct {
	kind string // "" means the group "kind"
	expr string
}

// definition is a definition on one line.
type definition struct {
	kind, container, name string
	end                   int  // of the name in the line
	declares              bool // it may lack a body
}

// kinds are the kinds of definitions whose keyword is another word.
var kinds = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"def":          "func",
		"defp":         "func",
		"fn":           "func",
		"function":     "func",
		"sub":          "func",
		"rpc":          "method",
		"defn":         "func",
		"defn-":        "func",
		"let":          "var",
		"val":          "var",
		"static":       "var",
		"mod":          "module",
		"defmodule":    "module",
		"package":      "module",
		"record":       "class",
		"data":         "type",
		"newtype":      "type",
		"typealias":    "type",
		"typedef":      "type",
		"actor":        "class",
		"mixin":        "class",
		"defprotocol":  "protocol",
		"message":      "struct",
		"input":        "struct",
		"union":        "struct",
		"service":      "interface",
		"scalar":       "type",
		"concept":      "type",
		"defmacro":     "macro",
		"defmacrop":    "macro",
		"macro_rules!": "macro",
		"@interface":   "interface",
		"extension":    "type",
		"procedure":    "func",
		"defvar":       "var",
		"defparameter": "var",
		"defconstant":  "const",
		"defclass":     "class",
		"defun":        "func",
		"defgeneric":   "func",
	}
})

// neverBeforeName are words that are before a use of a name, and not before its
// definition.
var neverBeforeName = sync.OnceValue(func() map[string]bool {
	return setOf("and as assert await case defer delete do echo elif else from go goto if import in include instanceof is " +
		"match new not of or print raise require return sizeof then throw typeof when while with yield")
})

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// byName returns the languages by the extensions and names of their files.
var byName = sync.OnceValue(func() map[string]*language {
	m := map[string]*language{}
	for i := range languages {
		for _, name := range strings.Fields(languages[i].names) {
			m[name] = &languages[i]
		}
	}
	return m
})

// script is the language of a file that must be read to find it.
var script language

// languageByName returns the language of a file by its name; nil means that it is
// unknown.
func languageByName(file string) *language {
	base := path.Base(file)
	if l := byName()[base]; l != nil {
		return l
	}
	ext := path.Ext(base)
	if ext == "" {
		return &script
	}
	return byName()[strings.ToLower(ext)]
}

// languageOf returns the language of a file; nil means that it is unknown.
func languageOf(file string, data []byte) *language {
	l := languageByName(file)
	if l != &script {
		return l
	}
	if first, ok := bytes.CutPrefix(data, []byte("#!")); ok {
		first, _, _ = bytes.Cut(first, []byte("\n"))
		for _, i := range interpreters {
			if bytes.Contains(first, []byte(i[0])) {
				return byName()[i[1]]
			}
		}
	}
	return nil
}

// interpreters are the extensions of scripts without one, by the programs that run them.
var interpreters = [...][2]string{
	{"python", ".py"},
	{"ruby", ".rb"},
	{"perl", ".pl"},
	{"node", ".js"},
	{"lua", ".lua"},
	{"php", ".php"},
	{"elixir", ".ex"},
	{"sh", ".sh"},
}

func (l *language) isGo() bool { return l != nil && strings.HasPrefix(l.names, ".go") }

func (l *language) isProse() bool { return l != nil && l.prose }

// prepare compiles the patterns when a language is first met.
func (l *language) prepare() {
	l.once.Do(func() {
		for _, p := range l.patterns {
			l.exprs = append(l.exprs, regexp.MustCompile(p.expr))
		}
		if l.typeLine != "" {
			l.typeLineRE = regexp.MustCompile(l.typeLine)
		}
		for _, c := range strings.Fields(l.comments) {
			l.commentStarts = append(l.commentStarts, []byte(c))
		}
		l.words = setOf(l.keywords)
	})
}

// mayDefine reports whether a name that includes the byte at of a line may be defined
// there. It is a quick check, by the word before the name.
func (l *language) mayDefine(line []byte, at int) bool {
	if l.unchecked {
		return true
	}
	before := bytes.TrimRight(line[:wordStart(line, at)], " \t")
	if len(before) == 0 {
		return true
	}
	last, _ := utf8.DecodeLastRune(before)
	if !isWord(last) && last != '!' {
		return strings.ContainsRune(l.before, last)
	}
	word := before[bytes.LastIndexFunc(before, func(r rune) bool { return !isWord(r) && r != '!' && r != '-' })+1:]
	l.prepare()
	return l.words[string(word)] || l.words["*"] && !neverBeforeName()[string(word)]
}

// wordStart returns the offset at which the word that ends before the byte at, or
// includes it, begins.
func wordStart(line []byte, at int) int {
	for at > 0 {
		r, size := utf8.DecodeLastRune(line[:at])
		if !isWord(r) {
			break
		}
		at -= size
	}
	return at
}

// isComment reports whether a line begins with a comment.
func (l *language) isComment(line []byte) bool {
	if l == nil {
		return false
	}
	l.prepare()
	start := bytes.TrimLeft(line, " \t")
	return slices.ContainsFunc(l.commentStarts, func(c []byte) bool { return bytes.HasPrefix(start, c) })
}

// definition returns the definition on a line.
func (l *language) definition(line []byte) (definition, bool) {
	l.prepare()
	if l.isComment(line) {
		return definition{}, false
	}
	for i, re := range l.exprs {
		m := re.FindSubmatchIndex(line)
		if m == nil {
			continue
		}
		d := definition{kind: l.patterns[i].kind}
		for g, name := range re.SubexpNames() {
			if name == "" || m[2*g] < 0 {
				continue
			}
			text := string(line[m[2*g]:m[2*g+1]])
			switch name {
			case "kind":
				d.kind = strings.ToLower(text)
			case "name":
				d.name, d.end = text, m[2*g+1]
			case "in":
				d.container = strings.Trim(text, ".:#")
			}
		}
		if neverBeforeName()[d.name] || d.name == "" {
			continue
		}
		if k, ok := kinds()[d.kind]; ok {
			d.kind = k
		}
		d.declares = l.typeFirst && d.kind == "func"
		return d, true
	}
	return definition{}, false
}

// container returns the regex of a line that begins a type.
func (l *language) container() *regexp.Regexp {
	l.prepare()
	return l.typeLineRE
}
