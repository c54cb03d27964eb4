package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/zeph-acp/zeph-acp/executors/process"
)

// Rights in a box. Names in a directory can be listed only where its files can be read.
const (
	boxReads = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	boxRuns  = boxReads | unix.LANDLOCK_ACCESS_FS_EXECUTE
)

// maxBoxGrants bounds the grants of a box: every command copies them.
const maxBoxGrants = 5000

// system is the state of a Box on Linux.
type system struct {
	abi   int
	inner *Sandbox // knows the session's directories and what must not be read in them

	mu   sync.Mutex
	last *boxGrants // nil before the first command
}

// boxGrants are the grants of a box as of some time.
type boxGrants struct {
	err     error // why commands must ask; the rest is then empty
	grants  []grant
	write   []string // Session.Write
	ruleset *os.File // Landlock's, with all grants
	abi     int
	tools   []string // directories and files outside the system and the session, for people
	notes   []string
	stamps
}

func newBox(session Session) *Box {
	probe := session.Probe
	if probe == nil {
		probe = Available
	}
	if boxProblem(probe()) != "" {
		return nil
	}
	if session.Refuses == nil {
		session.DenyPatterns = nil
	}
	b := &Box{session: session}
	b.abi, _ = probe()
	b.inner = &Sandbox{session: session, abi: b.abi, roots: session.Roots.Dirs()}
	b.inner.writablePlaces = writablePlaces(b.inner.roots, nil, nil, nil, session.Home) // other commands can rename refused files there
	for _, pattern := range session.DenyPatterns {
		b.inner.denyScopes = append(b.inner.denyScopes, newDenyScopes(pattern, session.Home, b.inner.roots)...)
	}
	return b
}

func boxMissing() string { return boxProblem(Available()) }

// boxProblem returns what this kernel lacks for a box, or "". A box needs rules for reading,
// running and all kinds of writing, and a filter of system calls. Older kernels than Linux 6.12 do
// not scope signals; there the filter refuses all signals.
func boxProblem(abi int, reason string) string {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	switch {
	case abi <= 0:
		return reason
	case abi < abiTruncate:
		return "this kernel's Landlock does not restrict truncate(2) (Linux 6.2 and later do)"
	case architectures[runtime.GOARCH] == 0:
		return "the filter of system calls does not know " + runtime.GOARCH
	case errno != 0:
		return "this kernel cannot filter system calls (CONFIG_SECCOMP_FILTER)"
	}
	return ""
}

func (b *Box) ready() error {
	_, err := b.current()
	return err
}

func (b *Box) confined(prog process.Program) (process.Program, error) {
	g, err := b.current()
	if err != nil {
		return prog, err
	}
	return prog.Confined(g.enter)
}

// boxRules are the rules for a launcher.
type boxRules struct {
	ABI    int
	Grants []grant
}

func (b *Box) rules() (json.RawMessage, error) {
	g, err := b.current()
	if err != nil {
		return nil, err
	}
	return json.Marshal(boxRules{g.abi, g.grants})
}

// restriction returns what confines programs by these rules in another process.
func restriction(text json.RawMessage) (process.Restriction, error) {
	var r boxRules
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("the rules are damaged: %w", err)
	}
	g := &boxGrants{abi: r.ABI, grants: r.Grants}
	if problem := boxProblem(Available()); problem != "" {
		return nil, errors.New(problem)
	}
	return g.enter, g.compile()
}

func (b *Box) state() string {
	g, err := b.current()
	if err != nil {
		return "Box: commands are asked about for now: " + err.Error()
	}
	lines := []string{fmt.Sprintf("Box: commands that run without a question read the session's directories and the system's, run the system's programs, "+
		"write nothing and have no network (Landlock ABI %d)", b.abi)}
	if tools := g.tools; len(tools) > 0 {
		text := "Box: they also read " + strings.Join(tools[:min(len(tools), maxShownTools)], ", ")
		if more := len(tools) - maxShownTools; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, text)
	}
	for _, note := range g.notes {
		lines = append(lines, "Box: "+note)
	}
	return strings.Join(lines, "\n")
}

// current returns the present grants. An error is the reason why commands must ask.
func (b *Box) current() (*boxGrants, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil || !b.last.valid() {
		b.last = b.examine()
	}
	return b.last, b.last.err
}

