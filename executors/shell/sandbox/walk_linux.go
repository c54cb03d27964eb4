package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits of one plan, in directory entries. Commands cannot read entries beyond
// them.
const (
	maxInside  = 400_000 // of the session's directories
	maxOutside = 100_000 // of all others
	maxHome    = 20_000  // of one directory in the home directory
)

// node is a file or directory with its decision.
type node struct {
	path     string
	names    []string
	child    child
	id       id      // of a directory that was listed
	listed   bool    // otherwise it is granted or refused as a whole
	refused  bool    // it must not be read
	done     bool    // its grants were made
	clean    bool    // done, and everything in it may be read
	children []*node // of a listed one
}

// walkInside examines the session's directories.
func (p *planner) walkInside() (starts []*node) {
	p.inside, p.outside, p.left, p.learned = maxInside, maxOutside, nil, false
	p.nodes = map[string]*node{}
	for _, dir := range p.roots {
		if p.nodes[dir] == nil {
			refused := p.private.Hides(dir) || len(p.reach) > 0 && p.setup.Refuses(dir)
			p.nodes[dir] = &node{path: dir, names: names(dir), child: child{kind: unix.DT_DIR}, refused: refused}
			starts = append(starts, p.nodes[dir])
		}
	}
	for _, n := range starts {
		p.walk(n)
	}
	return starts
}

// walk examines the directories below n that may contain refused files, breadth
// first.
func (p *planner) walk(n *node) *node {
	for queue := []*node{n}; len(queue) > 0; queue = queue[1:] {
		queue = append(queue, p.look(queue[0])...)
	}
	return n
}

// look decides about the entries of a directory, and returns the directories to
// examine next.
func (p *planner) look(n *node) (next []*node) {
	if n.listed || n.refused || !p.mustList(n.names) {
		return nil
	}
	i, all, err := p.entries(n.path)
	if err != nil {
		n.refused = true // its contents are unknown
		return nil
	}
	n.id, n.listed = i, true
	n.children = make([]*node, 0, len(all))
	under := p.under(n.names)
	for _, c := range all {
		if c.kind == unix.DT_LNK {
			continue // its target is granted separately, or not at all
		}
		sub := p.decide(n, c, under)
		n.children = append(n.children, sub)
		if c.kind == unix.DT_DIR && !sub.refused {
			next = append(next, sub)
		}
	}
	return next
}

// entries lists a directory, within the limits.
func (p *planner) entries(path string) (id, []child, error) {
	budget := &p.outside
	if p.insideRoot(path) {
		budget = &p.inside
	}
	part := p.homePart(path)
	if *budget <= 0 || part != "" && p.home[part] > maxHome {
		if part == "" {
			p.left = append(p.left, path)
		}
		return id{}, nil, errTooMany
	}
	i, all, err := listDir(path, p.buf)
	if *budget -= len(all) + 1; part != "" {
		p.home[part] += len(all) + 1
	}
	return i, all, err
}

// homePart returns the directory directly below the home directory that
// contains path, "" if path is elsewhere or in a session's directory.
func (p *planner) homePart(path string) string {
	if p.setup.Home == "" || !inside(p.setup.Home, path) || p.insideRoot(path) {
		return ""
	}
	rel := names(path[len(p.setup.Home):])
	if len(rel) == 0 {
		return ""
	}
	return filepath.Join(p.setup.Home, rel[0])
}

// decide returns the node of an entry of n, with its decision; under are the
// patterns that may apply in n.
func (p *planner) decide(n *node, c child, under []denyScope) *node {
	sub := &node{child: c}
	if c.kind == unix.DT_DIR || len(under) > 0 || len(p.own) > 0 {
		sub.path = strings.TrimSuffix(n.path, "/") + "/" + c.name
	}
	if c.kind == unix.DT_DIR {
		if known := p.nodes[sub.path]; known != nil { // a root
			known.child = c
			sub = known
		} else {
			sub.names = append(slices.Clip(n.names), c.name)
		}
	}
	switch {
	case n.path == "/dev" && !slices.Contains(devices, c.name):
		sub.refused = true
	case p.isOwn(n.path, sub.path):
		sub.refused = true
	case slices.Contains(p.linked, c.ino) && p.private.Hides(sub.path):
		sub.refused = true
		p.own = append(p.own, sub.path)
	case slices.ContainsFunc(under, func(r denyScope) bool { return r.named(c.name) }) && p.setup.Refuses(sub.path):
		sub.refused = true
		p.remember(sub.path, c)
	case p.memory.knows(sub.path, c.ino):
		sub.refused = true
		p.remember(sub.path, c)
	}
	return sub
}

// remember records a refused file or directory that commands could rename, with
// its contents.
func (p *planner) remember(path string, c child) {
	if !p.writable(path) {
		return
	}
	if p.memory.add(path) {
		p.learned = true
	}
	if c.kind != unix.DT_DIR || p.inside <= 0 {
		return
	}
	_, all, err := listDir(path, p.buf)
	p.inside -= len(all) + 1
	if err != nil {
		return
	}
	for _, c := range all {
		p.remember(path+"/"+c.name, c)
	}
}

// mustList reports whether a directory may contain a refused file.
func (p *planner) mustList(dir []string) bool {
	path := "/" + strings.Join(dir, "/")
	if len(dir) == 0 || path == "/dev" {
		return true
	}
	if p.leadsToOwn(path) || len(p.under(dir)) > 0 || len(p.linked) > 0 && p.insideRoot(path) {
		return true
	}
	return len(p.memory.files) > 0 && p.searched(path)
}

// leadsToOwn reports whether path is or contains a file of zeph-acp, even if
// that does not exist yet.
func (p *planner) leadsToOwn(path string) bool {
	return slices.ContainsFunc(p.own, func(own string) bool { return own != path && inside(path, own) })
}

// under returns the patterns that may apply in a directory or below.
func (p *planner) under(dir []string) []denyScope {
	var found []denyScope
	path := ""
	for _, r := range p.reach {
		if r.anywhere {
			if path == "" {
				path = "/" + strings.Join(dir, "/")
			}
			if !p.searched(path) {
				continue
			}
		}
		if r.below(dir) {
			found = append(found, r)
		}
	}
	return found
}

// searched reports whether patterns that apply anywhere are searched in a
// directory, or below it: in the session's directories, and in the home
// directory without caches and installed programs.
func (p *planner) searched(path string) bool {
	for _, root := range p.roots {
		if inside(root, path) || inside(path, root) {
			return true
		}
	}
	home := p.setup.Home
	if home == "" || !inside(home, path) && !inside(path, home) {
		return false
	}
	return !slices.ContainsFunc(p.places, func(q writablePlace) bool { return q.cache && inside(q.path, path) }) &&
		!slices.Contains(p.software, p.homePart(path))
}

// writable reports whether commands may write path.
func (p *planner) writable(path string) bool {
	return slices.ContainsFunc(p.places, func(q writablePlace) bool { return inside(q.path, path) })
}

func (p *planner) insideRoot(path string) bool {
	return slices.ContainsFunc(p.roots, func(root string) bool { return inside(root, path) })
}

func (p *planner) isOwn(dir, path string) bool {
	if slices.Contains(p.mixed, dir) {
		return p.private.Hides(path)
	}
	return slices.Contains(p.own, path) && p.private.Hides(path)
}
