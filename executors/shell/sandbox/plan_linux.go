package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// outsideAge is how long the grants outside the writable directories are
// reused.
const outsideAge = time.Minute

// planner computes the grants. A Landlock grant includes everything below a
// directory. So a directory with a file that must not be read is granted entry
// by entry, and so are the directories above it.
type planner struct {
	*Sandbox
	private *workspace.Private
	own     []string // paths of zeph-acp's files and directories
	mixed   []string // directories in which only some files are zeph-acp's
	linked  []uint64 // inode numbers of zeph-acp's files that have further hard links
	buf     []byte
	inside  int // entries that may still be examined
	outside int
	learned bool           // the memory of refused files grew
	left    []string       // directories beyond the limits
	home    map[string]int // entries examined, by directory in the home directory
	nodes   map[string]*node
}

// plan returns the present grants.
func (s *Sandbox) plan() (out planned) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	p := &planner{Sandbox: s, buf: make([]byte, 64<<10)}
	p.findOwn()
	starts := p.walkInside()
	if p.learned { // a file found late may have another name that was examined before
		starts = p.walkInside()
	}
	clean := make([]bool, len(starts))
	for i, n := range starts {
		clean[i] = p.whole(n, &out.grants)
	}
	for _, g := range out.grants {
		out.split = append(out.split, string(g.Dir))
	}
	for i, n := range starts {
		if clean[i] {
			out.grants = append(out.grants, p.one(n.path, mayRead))
		}
	}
	out.grants = append(out.grants, p.outsideGrants(clean)...)
	for _, place := range s.places {
		out.grants = p.write(place.path, out.grants)
	}
	for _, name := range devices {
		out.grants = append(out.grants, p.one("/dev/"+name, mayRead|mayWrite|mayControl))
	}
	if temp := realPath(p.setup.Temp[0]); p.mustList(names(temp)) && !p.insideRoot(temp) {
		if out.scratch = ownScratch(temp); out.scratch != "" {
			out.grants = append(out.grants, p.one(out.scratch, mayRead|mayWrite))
		}
	}
	if len(p.left) > 0 {
		out.notes = append(out.notes, fmt.Sprintf("commands cannot read %s: too many files to search for what deny_read names", firstOf(p.left)))
	}
	return out
}

