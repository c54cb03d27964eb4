package listing

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// listing shortens lists of files.
type listing struct {
	groupAbove int // number of paths beyond which the paths of one directory are joined
	maxNames   int // names kept of one directory
	maxLines   int // lines kept in all
}

// newListing makes the strategy "listing" for ls, find, tree and similar
// programs. Directories of dependencies and caches become a count. Names that
// differ only by a number become one line. Common columns of a long listing are
// written once.
//
// Lists of more than group paths join the names of a directory in braces. The
// parameter names limits the names of one directory, and lines the lines in all.
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
	return &listingPass{listing: l, run: run, out: out, input: text.NewLines()}
}

// listingPass collects one list and shortens it at its end.
type listingPass struct {
	listing
	run            strategy.Run
	out            *text.Lines
	input          *text.Lines // all lines
	filteredBefore bool        // the input is the result of an earlier pass
	complaints     int         // consecutive complaints of one kind
	complaintKind  []byte      // the text after their last colon

	buildIsNoise bool // the directories of buildDirs are noise too

	// The last argument and result of noiseEnd.
	cachedDir []byte
	cachedEnd int
}

// listNotePrefix begins the line that describes a shortened list.
const listNotePrefix = "(listing: "

func (p *listingPass) Line(l []byte) {
	if in := bytes.TrimLeft(l, " "); bytes.HasPrefix(l, []byte(listNotePrefix)) || text.IsOmission(in) || text.IsFolded(in) {
		p.filteredBefore = true
	}
	p.input.Write(l)
}

func (p *listingPass) End() strategy.Confidence {
	defer p.input.Close()
	if p.filteredBefore || p.input.Count() < 3 {
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
		done, err = p.writeTree()
	case program == "ls" || program == "dir" || program == "ll" || program == "gls" || program == "vdir":
		if done, err = p.writeLong(); !done && err == nil {
			done, err = p.writeSections()
		}
	case strings.Contains(p.run.Command, "-exec") || strings.Contains(p.run.Command, "-printf"):
		return strategy.Fallback
	case (program == "find" || program == "gfind") && strings.Contains(p.run.Command, " -ls"):
		done, err = p.writeLong()
	default:
		done, err = p.writePaths()
	}
	if err != nil || !done {
		return strategy.Fallback
	}
	return strategy.Partial
}

// noiseDirs are directories of other people's files.
var noiseDirs = setOf(
	"node_modules", "bower_components", ".git", ".hg", ".svn", "__pycache__", ".venv", "venv", ".tox",
	".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".next", ".nuxt", ".svelte-kit", ".turbo",
	".parcel-cache", ".cache", ".gradle", ".terraform", "site-packages", ".yarn", ".pnpm-store", ".eggs",
	"DerivedData", "Pods", ".angular", ".dart_tool", ".bundle", "zig-cache", ".zig-cache",
	"cmake-build-debug", "CMakeFiles",
)

// buildDirs are directories that often hold build output, and often a project's
// own files.
var buildDirs = setOf(
	"target", "dist", "build", "out", "_build", "obj", "vendor", "coverage", "third_party",
)

// setOf returns a function that returns the set of names, which it makes at the first call.
func setOf(names ...string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := make(map[string]bool, len(names))
		for _, name := range names {
			set[name] = true
		}
		return set
	})
}

// noiseNameLengths holds the lengths of these names as bits, by the first byte of the
// names. The quick test excludes most names.
var noiseNameLengths = sync.OnceValue(func() *[256]uint32 {
	var table [256]uint32
	for _, names := range []map[string]bool{noiseDirs(), buildDirs()} {
		for name := range names {
			table[name[0]] |= 1 << len(name)
		}
	}
	return &table
})

// noisePath returns the end of a path's first directory of noise that the command does
// not name, or 0.
func (p *listingPass) noisePath(path []byte) (end int) {
	dir := path[:bytes.LastIndexByte(path, '/')+1]
	if len(dir) == 0 {
		return 0
	}
	if !bytes.Equal(dir, p.cachedDir) {
		p.cachedDir, p.cachedEnd = append(p.cachedDir[:0], dir...), p.noiseEnd(dir)
	}
	return p.cachedEnd
}

