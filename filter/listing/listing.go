package listing

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// listing shortens lists of files.
type listing struct {
	group int // number of paths beyond which those of one directory are joined
	names int // names kept of one directory
	lines int // lines kept in all
}

// newListing makes the strategy "listing" for ls, find, tree and similar
// programs. Directories of dependencies and caches become a count. Names that
// differ only by a number become one line. Common columns of a long listing are
// written once. From group paths on, the names of a directory are joined in
// braces. At most names names of a directory and lines lines in all stay.
func newListing(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		Group int `toml:"group"`
		Names int `toml:"names"`
		Lines int `toml:"lines"`
	}{Group: 200, Names: 300, Lines: 400}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if c.Group <= 0 || c.Names < 20 || c.Lines < 20 {
		return nil, fmt.Errorf("want group > 0, names >= 20 and lines >= 20")
	}
	return listing{c.Group, c.Names, c.Lines}, nil
}

func (l listing) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &listingPass{listing: l, run: run, out: out, all: text.NewLines()}
}

type listingPass struct {
	listing
	run    strategy.Run
	out    *text.Lines
	all    *text.Lines
	again  bool   // the input is the result of an earlier pass
	errors int    // consecutive complaints of one kind
	last   []byte // that kind

	seen    []byte // a directory, and where its name ends
	seenEnd int
}

// listNote begins the line that describes a shortened list.
const listNote = "(listing: "

func (p *listingPass) Line(l []byte) {
	if bytes.HasPrefix(l, []byte(listNote)) || text.IsOmission(l) {
		p.again = true
	}
	p.all.Write(l)
}

func (p *listingPass) End() strategy.Confidence {
	defer p.all.Close()
	if p.again || p.all.Count() < 3 {
		return strategy.Fallback
	}
	words := strings.Fields(p.run.Command)
	if len(words) == 0 {
		return strategy.Fallback
	}
	var err error
	done := false
	switch program := words[0]; {
	case program == "tree":
		done, err = p.tree()
	case program == "ls" || program == "dir" || program == "ll" || program == "gls" || program == "vdir":
		if done, err = p.long(); !done && err == nil {
			done, err = p.sections()
		}
	case strings.Contains(p.run.Command, "-exec") || strings.Contains(p.run.Command, " -ls") || strings.Contains(p.run.Command, "-print"+"f"):
		return strategy.Fallback
	default:
		done, err = p.paths()
	}
	if err != nil || !done {
		return strategy.Fallback
	}
	return strategy.Partial
}

// noiseDirs are directories of other people's files.
var noiseDirs = map[string]bool{
	"node_modules": true, "bower_components": true, ".git": true, ".hg": true, ".svn": true, "__pycache__": true, ".venv": true, "venv": true, ".tox": true, ".nox": true, ".mypy_cache": true,
	".pytest_cache": true, ".ruff_cache": true, ".next": true, ".nuxt": true, ".svelte-kit": true, ".turbo": true, ".parcel-cache": true, ".cache": true, ".gradle": true, ".terraform": true, "site-packages": true,
	".yarn": true, ".pnpm-store": true, ".eggs": true, "DerivedData": true, "Pods": true, ".angular": true, ".dart_tool": true, ".bundle": true, "zig-cache": true, ".zig-cache": true, "cmake-build-debug": true, "CMakeFiles": true,
}

// builtDirs are directories that often hold build output, and often a project's
// own files.
var builtDirs = map[string]bool{"target": true, "dist": true, "build": true, "out": true, "_build": true, "obj": true, "vendor": true, "coverage": true, "third_party": true}

// noiseShapes are the lengths of the names of both, by their first byte. Most
// names fit none.
var noiseShapes = func() (table [256]uint32) {
	for _, names := range []map[string]bool{noiseDirs, builtDirs} {
		for name := range names {
			table[name[0]] |= 1 << len(name)
		}
	}
	return table
}()

// noisePath returns the part of a path up to its first directory of noise,
// unless the command names that. It returns 0 if there is none. If built, build
// output is noise too.
func (p *listingPass) noisePath(path []byte, built bool) (end int) {
	dir := path[:bytes.LastIndexByte(path, '/')+1]
	if len(dir) == 0 {
		return 0
	}
	if !bytes.Equal(dir, p.seen) {
		p.seen, p.seenEnd = append(p.seen[:0], dir...), p.noiseEnd(dir, built)
	}
	return p.seenEnd
}

func (p *listingPass) noiseEnd(path []byte, built bool) (end int) {
	for at := 0; at < len(path); {
		to := bytes.IndexByte(path[at:], '/')
		if to < 0 {
			return 0
		}
		name := path[at : at+to]
		at += to + 1
		if to == 0 || to > 31 || noiseShapes[name[0]]&(1<<to) == 0 {
			continue
		}
		if (noiseDirs[string(name)] || built && builtDirs[string(name)]) && !p.named(string(name), at) {
			return at
		}
	}
	return 0
}

// named reports whether the command names a directory of noise.
func (p *listingPass) named(name string, end int) bool {
	words := strings.Fields(p.run.Command)
	for i, w := range words {
		if i == 0 || strings.ContainsAny(w, "*!") || strings.HasPrefix(w, "-") {
			continue
		}
		if prev := words[i-1]; prev == "-path" || prev == "-name" || prev == "-I" || prev == "-E" || prev == "--exclude" || prev == "-ipath" || prev == "-wholename" || prev == "-not" {
			continue
		}
		w = strings.TrimSuffix(w, "/")
		if (w == name || strings.HasSuffix(w, "/"+name) || strings.Contains(w, "/"+name+"/") || strings.HasPrefix(w, name+"/")) && end <= len(w)+3 {
			return true
		}
	}
	return false
}

