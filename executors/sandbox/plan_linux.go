package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// outsideAge is how long the grants outside the writable directories are
// reused.
const outsideAge = time.Minute

// planner computes the grants. A Landlock grant includes everything below a
// directory. So a directory with a file that must not be read is granted entry
// by entry, and so are the directories above it.
type planner struct {
	*Sandbox
	private       *workspace.HiddenFiles
	ownPaths      []string // paths of zeph-acp's files and directories
	mixedDirs     []string // directories in which only some files are zeph-acp's
	linkedInodes  []uint64 // inode numbers of zeph-acp's files that have further hard links
	buf           []byte
	insideBudget  int            // entries of the session's directories that may still be examined
	outsideBudget int            // the same for all other directories
	refusedMore   bool           // this plan added to refusedFiles
	skipped       []string       // directories beyond the limits, which commands cannot read
	homeEntries   map[string]int // entries examined, by directory in the home directory
	nodes         map[string]*node
	secretPaths   []string // of a Box: files of the user in the session's directories that are never read
	stamps        *stamps  // of a Box: receives the listed directories
}

// plan returns the present grants.
func (s *Sandbox) plan() (out commandPlan) {
	s.refusedFiles.mu.Lock()
	defer s.refusedFiles.mu.Unlock()
	p := &planner{Sandbox: s, buf: make([]byte, 64<<10)}
	p.findOwn()
	starts := p.walkInside()
	if p.refusedMore { // a file that was found late may have another name, which was examined before it
		starts = p.walkInside()
	}
	readable := make([]bool, len(starts))
	for i, n := range starts {
		readable[i] = p.grantReading(n, &out.grants)
	}
	for _, g := range out.grants {
		out.createUnreadable = append(out.createUnreadable, string(g.Dir))
	}
	for i, n := range starts {
		if readable[i] {
			out.grants = append(out.grants, grantFor(n.path, mayRead))
		}
	}
	out.grants = append(out.grants, p.outsideGrants(readable)...)
	for _, place := range s.writablePlaces {
		out.grants = p.grantWriting(place.path, out.grants)
	}
	for _, name := range devices {
		out.grants = append(out.grants, grantFor("/dev/"+name, mayRead|mayWrite|mayControl))
	}
	if temp := realPath(p.session.Temp[0]); p.mustList(names(temp)) && !p.insideRoot(temp) {
		if out.tempDir = s.makeTempDir(temp); out.tempDir != "" {
			out.grants = append(out.grants, grantFor(out.tempDir, mayRead|mayWrite))
		}
	}
	if len(p.skipped) > 0 {
		out.notes = append(out.notes, fmt.Sprintf("commands cannot read %s: too many files to search for what deny_read names", summarize(p.skipped)))
	}
	return out
}

// makeTempDir makes a directory for temporary files in temp, which the commands of this session
// share until Close. Its name is random, so that nobody else can make it first. It returns "" on an
// error. The caller holds refusedFiles.mu.
func (s *Sandbox) makeTempDir(temp string) string {
	if s.tempDir != "" {
		var st unix.Stat_t
		if err := unix.Lstat(s.tempDir, &st); err == nil && st.Mode == unix.S_IFDIR|0o700 && int(st.Uid) == os.Getuid() {
			return s.tempDir
		}
	}
	s.tempDir, _ = os.MkdirTemp(temp, "zeph-acp-") // 0700
	return s.tempDir
}