// noiseEnd is noisePath for a directory that is not cached.
func (p *listingPass) noiseEnd(path []byte) (end int) {
	for at := 0; at < len(path); {
		to := bytes.IndexByte(path[at:], '/')
		if to < 0 {
			return 0
		}
		name := path[at : at+to]
		at += to + 1
		if to == 0 || to > 31 || noiseNameLengths()[name[0]]&(1<<to) == 0 {
			continue
		}
		if (noiseDirs()[string(name)] || p.buildIsNoise && buildDirs()[string(name)]) && !p.isNamedByCommand(string(name), at) {
			return at
		}
	}
	return 0
}

// isNamedByCommand reports whether the command names a directory of noise.
func (p *listingPass) isNamedByCommand(name string, end int) bool {
	words := strings.Fields(p.run.Command)
	for i, w := range words {
		if i == 0 || strings.ContainsAny(w, "*!") || strings.HasPrefix(w, "-") {
			continue
		}
		switch words[i-1] {
		case "-path", "-ipath", "-wholename", "-name", "-not", "-I", "-E", "--exclude": // w is a pattern
			continue
		}
		w = strings.TrimSuffix(w, "/")
		if (w == name || strings.HasSuffix(w, "/"+name) || strings.Contains(w, "/"+name+"/") || strings.HasPrefix(w, name+"/")) &&
			end <= len(w)+3 {
			return true
		}
	}
	return false
}

// isComplaint reports whether a line is a message of the tool and not part of its
// list.
func isComplaint(l []byte) bool {
	i := bytes.Index(l[:min(len(l), 24)], []byte(": "))
	return i > 0 && bytes.IndexByte(l[:i], '/') < 0 && bytes.IndexByte(l[:i], '.') < 0 && text.Important(l) ||
		bytes.HasPrefix(l, []byte("[fd error]"))
}

// addComplaint writes a message of the tool. If very many lines are similar, it
// keeps some of them.
func (p *listingPass) addComplaint(l []byte) {
	kind := l[bytes.LastIndexByte(l, ':')+1:]
	if !bytes.Equal(kind, p.complaintKind) {
		p.endComplaints()
		p.complaints, p.complaintKind = 0, append(p.complaintKind[:0], kind...)
	}
	if p.complaints++; p.complaints <= maxComplaints {
		p.out.Write(l)
	}
}

// endComplaints writes how many similar messages are left out.
func (p *listingPass) endComplaints() {
	if more := p.complaints - maxComplaints; more > 0 {
		p.out.Write(fmt.Appendf(nil, "... (%s such as the one above:%s) ...", quantity.Count(more, "more line"), p.complaintKind))
	}
	p.complaints, p.complaintKind = 0, p.complaintKind[:0]
}

// writeSections shortens the names that ls lists, of one directory or many.
func (p *listingPass) writeSections() (bool, error) {
	if p.input.Count() < 12 {
		return false, nil
	}
	r := nameRuns{out: p.out, maxNames: p.maxNames}
	skipping, changed := "", false
	count, sections := 0, 0
	skipped := func() {
		if skipping != "" && count > 0 {
			r.otherLine(fmt.Appendf(nil, "%s (%s in %s)", skipping, quantity.Count(count, "name"), quantity.Count(sections, "directory")))
		}
		skipping, count, sections = "", 0, 0
	}
	err := p.input.Each(func(l []byte) {
		switch {
		case len(l) == 0:
			if skipping == "" {
				r.endDirectory()
				p.out.Write(nil)
			}
			return
		case isComplaint(l):
			r.endDirectory()
			p.addComplaint(l)
			return
		case l[len(l)-1] == ':' && (bytes.IndexByte(l, '/') >= 0 || l[0] == '.'):
			path := append(bytes.Clone(l[:len(l)-1]), '/')
			if end := p.noisePath(path); end > 0 && end < len(path) {
				under := string(path[:end])
				if skipping != under {
					skipped()
					r.endDirectory()
				}
				skipping, changed = under, true
				sections++
				return
			}
			skipped()
			r.endDirectory()
			r.otherLine(l)
			return
		}
		if skipping != "" {
			count++
			return
		}
		r.addName(l)
	})
	skipped()
	r.endDirectory()
	p.endComplaints()
	if !changed && !r.changed {
		return false, err
	}
	return true, err
}