// examine computes the grants.
func (b *Box) examine() *boxGrants {
	g := &boxGrants{abi: b.abi, write: b.session.Write, stamps: stamps{at: time.Now()}}
	p := &planner{Sandbox: b.inner, buf: make([]byte, 64<<10), stamps: &g.stamps}
	p.findOwn()
	for _, path := range secretPaths(b.session.Home) {
		if p.insideRoot(path) {
			p.secretPaths = append(p.secretPaths, path)
		}
	}
	if g.err = shellOutside(b.inner.roots); g.err != nil {
		return g
	}
	starts := p.walkInside()
	if p.refusedMore {
		starts = p.walkInside()
	}
	if len(p.skipped) > 0 {
		g.err = fmt.Errorf("%s: too many files to search for what deny_read names", summarize(p.skipped))
		return g
	}
	for _, n := range starts {
		var parts []grant
		if p.grantReading(n, &parts) {
			g.grants = append(g.grants, grantFor(n.path, boxReads))
			g.stamps.addIdentity(n.path)
			continue
		}
		for _, part := range parts {
			part.Rights = boxReads
			g.grants = append(g.grants, part)
		}
		if !n.refused {
			g.grants = append(g.grants, grantFor(n.path, unix.LANDLOCK_ACCESS_FS_READ_DIR))
		}
	}
	w := newBoxWalk(p, b.session)
	w.system()
	w.toolchains()
	w.git()
	w.allowed()
	g.grants = append(g.grants, w.grants...)
	slices.Sort(w.tools)
	g.tools, g.notes = slices.Concat(w.listed, slices.Compact(w.tools)), w.notes
	count := 0
	for _, part := range g.grants {
		count += len(part.Names)
	}
	if count > maxBoxGrants {
		g.err = fmt.Errorf("too many files beside those that must not be read (%d)", count)
		return g
	}
	g.err = g.compile()
	return g
}

// compile makes the ruleset. It stays open: adding its rules again for every command would take
// longer than the command.
func (g *boxGrants) compile() error {
	fd, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{HandledAccessFS: boxRuns}, 0)
	if err != nil {
		return fmt.Errorf("make a Landlock ruleset: %w", err)
	}
	g.ruleset = os.NewFile(uintptr(fd), "landlock") // closed when no command needs it any more
	for _, part := range g.grants {
		if err := part.add(fd, boxRuns); err != nil {
			return err
		}
	}
	return nil
}

// enter puts this thread into the box. It is the only way into it, here and in a launcher.
func (g *boxGrants) enter(temp string) (killAll func(), err error) {
	if err := g.restrict(temp); err != nil || g.abi < abiScope {
		return nil, err
	}
	return killScope, nil
}

// killScope kills all processes to which this thread can send signals. Since each command has a
// Landlock domain of its own, these are its programs, those that left its session too, but not
// this process. The kernel signals all of them before any can start another one.
func killScope() {
	if parent := unix.Getppid(); parent > 0 && unix.Kill(parent, 0) == nil {
		return // the thread is not in a box
	}
	_ = unix.Kill(-1, unix.SIGKILL)
}

func (g *boxGrants) restrict(temp string) error {
	// Root reads the files of others, where there is a grant. It writes only its own.
	if err := keepCapabilities([]uintptr{unix.CAP_DAC_READ_SEARCH}); err != nil {
		return err
	}
	writes := newRules(g.abi, false)
	writes.FS &^= mayRead
	writes.Grants = []grant{grantFor("/dev/null", mayWrite), grantFor(temp, mayWrite)}
	for _, path := range g.write {
		writes.Grants = append(writes.Grants, grantFor(path, mayWrite))
	}
	for _, part := range writes.Grants {
		if len(part.Names) == 0 {
			return fmt.Errorf("%s is missing", part.Dir)
		}
	}
	// The rule for an earlier command's directory is still in the ruleset, but that directory is gone.
	if err := grantFor(temp, boxReads).add(int(g.ruleset.Fd()), boxRuns); err != nil {
		return err
	}
	if err := writes.enforce(); err != nil { // first, since it forbids new privileges
		return err
	}
	if err := ll.LandlockRestrictSelf(int(g.ruleset.Fd()), 0); err != nil {
		return fmt.Errorf("enforce the Landlock ruleset: %w", err)
	}
	runtime.KeepAlive(g.ruleset)
	return install(func(arch uint32) []unix.SockFilter { return boxFilter(arch, g.abi, len(g.write) > 0) })
}

// grantsAge is how long grants are used without looking for new toolchains.
const grantsAge = 5 * time.Minute

// stamps describe the files and directories on which grants depend.
type stamps struct {
	at  time.Time
	all []stamp
}

// stamp is the state of a file or directory; the zero id means that it does not exist.
type stamp struct {
	path     string
	id       fileID
	changed  unix.Timespec // the time of the last change of the inode, which no program can set
	identity bool          // only id counts
}

// tick is longer than the granularity of the kernel's timestamps.
const tick = 50 * time.Millisecond

func stampOf(path string) stamp {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return stamp{path: path}
	}
	return stamp{path: path, id: fileIDOf(&st), changed: st.Ctim}
}

// add records the present state of a path. It must be called before the path is read.
func (s *stamps) add(path string) {
	if s != nil {
		s.all = append(s.all, stampOf(path))
	}
}

// addIdentity records which file a path names.
func (s *stamps) addIdentity(path string) {
	i, _ := fileIDAt(path)
	s.all = append(s.all, stamp{path: path, id: i, identity: true})
}

// valid reports whether nothing has changed.
func (s *stamps) valid() bool {
	if time.Since(s.at) > grantsAge {
		return false
	}
	return !slices.ContainsFunc(s.all, func(was stamp) bool {
		if was.identity {
			i, _ := fileIDAt(was.path)
			return i != was.id
		}
		// A change within a tick after another one may not change the time.
		return s.at.Sub(time.Unix(was.changed.Unix())) < tick || stampOf(was.path) != was
	})
}
