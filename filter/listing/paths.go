package listing

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// pathDir is a directory of a list of paths, possibly of noise.
type pathDir struct {
	path  string
	names [][]byte // names in the directory, in order
	noise bool
	packs []string // packages in a directory of noise, in order
	count map[string]int
	total int
}

// Limits of the stored part of a list of paths.
const (
	maxDirs      = 20_000
	maxPathBytes = 16 << 20
)

// The least number of paths at which a directory of noise, or of build output,
// is counted.
const (
	fewNoise = 5
	fewBuilt = 60
)

func pathBase(dir string) string {
	dir = strings.TrimSuffix(dir, "/")
	return dir[strings.LastIndexByte(dir, '/')+1:]
}

// pathCount counts the lines of a list of paths.
type pathCount struct {
	paths, strange, complaints int

	in    *textCounts // paths in each directory of noise that is counted
	quiet int         // paths in all of them
}

// countPaths counts the lines.
func (p *listingPass) countPaths() (c pathCount, err error) {
	c.in = &textCounts{}
	err = p.all.Each(func(l []byte) {
		switch {
		case len(l) == 0:
		case isComplaint(l):
			c.complaints++
		case bytes.IndexByte(l, '\t') >= 0 || bytes.IndexByte(l, ' ') >= 0 && (bytes.IndexByte(l, '/') < 0 || bytes.Contains(l, []byte(": "))):
			c.strange++
		default:
			c.paths++
			if end := p.noisePath(l, true); end > 0 {
				c.in.add(l[:end])
			}
		}
	})
	for path, n := range c.in.all() {
		if n < fewNoise || n < fewBuilt && builtDirs[pathBase(path)] {
			delete(c.in.count, path)
			continue
		}
		c.quiet += n
	}
	return c, err
}

// pathDirs groups paths by directory, in their order.
type pathDirs struct {
	known  map[string]*pathDir
	latest *pathDir
	order  []*pathDir
	names  arena
	held   int // bytes of names
	lost   int // paths beyond the limits
}

// dir returns the directory of a path, or nil if there are too many.
func (g *pathDirs) dir(path []byte) *pathDir {
	if g.latest != nil && g.latest.path == string(path) {
		return g.latest
	}
	d := g.known[string(path)]
	if d == nil && len(g.order) < maxDirs {
		d = &pathDir{path: string(path)}
		g.known[d.path] = d
		g.order = append(g.order, d)
	}
	g.latest = d
	return d
}

// pack counts a path in the directory of noise path[:end].
func (g *pathDirs) pack(path []byte, end int) {
	if d := g.dir(path[:end]); d != nil {
		d.pack(path[end:])
	} else {
		g.lost++
	}
}

// add adds a path to its directory.
func (g *pathDirs) add(path []byte) {
	at := bytes.LastIndexByte(bytes.TrimSuffix(path, []byte("/")), '/') + 1
	d := g.dir(path[:at])
	if g.held += len(path); d == nil || g.held > maxPathBytes {
		g.lost++
		return
	}
	d.names = append(d.names, g.names.clone(path[at:]))
}

// alone adds a path that stays on a line of its own.
func (g *pathDirs) alone(path []byte) {
	g.order = append(g.order, &pathDir{names: [][]byte{g.names.clone(path)}})
}

// paths shortens a list of paths. It counts the contents of directories of
// noise and, if there are many paths, joins those of one directory.
func (p *listingPass) paths() (bool, error) {
	c, err := p.countPaths()
	if err != nil || c.strange*20 > c.paths || c.complaints <= maxComplains && (c.paths < 8 || c.quiet == 0 && c.paths <= p.group) {
		return false, err
	}
	g := &pathDirs{known: map[string]*pathDir{}}
	single := c.paths-c.quiet <= p.group
	err = p.all.Each(func(l []byte) {
		switch {
		case len(l) == 0:
			return
		case isComplaint(l):
			p.complain(l)
			return
		}
		if end := p.noisePath(l, true); end > 0 && c.in.count[string(l[:end])] > 0 {
			g.pack(l, end)
		} else if single {
			g.alone(l)
		} else {
			g.add(l)
		}
	})
	p.complained()
	for i, d := range g.order {
		if i >= p.lines {
			g.lost += len(d.names) + d.total
			continue
		}
		p.dir(d)
	}
	if g.lost > 0 {
		p.out.Write(fmt.Appendf(nil, "... (%d more paths) ...", g.lost))
	}
	p.out.Write(fmt.Appendf(nil, "%s%d paths)", listNote, c.paths))
	return true, err
}

// pack counts a path in a directory of noise by its package.
func (d *pathDir) pack(rest []byte) {
	d.noise = true
	d.total++
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
	if d.count == nil {
		d.count = map[string]int{}
	}
	name := string(rest[:end])
	if d.count[name] == 0 && len(d.packs) < 2000 {
		d.packs = append(d.packs, name)
	}
	d.count[name]++
}

// dir writes the contents of a directory.
func (p *listingPass) dir(d *pathDir) {
	var b []byte
	switch {
	case d.noise:
		b = fmt.Appendf(b, "%s (%d paths", d.path, d.total)
		for i, name := range d.packs {
			if i == p.names {
				b = fmt.Appendf(b, ", %d more directories", len(d.packs)-i)
				break
			}
			sep := ", "
			if i == 0 {
				sep = ": "
			}
			b = append(append(b, sep...), name...)
			if n := d.count[name]; n > 1 {
				b = fmt.Appendf(b, " %d", n)
			}
		}
		p.out.Write(append(b, ')'))
		return
	case len(d.names) == 1:
		p.out.Write(append([]byte(d.path), d.names[0]...))
		return
	}
	b = append(append(b, d.path...), '{')
	shown, omitted := 0, 0
	for i := 0; i < len(d.names); {
		n := sameNumbered(d.names[i:])
		if shown == p.names {
			omitted += n
			i += n
			continue
		}
		if shown > 0 {
			b = append(b, ',')
		}
		b = append(b, d.names[i]...)
		if n > 1 {
			b = fmt.Appendf(b, "%s%s (%d%s", runBetween, d.names[i+n-1], n, runTail)
		}
		shown++
		i += n
	}
	if omitted > 0 {
		b = fmt.Appendf(b, ", %d more", omitted)
	}
	p.out.Write(append(b, '}'))
}

// sameNumbered returns how many of the first names are joined: 1, or at least
// minRun that differ only by a number.
func sameNumbered(names [][]byte) int {
	first := appendNumberless(nil, names[0])
	if bytes.IndexByte(first, text.VaryingMark) < 0 {
		return 1
	}
	var next []byte
	for i, name := range names {
		if next = appendNumberless(next[:0], name); !bytes.Equal(next, first) {
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