// removeTempDir removes the directory of makeTempDir.
func (s *Sandbox) removeTempDir() error {
	s.refusedFiles.mu.Lock()
	defer s.refusedFiles.mu.Unlock()
	dir := s.tempDir
	if s.tempDir = ""; dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

// findOwn finds the paths of zeph-acp's own files, which need not exist yet.
func (p *planner) findOwn() {
	p.private = p.session.Roots.Hidden()
	var paths []string
	for _, dir := range p.private.Dirs() {
		paths = append(paths, realPath(dir))
	}
	for _, rel := range p.private.Below("/") {
		paths = append(paths, filepath.Join("/", rel))
	}
	for _, place := range p.session.OwnFiles {
		if dir := realPath(place.Dir); !p.private.Hides(dir) {
			p.mixedDirs = append(p.mixedDirs, dir)
			paths = append(paths, filepath.Join(dir, "config.toml"))
		}
		for _, name := range place.Files {
			var st unix.Stat_t
			if unix.Stat(filepath.Join(place.Dir, name), &st) == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR && st.Nlink > 1 {
				p.linkedInodes = append(p.linkedInodes, st.Ino)
			}
		}
	}
	p.ownPaths = paths
}

// outsideGrants are the grants outside the session's directories, kept for outsideAge.
type outsideGrants struct {
	computedAt time.Time
	readable   []bool // of the session's directories at that time
	grants     []grant
	skipped    []string
}

// outsideGrants returns the grants outside the session's directories. readable
// reports for each of the session's directories whether it may be read as a whole.
func (p *planner) outsideGrants(readable []bool) []grant {
	if cache := p.outsideCache; cache != nil && time.Since(cache.computedAt) < outsideAge && slices.Equal(cache.readable, readable) {
		p.skipped = append(p.skipped, cache.skipped...)
		grants := slices.Clone(cache.grants)
		for i, g := range grants {
			grants[i].Names = slices.Clone(g.Names)
			for j, e := range g.Names { // files may have been replaced
				grants[i].Names[j].ID, _ = fileIDAt(strings.TrimSuffix(string(g.Dir), "/") + "/" + string(e.Name))
			}
		}
		return grants
	}
	if p.nodes["/"] != nil { // a root
		return nil
	}
	fresh := &outsideGrants{computedAt: time.Now(), readable: readable}
	skippedInside := p.skipped
	p.skipped, p.homeEntries = nil, map[string]int{}
	top := p.walk(&node{path: "/", child: child{kind: unix.DT_DIR}})
	if p.grantReading(top, &fresh.grants) {
		fresh.grants = append(fresh.grants, grantFor("/", mayRead))
	}
	for dir, n := range p.homeEntries {
		if n > maxHome {
			p.skipped = append(p.skipped, dir)
		}
	}
	slices.Sort(p.skipped)
	fresh.skipped = p.skipped
	p.skipped = append(skippedInside, fresh.skipped...)
	p.outsideCache = fresh
	if slices.ContainsFunc(fresh.grants, func(g grant) bool { return p.writable(string(g.Dir)) }) {
		p.outsideCache = nil
	}
	return fresh.grants
}

// grantReading reports whether everything in n may be read, so that the caller can
// grant n as a whole. If not, it adds grants for the readable part.
func (p *planner) grantReading(n *node, grants *[]grant) bool {
	if p.homeEntries[n.path] > maxHome {
		return false
	}
	if n.granted || n.refused || !n.listed {
		return !n.refused && (!n.listed || n.readable)
	}
	n.granted, n.readable = true, true
	for _, c := range n.children {
		if !p.grantReading(c, grants) {
			n.readable = false
		}
	}
	if n.readable {
		return true
	}
	g := grant{Dir: []byte(n.path), Rights: mayRead}
	for _, c := range n.children {
		if c.refused || c.listed && !c.readable {
			continue
		}
		e, ok := entry{Name: []byte(c.child.name), ID: c.id}, c.listed
		if !ok { // the directory entry does not suffice: it ignores mounts
			e.ID, ok = fileIDAt(strings.TrimSuffix(n.path, "/") + "/" + c.child.name)
		}
		if ok {
			g.Names = append(g.Names, e)
		}
	}
	*grants = append(*grants, g)
	return false
}

// grantWriting adds the grants for changes at path and below, except for zeph-acp's own
// files. In the directories of those files, commands cannot create or remove entries.
func (p *planner) grantWriting(path string, grants []grant) []grant {
	dir := names(path)
	switch {
	case p.private.Hides(path):
		return grants
	case !p.leadsToOwn(path):
		right := uint64(mayWrite)
		if !p.mustList(dir) {
			right |= mayRead
		}
		if workspace.Within("/dev", path) { // extra_write names it
			right |= mayRead | mayControl
		}
		return append(grants, grantFor(path, right))
	}
	_, all, err := listDir(path, p.buf)
	if err != nil {
		return grants
	}
	for _, c := range all {
		sub := strings.TrimSuffix(path, "/") + "/" + c.name
		if c.kind != unix.DT_LNK && !p.isOwn(path, sub) && !workspace.Within("/dev", sub) && !workspace.Within("/proc", sub) &&
			!workspace.Within("/sys", sub) {
			grants = p.grantWriting(sub, grants)
		}
	}
	return grants
}

// grantFor returns the grant for a single path.
func grantFor(path string, right uint64) grant {
	g := grant{Dir: []byte(filepath.Dir(path)), Rights: right}
	name := filepath.Base(path)
	if path == "/" {
		name = "."
	}
	if i, ok := fileIDAt(path); ok {
		g.Names = []entry{{Name: []byte(name), ID: i}}
	}
	return g
}

// summarize returns the first paths of a list in words.
func summarize(paths []string) string {
	if len(paths) > 3 {
		return fmt.Sprintf("%s and %s", strings.Join(paths[:3], ", "), quantity.Count(len(paths)-3, "more directory"))
	}
	return strings.Join(paths, ", ")
}

func fileIDAt(path string) (fileID, bool) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return fileID{}, false
	}
	return fileIDOf(&st), true
}
