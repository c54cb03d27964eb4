package listing

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// pathDir is a directory of a list of paths.
type pathDir struct {
	path          string
	names         [][]byte       // names in the directory, in order
	isNoise       bool           // a directory of noise: its paths are only counted
	paths         int            // number of paths in a directory of noise
	packages      []string       // packages in it, in order
	packageCounts map[string]int // number of paths by package
}

// Limits of a list of paths.
const (
	maxDirs       = 20_000   // directories in memory
	maxPathBytes  = 16 << 20 // names in memory, in bytes
	minNoisePaths = 5        // minimum number of paths in a directory of noise that is only counted
	minBuildPaths = 60       // the same for a directory of buildDirs
)

// pathBase returns the name of a directory without its parents.
func pathBase(dir string) string {
	dir = strings.TrimSuffix(dir, "/")
	return dir[strings.LastIndexByte(dir, '/')+1:]
}

// pathCount holds the numbers of lines of a list of paths, by kind.
type pathCount struct {
	paths, otherLines, complaints int

	counts, zeroCounts int // paths with a count after them, as in grep -c; paths with 0

	inNoise    *textCounts // paths in each directory of noise that is counted
	noisePaths int         // paths in all of them
}

// countPaths counts the lines.
func (p *listingPass) countPaths() (c pathCount, err error) {
	c.inNoise = &textCounts{}
	err = p.input.Each(func(l []byte) {
		switch {
		case len(l) == 0:
		case isComplaint(l):
			c.complaints++
		case bytes.IndexByte(l, '\t') >= 0 ||
			bytes.IndexByte(l, ' ') >= 0 && (bytes.IndexByte(l, '/') < 0 || bytes.Contains(l, []byte(": "))):
			c.otherLines++
		default:
			c.paths++
			if n := countAfterPath(l); len(n) > 0 {
				c.counts++
				if string(n) == "0" {
					c.zeroCounts++
				}
			}
			if end := p.noisePath(l); end > 0 {
				c.inNoise.add(l[:end])
			}
		}
	})
	for path, n := range c.inNoise.counts() {
		if n < minNoisePaths || n < minBuildPaths && buildDirs()[pathBase(path)] {
			delete(c.inNoise.count, path)
			continue
		}
		c.noisePaths += n
	}
	return c, err
}

// countAfterPath returns the number of matches after a path, as grep -c writes it, or
// nothing.
func countAfterPath(l []byte) []byte {
	n := l[bytes.LastIndexByte(l, ':')+1:]
	if len(n) == len(l) || text.DigitsEnd(n, 0) < len(n) {
		return nil
	}
	return n
}

// minZeroCounts is the minimum number of paths with a count of 0 that are left out.
const minZeroCounts = 8

// pathDirs groups paths by directory, in their order.
type pathDirs struct {
	byPath    map[string]*pathDir // of this list
	ended     bool                // a blank line came, so the next path begins another list
	latest    *pathDir            // the last result of find
	order     []*pathDir
	names     arena // holds the names of all directories
	nameBytes int
	lost      int // paths after maxDirs directories or maxPathBytes of names
}

// beginList begins another list if a blank line came, as dpkg -L writes it between packages. Its directories are
// not joined with those before.
func (g *pathDirs) beginList() {
	if g.ended && len(g.order) > 0 {
		g.byPath, g.latest = map[string]*pathDir{}, nil
		g.order = append(g.order, &pathDir{})
	}
	g.ended = false
}

// find returns the directory of a path, or nil if there are too many.
func (g *pathDirs) find(path []byte) *pathDir {
	g.beginList()
	if g.latest != nil && g.latest.path == string(path) {
		return g.latest
	}
	d := g.byPath[string(path)]
	if d == nil && len(g.order) < maxDirs {
		d = &pathDir{path: string(path)}
		g.byPath[d.path] = d
		g.order = append(g.order, d)
	}
	g.latest = d
	return d
}

// addNoise counts a path in the directory of noise path[:end].
func (g *pathDirs) addNoise(path []byte, end int) {
	if d := g.find(path[:end]); d != nil {
		d.addPackage(path[end:])
	} else {
		g.lost++
	}
}

// add adds a path to its directory.
func (g *pathDirs) add(path []byte) {
	at := bytes.LastIndexByte(bytes.TrimSuffix(path, []byte("/")), '/') + 1
	d := g.find(path[:at])
	if g.nameBytes += len(path); d == nil || g.nameBytes > maxPathBytes {
		g.lost++
		return
	}
	d.names = append(d.names, g.names.clone(path[at:]))
}

// addSingle adds a path that stays on its own line.
func (g *pathDirs) addSingle(path []byte) {
	g.beginList()
	g.order = append(g.order, &pathDir{names: [][]byte{g.names.clone(path)}})
}

