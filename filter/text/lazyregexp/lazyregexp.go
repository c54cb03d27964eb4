// Package lazyregexp compiles regular expressions at their first use.
//
// Why not regexp.MustCompile? It would compile a package's expressions at each start of the
// program, and most processes use few of them. [New] costs nothing at the start: the Go compiler
// puts its result into the program's data section.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression with the methods of [regexp.Regexp], which may be used
// concurrently. The first use panics if the expression is wrong.
type Regexp struct {
	expression string
	build      func() string // returns the expression, if it is made of parts
	once       sync.Once
	compiled   *regexp.Regexp
}

// New returns the expression without compiling it.
func New(expression string) *Regexp { return &Regexp{expression: expression} }

// Build returns an expression whose text build returns at the first use.
func Build(build func() string) *Regexp { return &Regexp{build: build} }

func (r *Regexp) re() *regexp.Regexp {
	r.once.Do(r.compile)
	return r.compiled
}

func (r *Regexp) compile() {
	if r.build != nil {
		r.expression = r.build()
	}
	r.compiled = regexp.MustCompile(r.expression)
}

func (r *Regexp) MatchString(s string) bool { return r.re().MatchString(s) }

func (r *Regexp) FindString(s string) string { return r.re().FindString(s) }

func (r *Regexp) FindStringIndex(s string) []int { return r.re().FindStringIndex(s) }

func (r *Regexp) FindStringSubmatch(s string) []string { return r.re().FindStringSubmatch(s) }

func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.re().FindSubmatch(b) }

func (r *Regexp) FindSubmatchIndex(b []byte) []int { return r.re().FindSubmatchIndex(b) }

func (r *Regexp) FindAllString(s string, n int) []string { return r.re().FindAllString(s, n) }

func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.re().FindAllStringIndex(s, n)
}

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.re().FindAllStringSubmatch(s, n)
}

func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.re().FindAllStringSubmatchIndex(s, n)
}

func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte { return r.re().FindAllSubmatch(b, n) }

func (r *Regexp) Split(s string, n int) []string { return r.re().Split(s, n) }

func (r *Regexp) ReplaceAllString(s, replacement string) string {
	return r.re().ReplaceAllString(s, replacement)
}

func (r *Regexp) ReplaceAllLiteralString(s, replacement string) string {
	return r.re().ReplaceAllLiteralString(s, replacement)
}

func (r *Regexp) ReplaceAllStringFunc(s string, replace func(string) string) string {
	return r.re().ReplaceAllStringFunc(s, replace)
}