// ownScratch makes a directory for temporary files in temp, which the commands
// of this user share. It returns "" if another user could access it.
func ownScratch(temp string) string {
	dir := filepath.Join(temp, "zeph-acp-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return ""
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil || st.Mode != unix.S_IFDIR|0o700 || int(st.Uid) != os.Getuid() {
		return ""
	}
	return dir
}

// findOwn finds the paths of zeph-acp's own files, which need not exist yet.
func (p *planner) findOwn() {
	p.private = p.setup.Roots.Private()
	var paths []string
	for _, dir := range p.private.Dirs() {
		paths = append(paths, realPath(dir))
	}
	for _, rel := range p.private.Below("/") {
		paths = append(paths, filepath.Join("/", rel))
	}
	for _, place := range p.setup.Own {
		if dir := realPath(place.Dir); !p.private.Hides(dir) {
			p.mixed = append(p.mixed, dir)
			paths = append(paths, filepath.Join(dir, "config.toml"))
		}
		for _, name := range place.Files {
			var st unix.Stat_t
			if unix.Stat(filepath.Join(place.Dir, name), &st) == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR && st.Nlink > 1 {
				p.linked = append(p.linked, st.Ino)
			}
		}
	}
	p.own = paths
}

// realPath follows the links of a path as far as it exists.
func realPath(path string) string {
	path = filepath.Clean(path)
	if f, err := filepath.EvalSymlinks(path); err == nil {
		return f
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(realPath(dir), filepath.Base(path))
	}
	return path
}

// outside holds the grants outside the session's directories.
type outside struct {
	at     time.Time
	clean  []bool // of the session's directories at that time
	grants []grant
	left   []string
}

// outsideGrants returns the grants outside the session's directories. clean
// reports which of the session's directories may be read as a whole.
func (p *planner) outsideGrants(clean []bool) []grant {
	if old := p.known; old != nil && time.Since(old.at) < outsideAge && slices.Equal(old.clean, clean) {
		p.left = append(p.left, old.left...)
		grants := slices.Clone(old.grants)
		for i, g := range grants {
			grants[i].Names = slices.Clone(g.Names)
			for j, e := range g.Names { // files may have been replaced
				grants[i].Names[j].ID, _ = idAt(strings.TrimSuffix(string(g.Dir), "/") + "/" + string(e.Name))
			}
		}
		return grants
	}
	if p.nodes["/"] != nil { // a root
		return nil
	}
	now := &outside{at: time.Now(), clean: clean}
	inside := p.left
	p.left, p.home = nil, map[string]int{}
	top := p.walk(&node{path: "/", child: child{kind: unix.DT_DIR}})
	if p.whole(top, &now.grants) {
		now.grants = append(now.grants, p.one("/", mayRead))
	}
	for dir, n := range p.home {
		if n > maxHome {
			p.left = append(p.left, dir)
		}
	}
	slices.Sort(p.left)
	now.left = p.left
	p.left = append(inside, now.left...)
	p.known = now
	if slices.ContainsFunc(now.grants, func(g grant) bool { return p.writable(string(g.Dir)) }) {
		p.known = nil
	}
	return now.grants
}

// whole reports whether everything in n may be read. If not, it adds grants for
// the readable part.
func (p *planner) whole(n *node, grants *[]grant) bool {
	if p.home[n.path] > maxHome {
		return false
	}
	if n.done || n.refused || !n.listed {
		return !n.refused && (!n.listed || n.clean)
	}
	n.done, n.clean = true, true
	for _, c := range n.children {
		if !p.whole(c, grants) {
			n.clean = false
		}
	}
	if n.clean {
		return true
	}
	g := grant{Dir: []byte(n.path), Right: mayRead}
	for _, c := range n.children {
		if c.refused || c.listed && !c.clean {
			continue
		}
		e, ok := entry{Name: []byte(c.child.name), ID: c.id}, c.listed
		if !ok { // the directory entry does not suffice: it ignores mounts
			e.ID, ok = idAt(strings.TrimSuffix(n.path, "/") + "/" + c.child.name)
		}
		if ok {
			g.Names = append(g.Names, e)
		}
	}
	*grants = append(*grants, g)
	return false
}

// write adds the grants for changes at path and below, except for zeph-acp's
// own files. Next to those files, commands can neither create nor remove
// entries.
func (p *planner) write(path string, grants []grant) []grant {
	dir := names(path)
	switch {
	case p.private.Hides(path):
		return grants
	case !p.leadsToOwn(path):
		right := uint64(mayWrite)
		if !p.mustList(dir) {
			right |= mayRead
		}
		if inside("/dev", path) { // extra_write names it
			right |= mayRead | mayControl
		}
		return append(grants, p.one(path, right))
	}
	_, all, err := listDir(path, p.buf)
	if err != nil {
		return grants
	}
	for _, c := range all {
		sub := strings.TrimSuffix(path, "/") + "/" + c.name
		if c.kind != unix.DT_LNK && !p.isOwn(path, sub) && !inside("/dev", sub) && !inside("/proc", sub) && !inside("/sys", sub) {
			grants = p.write(sub, grants)
		}
	}
	return grants
}

// one returns the grant for a single path.
func (p *planner) one(path string, right uint64) grant {
	g := grant{Dir: []byte(filepath.Dir(path)), Right: right}
	name := filepath.Base(path)
	if path == "/" {
		name = "."
	}
	if i, ok := idAt(path); ok {
		g.Names = []entry{{Name: []byte(name), ID: i}}
	}
	return g
}

// firstOf returns the first paths of a list in words.
func firstOf(paths []string) string {
	if len(paths) > 3 {
		return fmt.Sprintf("%s and %d more directories", strings.Join(paths[:3], ", "), len(paths)-3)
	}
	return strings.Join(paths, ", ")
}

func idAt(path string) (id, bool) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return id{}, false
	}
	return idOf(&st), true
}