// writePaths shortens a list of paths. It counts the contents of directories of
// noise and, if there are many paths, joins the paths of one directory. It leaves out paths
// with a count of 0 if other paths have counts.
func (p *listingPass) writePaths() (bool, error) {
	p.buildIsNoise = true
	c, err := p.countPaths()
	haveCounts := c.counts == c.paths
	withoutZeros := haveCounts && c.zeroCounts >= minZeroCounts && c.zeroCounts < c.counts
	if err != nil ||
		c.otherLines*20 > c.paths ||
		c.complaints <= maxComplaints && (c.paths < 8 || c.noisePaths == 0 && c.paths <= p.groupAbove && !withoutZeros) {
		return false, err
	}
	if withoutZeros {
		c.inNoise, c.noisePaths = &textCounts{}, c.zeroCounts
	}
	g := &pathDirs{byPath: map[string]*pathDir{}}
	single := c.paths-c.noisePaths <= p.groupAbove
	err = p.input.Each(func(l []byte) {
		switch {
		case len(l) == 0:
			g.ended = true
			return
		case isComplaint(l):
			p.addComplaint(l)
			return
		case withoutZeros && string(countAfterPath(l)) == "0":
			return
		}
		if end := p.noisePath(l); end > 0 && c.inNoise.count[string(l[:end])] > 0 {
			g.addNoise(l, end)
		} else if single {
			g.addSingle(l)
		} else {
			g.add(l)
		}
	})
	p.endComplaints()
	var left leftOut
	for i, d := range g.order {
		if i < p.maxLines {
			p.writeDir(d)
			continue
		}
		name := []byte(d.path)
		if len(d.names)+d.paths == 0 { // a blank line
			continue
		}
		if d.path == "" {
			name = d.names[0]
		}
		left.addRun(len(d.names)+d.paths, name, name)
	}
	left.writeTo(p.out)
	if g.lost > 0 {
		p.out.Write(fmt.Appendf(nil, "... (%s) ...", quantity.Count(g.lost, "more path")))
	}
	if withoutZeros {
		p.out.Write(fmt.Appendf(nil, "%s%s, %d of them with 0 left out)", listNotePrefix, quantity.Count(c.paths, "path"), c.zeroCounts))
	} else {
		p.out.Write(fmt.Appendf(nil, "%s%s)", listNotePrefix, quantity.Count(c.paths, "path")))
	}
	return true, err
}

// addPackage counts a path in a directory of noise by its package.
func (d *pathDir) addPackage(rest []byte) {
	d.isNoise = true
	d.paths++
	if !strings.HasSuffix(d.path, "node_modules/") && !strings.HasSuffix(d.path, "site-packages/") && !strings.HasSuffix(d.path, "Pods/") {
		return
	}
	end := bytes.IndexByte(rest, '/')
	if end > 0 && rest[0] == '@' {
		if in := bytes.IndexByte(rest[end+1:], '/'); in > 0 {
			end += 1 + in
		}
	}
	if end < 0 {
		end = len(rest)
	}
	if d.packageCounts == nil {
		d.packageCounts = map[string]int{}
	}
	name := string(rest[:end])
	if d.packageCounts[name] == 0 && len(d.packages) < 2000 {
		d.packages = append(d.packages, name)
	}
	d.packageCounts[name]++
}

// writeDir writes the contents of a directory.
func (p *listingPass) writeDir(d *pathDir) {
	var b []byte
	switch {
	case d.isNoise:
		b = fmt.Appendf(b, "%s (%s", d.path, quantity.Count(d.paths, "path"))
		for i, name := range d.packages {
			if i == p.maxNames {
				b = fmt.Appendf(b, ", %s", quantity.Count(len(d.packages)-i, "more directory"))
				break
			}
			sep := ", "
			if i == 0 {
				sep = ": "
			}
			b = append(append(b, sep...), name...)
			if n := d.packageCounts[name]; n > 1 {
				b = fmt.Appendf(b, " %d", n)
			}
		}
		p.out.Write(append(b, ')'))
		return
	case len(d.names) == 0: // between two lists
		p.out.Write(nil)
		return
	case len(d.names) == 1:
		p.out.Write(append([]byte(d.path), d.names[0]...))
		return
	}
	b = append(append(b, d.path...), '{')
	shown, omitted := 0, 0
	for i := 0; i < len(d.names); {
		n := leadingRun(d.names[i:])
		if shown == p.maxNames {
			omitted += n
			i += n
			continue
		}
		if shown > 0 {
			b = append(b, ',')
		}
		lowest, highest := d.names[i], d.names[i]
		for _, name := range d.names[i : i+n] {
			if text.NumberLess(name, lowest) {
				lowest = name
			}
			if text.NumberLess(highest, name) {
				highest = name
			}
		}
		b = append(b, lowest...)
		if n > 1 {
			b = fmt.Appendf(b, "%s%s (%d%s", runSeparator, highest, n, runTail)
		}
		shown++
		i += n
	}
	if omitted > 0 {
		b = fmt.Appendf(b, ", %d more", omitted)
	}
	p.out.Write(append(b, '}'))
}

// leadingRun returns how many of the first names are joined: 1, or at least
// minRun that differ only by a number, and not by the number of matches.
func leadingRun(names [][]byte) int {
	first := appendNumberless(nil, names[0])
	if bytes.IndexByte(first, text.VaryingMark) < 0 {
		return 1
	}
	var next []byte
	for i, name := range names {
		if next = appendNumberless(next[:0], name); !bytes.Equal(next, first) || !bytes.Equal(countAfterPath(name), countAfterPath(names[0])) {
			if i < minRun {
				return 1
			}
			return i
		}
	}
	if len(names) < minRun {
		return 1
	}
	return len(names)
}

// arena holds many small texts.
type arena struct{ chunk []byte }

func (a *arena) clone(b []byte) []byte {
	if len(a.chunk)+len(b) > cap(a.chunk) {
		a.chunk = make([]byte, 0, max(text.BufferSize, len(b)))
	}
	from := len(a.chunk)
	a.chunk = append(a.chunk, b...)
	return a.chunk[from:len(a.chunk):len(a.chunk)]
}
