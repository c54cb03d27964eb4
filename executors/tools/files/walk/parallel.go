package walk

import (
	"container/heap"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

const (
	maxWorkers = 16
	spanLen    = 64       // entries that one job looks at, so that a large directory is shared
	maxOpen    = 200      // directories held open; further ones are opened again when they are visited
	maxPath    = 16 << 10 // bytes; systems accept far less, but a tree may be deeper than one path
	maxAhead   = 16 << 20 // bytes of results that wait for earlier jobs
)

// walker is one walk. The work is divided into jobs, each a part of the tree.
// Workers pick the first job in the order of the paths. The results of a job
// are collected as soon as all earlier results are.
type walker struct {
	size      func(found any) int
	take      func(found any) bool
	stopped   atomic.Bool
	isStopped func() bool // reports whether the walk was stopped; made once, since each visit gets it

	mu         sync.Mutex
	wake       sync.Cond // broadcast when a field below changes
	todo       jobs
	pending    int      // jobs not finished
	busy       int      // jobs being worked on
	open       int      // folders held open
	aheadBytes int      // bytes of finished jobs that are not collected
	front      []cursor // the job to collect next is the last element; the jobs that contain it precede it
	budget     int      // entries that may still be collected
	unseen     Unseen
	panicked   any
}

// folder is a directory in which jobs work.
type folder struct {
	up     *folder
	name   string            // in up
	rel    string            // the path from the start of the walk: "" or ending in "/"
	full   string            // the path from the outermost root, or from the top of the repository around it
	ignore *ignore           // the patterns that hold in it
	branch *workspace.Branch // nil: closed, because too many are open
	users  int               // jobs in it; guarded by the walker
}

// job is a task: to open a directory and visit its entries, or to visit some entries of
// an open directory.
type job struct {
	key     string // orders the jobs by their paths
	folder  *folder
	dir     workspace.Entry   // the directory to open; without a name: visit entries
	entries []workspace.Entry // the entries to visit

	// When it is done:
	done  bool
	items []item
	count int // entries visited
	size  int // bytes of items
}

// item is a result, a further job or a problem of a job. at is the number of its
// entry, from 1; 0 is before all entries.
type item struct {
	at      int
	found   any
	child   *job
	problem *problem
}

// problem is an entry that could not be visited.
type problem struct {
	path           string
	err            error
	hidden, denied bool
}

// cursor is the position up to which a job is collected.
type cursor struct {
	job         *job
	item, count int
}

var errTooDeep = errors.New("the path is too long")

// run walks the tree below top, and closes top. Only top must be readable.
func (w *walker) run(ctx context.Context, top *workspace.Branch, ign *ignore, newVisit func() visit) (Unseen, error) {
	defer top.Close()
	defer context.AfterFunc(ctx, w.halt)()                                      // before list, which already visits files
	f := &folder{full: ign.path(top.Rel()), branch: top, users: 1, ignore: ign} // one reference more than its jobs have: they never close it
	first := &job{folder: f}
	kids, err := w.list(ctx, first, f, newVisit())
	if err != nil {
		return Unseen{}, err
	}
	w.pending, w.front = 1, []cursor{{job: first}}
	w.finish(first, f, kids)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers) - 1 {
		wg.Go(func() { w.work(ctx, newVisit()) })
	}
	w.work(ctx, newVisit())
	wg.Wait()
	for _, j := range w.todo {
		w.release(j.folder)
	}
	if w.panicked != nil {
		panic(w.panicked)
	}
	if ctx.Err() != nil {
		return Unseen{}, context.Cause(ctx)
	}
	return w.unseen, nil
}

func prefix(rel string) string {
	if rel == "." {
		return ""
	}
	return rel + "/"
}

func (w *walker) halt() {
	w.stopped.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake.Broadcast()
}

// work does jobs until no jobs are left. A panic ends the walk; run raises it
// again on the goroutine of its caller.
func (w *walker) work(ctx context.Context, look visit) {
	defer func() {
		if p := recover(); p != nil {
			w.halt()
			w.mu.Lock()
			defer w.mu.Unlock()
			w.panicked = p
		}
	}()
	for {
		j := w.next()
		if j == nil {
			return
		}
		f, kids := w.runJob(ctx, j, look)
		w.finish(j, f, kids)
	}
}

// next waits for a job; nil means that no jobs are left.
func (w *walker) next() *job {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if w.stopped.Load() || w.pending == 0 {
			return nil
		}
		// A worker that is too far ahead waits until the job that is collected next is
		// done, unless its own job is that one.
		if len(w.todo) > 0 && (w.aheadBytes < maxAhead || w.busy == 0 || w.todo[0] == w.front[len(w.front)-1].job) {
			w.busy++
			return heap.Pop(&w.todo).(*job)
		}
		w.wake.Wait()
	}
}

// runJob runs a job. It returns the further jobs, and the folder that it opened, if
// any.
func (w *walker) runJob(ctx context.Context, j *job, look visit) (opened *folder, kids []*job) {
	at, err := j.folder.openBranch()
	if err == nil && at != j.folder.branch {
		defer at.Close()
	}
	if j.dir.Name == "" {
		if err != nil {
			j.addProblem(0, strings.TrimSuffix(j.folder.rel, "/"), err)
			return nil, nil
		}
		return nil, w.visitEntries(j, j.folder, at, j.entries, look)
	}
	f := &folder{up: j.folder, name: j.dir.Name, rel: j.folder.rel + j.dir.Name + "/", full: j.folder.full + j.dir.Name + "/",
		ignore: j.folder.ignore}
	switch {
	case err != nil:
	case len(f.full) > maxPath:
		err = errTooDeep
	default:
		f.branch, err = at.Sub(j.dir.Name)
	}
	if !j.addProblem(0, f.rel[:len(f.rel)-1], err) {
		return nil, nil
	}
	w.visitEntry(j, 0, Entry{Entry: j.dir, In: j.folder.rel}, look)
	if err != nil {
		return nil, nil
	}
	if kids, err = w.list(ctx, j, f, look); err != nil {
		j.addProblem(0, f.rel[:len(f.rel)-1], err)
	}
	return f, kids
}

