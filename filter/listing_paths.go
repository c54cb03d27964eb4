package filter

import (
	"bytes"
	"fmt"
	"strings"
)

// pathDir is a directory of a list of paths, or one of noise.
type pathDir struct {
	path  string
	names [][]byte // of those in it, in their order
	noise bool
	packs []string // what is in a directory of noise, in its order
	count map[string]int
	total int
}

// Bounds of what is held of a list of paths.
const (
	maxDirs      = 20_000
	maxPathBytes = 16 << 20
)

// From how many paths on a directory of noise, or one of what was built, is
// counted.
const (
	fewNoise = 5
	fewBuilt = 60
)

func pathBase(dir string) string {
	dir = strings.TrimSuffix(dir, "/")
	return dir[strings.LastIndexByte(dir, '/')+1:]
}

// paths shortens a list of paths: what is in directories of noise is counted, and
// when there are many, those of one directory stand together.
func (p *listingPass) paths() (bool, error) {
	paths, strange, quiet, complaints := 0, 0, 0, 0
	in := &common{} // paths in each directory of noise
	err := p.all.Each(func(l []byte) {
		switch {
		case len(l) == 0:
		case complaint(l):
			complaints++
		case bytes.IndexByte(l, '\t') >= 0 || bytes.IndexByte(l, ' ') >= 0 && (bytes.IndexByte(l, '/') < 0 || bytes.Contains(l, []byte(": "))):
			strange++
		default:
			paths++
			if end := p.noisePath(l, true); end > 0 {
				in.add(l[:end])
			}
		}
	})
	for path, n := range in.all() {
		if n < fewNoise || n < fewBuilt && builtDirs[pathBase(path)] {
			delete(in.count, path)
			continue
		}
		quiet += n
	}
	if err != nil || strange*20 > paths || complaints <= maxComplains && (paths < 8 || quiet == 0 && paths <= p.group) {
		return false, err
	}
	dirs := map[string]*pathDir{}
	var order []*pathDir
	var names arena
	held, single := 0, paths-quiet <= p.group
	var latest *pathDir
	dir := func(path []byte) *pathDir {
		if latest != nil && latest.path == string(path) {
			return latest
		}
		d := dirs[string(path)]
		defer func() { latest = d }()
		if d == nil && len(order) < maxDirs {
			d = &pathDir{path: string(path)}
			dirs[d.path] = d
			order = append(order, d)
		}
		return d
	}
	lost := 0
	err = p.all.Each(func(l []byte) {
		if len(l) == 0 {
			return
		}
		if complaint(l) {
			p.complain(l)
			return
		}
		if end := p.noisePath(l, true); end > 0 && in.count[string(l[:end])] > 0 {
			if d := dir(l[:end]); d != nil {
				d.pack(l[end:])
			} else {
				lost++
			}
			return
		}
		at := bytes.LastIndexByte(bytes.TrimSuffix(l, []byte("/")), '/') + 1
		if single {
			order = append(order, &pathDir{names: [][]byte{names.clone(l)}})
			return
		}
		d := dir(l[:at])
		if held += len(l); d == nil || held > maxPathBytes {
			lost++
			return
		}
		d.names = append(d.names, names.clone(l[at:]))
	})
	p.complained()
	for i, d := range order {
		if i >= p.lines {
			lost += len(d.names) + d.total
			continue
		}
		p.dir(d)
	}
	if lost > 0 {
		p.out.Write(fmt.Appendf(nil, "... (%d more paths) ...", lost))
	}
	p.out.Write(fmt.Appendf(nil, "%s%d paths)", listNote, paths))
	return true, err
}

// pack counts a path in a directory of noise by what it is in there.
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

// dir writes what is in one directory.
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

// sameNumbered is how many of the first names become one: 1, or at least minRun
// that differ by a number only.
func sameNumbered(names [][]byte) int {
	first := numberless(nil, names[0])
	if bytes.IndexByte(first, mark) < 0 {
		return 1
	}
	var next []byte
	for i, name := range names {
		if next = numberless(next[:0], name); !bytes.Equal(next, first) {
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
		a.chunk = make([]byte, 0, max(flushAt, len(b)))
	}
	from := len(a.chunk)
	a.chunk = append(a.chunk, b...)
	return a.chunk[from:len(a.chunk):len(a.chunk)]
}
