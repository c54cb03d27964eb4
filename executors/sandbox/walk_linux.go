package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
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
	id       fileID  // of a directory that was listed
	listed   bool    // otherwise it is granted or refused as a whole
	refused  bool    // it must not be read
	granted  bool    // grantReading has run
	readable bool    // everything in it may be read; set together with granted
	children []*node // of a listed directory
}

// walkInside examines the session's directories.
func (p *planner) walkInside() (starts []*node) {
	p.insideBudget, p.outsideBudget, p.skipped, p.refusedMore = maxInside, maxOutside, nil, false
	p.nodes = map[string]*node{}
	for _, dir := range p.roots {
		if p.nodes[dir] == nil {
			refused := p.private.Hides(dir) || len(p.denyScopes) > 0 && p.session.Refuses(dir)
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
		queue = append(queue, p.examine(queue[0])...)
	}
	return n
}

// examine decides about the entries of a directory, and returns the directories to
// examine next.
func (p *planner) examine(n *node) (next []*node) {
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
	scopes := p.scopesIn(n.names)
	for _, c := range all {
		if c.kind == unix.DT_LNK {
			continue // its target is granted separately, or not at all
		}
		sub := p.decide(n, c, scopes)
		n.children = append(n.children, sub)
		if c.kind == unix.DT_DIR && !sub.refused {
			next = append(next, sub)
		}
	}
	return next
}

// entries lists a directory, within the limits.
func (p *planner) entries(path string) (fileID, []child, error) {
	budget := &p.outsideBudget
	if p.insideRoot(path) {
		budget = &p.insideBudget
	}
	part := p.homePart(path)
	if *budget <= 0 || part != "" && p.homeEntries[part] > maxHome {
		if part == "" {
			p.skipped = append(p.skipped, path)
		}
		return fileID{}, nil, errTooMany
	}
	p.stamps.add(path)
	i, all, err := listDir(path, p.buf)
	if *budget -= len(all) + 1; part != "" {
		p.homeEntries[part] += len(all) + 1
	}
	return i, all, err
}

// homePart returns the directory directly below the home directory that
// contains path, "" if path is elsewhere or in a session's directory.
func (p *planner) homePart(path string) string {
	if p.session.Home == "" || !workspace.Within(p.session.Home, path) || p.insideRoot(path) {
		return ""
	}
	rel := names(path[len(p.session.Home):])
	if len(rel) == 0 {
		return ""
	}
	return filepath.Join(p.session.Home, rel[0])
}

// decide returns the node of an entry of n, with its decision; scopes are
// the scopes of the patterns that may apply in n.
func (p *planner) decide(n *node, c child, scopes []denyScope) *node {
	sub := &node{child: c}
	if c.kind == unix.DT_DIR || len(scopes) > 0 || len(p.ownPaths) > 0 || len(p.secretPaths) > 0 {
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
	case p.isOwn(n.path, sub.path), slices.Contains(p.secretPaths, sub.path):
		sub.refused = true
	case slices.Contains(p.linkedInodes, c.ino) && p.private.Hides(sub.path):
		sub.refused = true
		p.ownPaths = append(p.ownPaths, sub.path)
	case slices.ContainsFunc(scopes, func(r denyScope) bool { return r.mayMatchName(c.name) }) && p.session.Refuses(sub.path):
		sub.refused = true
		p.rememberRefused(sub.path, c)
	case p.refusedFiles.contains(sub.path, c.ino):
		sub.refused = true
		p.rememberRefused(sub.path, c)
	}
	return sub
}

// rememberRefused records a refused file or directory that commands could rename, with
// its contents.
func (p *planner) rememberRefused(path string, c child) {
	if !p.writable(path) {
		return
	}
	if p.refusedFiles.add(path) {
		p.refusedMore = true
	}
	if c.kind != unix.DT_DIR || p.insideBudget <= 0 {
		return
	}
	_, all, err := listDir(path, p.buf)
	p.insideBudget -= len(all) + 1
	if err != nil {
		return
	}
	for _, c := range all {
		p.rememberRefused(path+"/"+c.name, c)
	}
}

// mustList reports whether a directory may contain a refused file.
func (p *planner) mustList(dir []string) bool {
	path := "/" + strings.Join(dir, "/")
	if len(dir) == 0 || path == "/dev" {
		return true
	}
	if p.leadsToOwn(path) || len(p.scopesIn(dir)) > 0 || len(p.linkedInodes) > 0 && p.insideRoot(path) {
		return true
	}
	return len(p.refusedFiles.files) > 0 && p.searched(path)
}

// leadsToOwn reports whether path contains a file of zeph-acp or of secretPaths, even if
// that does not exist yet.
func (p *planner) leadsToOwn(path string) bool {
	inside := func(own string) bool { return own != path && workspace.Within(path, own) }
	return slices.ContainsFunc(p.ownPaths, inside) || slices.ContainsFunc(p.secretPaths, inside)
}

// scopesIn returns the patterns that may apply in a directory or below.
func (p *planner) scopesIn(dir []string) []denyScope {
	var found []denyScope
	path := ""
	for _, r := range p.denyScopes {
		if r.anywhere {
			if path == "" {
				path = "/" + strings.Join(dir, "/")
			}
			if !p.searched(path) {
				continue
			}
		}
		if r.mayContain(dir) {
			found = append(found, r)
		}
	}
	return found
}

// searched reports whether patterns that apply anywhere are searched in a
// directory, or below it: in the session's directories, and in the home
// directory without caches and installed programs.
func (p *planner) searched(path string) bool {
	onTheWay := func(dir string) bool { return workspace.Within(dir, path) || workspace.Within(path, dir) }
	if slices.ContainsFunc(p.roots, onTheWay) {
		return true
	}
	return p.session.Home != "" && onTheWay(p.session.Home) &&
		!slices.ContainsFunc(p.writablePlaces, func(q writablePlace) bool { return q.isCache && workspace.Within(q.path, path) }) &&
		!slices.Contains(p.programDirs, p.homePart(path))
}

// writable reports whether commands may write path.
func (p *planner) writable(path string) bool {
	return slices.ContainsFunc(p.writablePlaces, func(q writablePlace) bool { return workspace.Within(q.path, path) })
}

func (p *planner) insideRoot(path string) bool {
	return slices.ContainsFunc(p.roots, func(root string) bool { return workspace.Within(root, path) })
}

func (p *planner) isOwn(dir, path string) bool {
	if slices.Contains(p.mixedDirs, dir) {
		return p.private.Hides(path)
	}
	return slices.Contains(p.ownPaths, path) && p.private.Hides(path)
}