// addProblem records err, if it is not nil. It reports whether path may be named.
func (j *job) addProblem(at int, path string, err error) bool {
	if err == nil {
		return true
	}
	p := newProblem(path, err)
	j.items = append(j.items, item{at: at, problem: &p})
	return !p.hidden && !p.denied
}

func newProblem(path string, err error) problem {
	p := problem{path: path, err: err}
	_, p.hidden = errors.AsType[*workspace.AgentFileError](err)
	_, p.denied = errors.AsType[*workspace.DeniedError](err)
	return p
}

// openBranch returns the open directory. The caller closes it if it is not f.branch.
func (f *folder) openBranch() (*workspace.Branch, error) {
	if f.branch != nil {
		return f.branch, nil
	}
	up, err := f.up.openBranch()
	if err != nil {
		return nil, err
	}
	if up != f.up.branch {
		defer up.Close()
	}
	return up.Sub(f.name)
}

// list visits all entries of f, or divides them into jobs if there are many.
func (w *walker) list(ctx context.Context, j *job, f *folder, look visit) (kids []*job, err error) {
	entries, left, err := f.branch.List(ctx)
	if err != nil {
		return nil, err
	}
	if left.Hidden > 0 {
		j.items = append(j.items, item{problem: &problem{hidden: true}})
	}
	for range left.Denied {
		j.items = append(j.items, item{problem: &problem{denied: true}})
	}
	slices.SortFunc(entries, inOrder)
	f.ignore = f.ignore.load(f.branch, entries)
	if len(entries) <= spanLen {
		return w.visitEntries(j, f, f.branch, entries, look), nil
	}
	for part := range slices.Chunk(entries, spanLen) {
		kids = append(kids, &job{key: f.rel + sortName(part[0]), folder: f, entries: part})
		j.items = append(j.items, item{child: kids[len(kids)-1]})
	}
	return kids, nil
}

// visitEntries visits some entries of f, which is open as at. Directories become jobs.
func (w *walker) visitEntries(j *job, f *folder, at *workspace.Branch, entries []workspace.Entry, look visit) (kids []*job) {
	j.count = len(entries)
	for i, e := range entries {
		if w.stopped.Load() {
			return kids
		}
		switch dir := e.Type.IsDir(); {
		case e.Name == GitDir || f.ignore.match(f.full, e.Name, dir):
		case dir:
			kid := &job{key: f.rel + e.Name + "/", folder: f, dir: e}
			kids = append(kids, kid)
			j.items = append(j.items, item{at: i + 1, child: kid})
		default:
			w.visitEntry(j, i+1, Entry{Entry: e, Dir: at, In: f.rel}, look)
		}
	}
	return kids
}

// visitEntry visits one entry.
func (w *walker) visitEntry(j *job, at int, e Entry, look visit) {
	found, ok, err := look(e, w.isStopped)
	if err != nil {
		j.addProblem(at, e.Path(), err)
	}
	if ok {
		j.items = append(j.items, item{at: at, found: found})
		j.size += w.size(found)
	}
}

// finish records that a job is done: f is the folder that it opened, kids are the jobs
// that it added.
func (w *walker) finish(j *job, f *folder, kids []*job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j.done, j.entries = true, nil
	j.size += 128 + 64*len(j.items)
	w.aheadBytes += j.size
	w.pending += len(kids) - 1
	if w.busy > 0 {
		w.busy--
	}
	for _, kid := range kids {
		kid.folder.users++
		heap.Push(&w.todo, kid)
	}
	if f != nil && f.branch != nil && f.up != nil {
		w.open++
		if f.users == 0 || w.open > maxOpen {
			w.close(f)
		}
	}
	if j.folder != f {
		w.release(j.folder)
	}
	w.advance()
	w.wake.Broadcast()
}

// release records that a job in f has ended.
func (w *walker) release(f *folder) {
	if f.users--; f.users == 0 && f.branch != nil {
		w.close(f)
	}
}

func (w *walker) close(f *folder) {
	f.branch.Close() // read only: there is nothing to lose
	f.branch = nil
	w.open--
}

// advance collects the results up to the first job that is not done.
func (w *walker) advance() {
	for !w.stopped.Load() && len(w.front) > 0 {
		c := &w.front[len(w.front)-1]
		if !c.job.done {
			return
		}
		if c.item == len(c.job.items) {
			w.aheadBytes -= c.job.size
			count := c.job.count - c.count
			w.front = w.front[:len(w.front)-1]
			w.spend(count)
			continue
		}
		it := c.job.items[c.item]
		c.job.items[c.item] = item{}
		c.item++
		count := max(0, it.at-c.count)
		c.count += count
		switch {
		case !w.spend(count):
		case it.child != nil:
			w.front = append(w.front, cursor{job: it.child})
		case it.problem != nil:
			w.unseen.add(*it.problem)
		case !w.take(it.found):
			w.stopped.Store(true)
		}
	}
}

// spend counts entries. It ends the walk when its budget is exhausted.
func (w *walker) spend(count int) bool {
	if count > w.budget {
		w.unseen.Cut = true
		w.stopped.Store(true)
		return false
	}
	w.budget -= count
	return true
}