// isComplaint reports whether a line is a message of the tool and not part of its
// list.
func isComplaint(l []byte) bool {
	i := bytes.Index(l[:min(len(l), 24)], []byte(": "))
	return i > 0 && bytes.IndexByte(l[:i], '/') < 0 && bytes.IndexByte(l[:i], '.') < 0 && text.Important(l) || bytes.HasPrefix(l, []byte("[fd error]"))
}

// complain writes a message of the tool. If very many lines are similar, it
// keeps some of them.
func (p *listingPass) complain(l []byte) {
	kind := l[bytes.LastIndexByte(l, ':')+1:]
	if !bytes.Equal(kind, p.last) {
		p.complained()
		p.errors, p.last = 0, append(p.last[:0], kind...)
	}
	if p.errors++; p.errors <= 10 {
		p.out.Write(l)
	}
}

func (p *listingPass) complained() {
	if more := p.errors - 10; more > 0 {
		p.out.Write(fmt.Appendf(nil, "... (%d more lines such as the one above:%s) ...", more, p.last))
	}
	p.errors, p.last = 0, p.last[:0]
}

// sections shortens the names that ls lists, of one directory or many.
func (p *listingPass) sections() (bool, error) {
	if p.all.Count() < 12 {
		return false, nil
	}
	r := nameRuns{out: p.out, max: p.names}
	skipping, changed := "", false
	count, sections := 0, 0
	skipped := func() {
		if skipping != "" && count > 0 {
			r.plain(fmt.Appendf(nil, "%s (%d names in %d directories)", skipping, count, sections))
		}
		skipping, count, sections = "", 0, 0
	}
	err := p.all.Each(func(l []byte) {
		switch {
		case len(l) == 0:
			if skipping == "" {
				r.end()
				p.out.Write(nil)
			}
			return
		case isComplaint(l):
			r.end()
			p.complain(l)
			return
		case l[len(l)-1] == ':' && (bytes.IndexByte(l, '/') >= 0 || l[0] == '.'):
			path := append(bytes.Clone(l[:len(l)-1]), '/')
			if end := p.noisePath(path, false); end > 0 && end < len(path) {
				under := string(path[:end])
				if skipping != under {
					skipped()
					r.end()
				}
				skipping, changed = under, true
				sections++
				return
			}
			skipped()
			r.end()
			r.plain(l)
			return
		}
		if skipping != "" {
			count++
			return
		}
		r.name(l)
	})
	skipped()
	r.end()
	p.complained()
	if !changed && !r.changed {
		return false, err
	}
	return true, err
}

// nameRuns writes names. It joins consecutive names that differ only by a
// number.
type nameRuns struct {
	out     *text.Lines
	max     int // names kept of one directory
	n       int // names of this directory
	omitted int
	rares   int // unusual names beyond max
	key     []byte
	next    []byte
	held    [][]byte
	count   int
	changed bool
}

// minRun is the least number of names that are joined.
const minRun = 6

func (r *nameRuns) name(l []byte) {
	if text.IsOmission(bytes.TrimLeft(l, " ")) { // of an earlier pass
		r.kept(l)
		return
	}
	r.next = appendNumberless(r.next[:0], l)
	if r.count == 0 || !bytes.Equal(r.next, r.key) || bytes.IndexByte(r.key, text.VaryingMark) < 0 || bytes.HasSuffix(l, []byte(runTail)) {
		r.flush()
		r.key, r.next = r.next, r.key
	}
	if r.count++; len(r.held) < minRun {
		r.held = append(r.held, bytes.Clone(l))
	} else {
		r.held[minRun-1] = append(r.held[minRun-1][:0], l...)
	}
}

const (
	runBetween = " … "
	runTail    = " names)"
)

// flush writes the held names.
func (r *nameRuns) flush() {
	if r.count >= minRun {
		r.line(fmt.Appendf(nil, "%s%s%s (%d%s", r.held[0], runBetween, bytes.TrimLeft(r.held[minRun-1], " "), r.count, runTail))
		r.changed = true
	} else {
		for _, l := range r.held[:min(r.count, len(r.held))] {
			r.line(l)
		}
	}
	r.held, r.count = r.held[:0], 0
}

// line writes a name.
func (r *nameRuns) line(l []byte) {
	if r.n++; r.max > 0 && r.n > r.max {
		r.omitted++
		r.changed = true
		return
	}
	r.out.Write(l)
}

// maxRare limits the names of one directory that stay because they are unusual.
const maxRare = 100

// rare writes an unusual name, whatever the number of names.
func (r *nameRuns) rare(l []byte) {
	r.flush()
	if r.max == 0 || r.n < r.max || r.rares == maxRare {
		r.line(l)
		return
	}
	r.rares++
	r.kept(l)
}

// kept writes a line that stays, whatever the number of names.
func (r *nameRuns) kept(l []byte) {
	r.flush()
	if r.omitted > 0 {
		r.out.Write(text.Omission(r.omitted))
		r.omitted = 0
	}
	r.out.Write(l)
}

// plain writes a line that is not a name.
func (r *nameRuns) plain(l []byte) {
	r.flush()
	r.out.Write(l)
}

// end ends a directory.
func (r *nameRuns) end() {
	r.flush()
	if r.omitted > 0 {
		r.out.Write(text.Omission(r.omitted))
	}
	r.n, r.omitted, r.rares = 0, 0, 0
}

// appendNumberless appends a name without its numbers.
func appendNumberless(dst, l []byte) []byte {
	for _, b := range l {
		if text.Class[b] != text.Digit {
			dst = append(dst, b)
		} else if n := len(dst); n == 0 || dst[n-1] != text.VaryingMark {
			dst = append(dst, text.VaryingMark)
		}
	}
	return dst
}
