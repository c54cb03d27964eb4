package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/trust"
	"github.com/zeph-acp/zeph-acp/executors/links/cache"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tools/diagnostics"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/undo/copies"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// subagentCopy is a copy of the project in which one sub-agent works.
type subagentCopy struct {
	*copies.Copy
	app   *App
	host  *copyHost
	chain executors.Executor // of the sub-agent
	shell *shell.Executor    // runs commands in the copy
}

// newWorktree makes a copy of the project for a sub-agent of that name.
func (b *sessionBuilder) newWorktree(ctx context.Context, host *copyHost, name string) (*subagentCopy, error) {
	private := b.dirs.roots.Hidden()
	c, err := copies.Make(ctx, copies.Options{
		Project: b.dirs.roots.Cwd(), State: b.app.worktrees.dir, Name: name, Programs: Programs(b.cfg, b.app.Reaper), Limits: b.cfg.Tools.Undo.ForNamed(),
		Refuses: func(abs string) bool {
			_, refused := b.dirs.files.Readable().Refuses(abs)
			return refused || private.Hides(abs)
		},
	})
	if err != nil {
		return nil, err
	}
	chain, bash, err := b.copyChain(host, c)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	host.add(c)
	return &subagentCopy{c, b.app, host, chain, bash}, nil
}

// copyChain returns the chain of a copy. It has the tools of the session, but those that touch
// files or run commands work in the copy. The rules of the project apply to the copy. Only
// the copy can be changed, and commands run in a sandbox where the system has one.
func (b *sessionBuilder) copyChain(host *copyHost, c *copies.Copy) (executors.Executor, *shell.Executor, error) {
	inCopy := *b
	inCopy.cfg.Tools.File.AllowedPaths, inCopy.cfg.Tools.Sandbox.Enabled = nil, true
	cfg, dirs := &inCopy.cfg, &inCopy.dirs
	*dirs = sessionDirs{
		home: b.dirs.home, toRuleNames: c.ToProject, agentFiles: agentFilesBeside(b.app.AgentFiles, c), copyTop: c.Top,
	}
	roots, err := workspace.New(c.Dir)
	if err != nil {
		return nil, nil, err
	}
	dirs.roots = roots.Without(dirs.agentFiles).WithRuleNames(dirs.toRuleNames)
	if dirs.files, _, err = cfg.Tools.File.Roots(dirs.roots); err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(sandbox.Temporary(), func(dir string) bool { return leadsAbove(dir, c.Top) }) {
		if dirs.temp, err = c.Temp(); err != nil { // else commands could write the project
			return nil, nil, err
		}
	}
	walls, box := inCopy.sandboxes(c.Objects())
	local := confinedShell(*cfg, walls, box)
	local.Reaper = b.app.Reaper
	local.Block = append(local.Block, copies.Variables...)
	if dirs.temp != "" {
		local.Extra = append(local.Extra, "TMPDIR="+dirs.temp)
	}
	bash := shell.New(local, dirs.roots.Cwd(), cfg.Tools.Shell.Config)
	bash.Roots, bash.Home, bash.UndoLimits = dirs.roots, dirs.home, cfg.Tools.Undo
	bash.Follow = b.session.Client.Capabilities().BackgroundWork
	tools := executors.CompositeExecutor{
		walls.Middleware(bash),
		bash.Hold(files.New(files.Disk{Roots: dirs.files, MaxBytes: cfg.Tools.File.MaxFileBytes}, dirs.files, cfg.Tools.File, b.mask())),
		diagnostics.New(local, dirs.roots, cfg.Tools.Diagnostics),
		host.tools, // the others
	}
	asking := *host.permission
	asking.Roots, asking.NameInRules, asking.Boxed = dirs.files, dirs.toRuleNames, box.Ready
	asking.InTerminal = false
	policy, authorization := inCopy.rulesGates(host.trust, tools).features()
	list := replaced(host.features.list,
		inCopy.guardFeature(box, c.NamesProject), policy, authorization, inCopy.permissionFeature(&asking),
		cacheFeature(cache.New(cfg.Tools.ResultCache), bash),
		Feature{Name: "lsp"}, Feature{Name: "rewind"})
	return b.app.chain(list, tools), bash, nil
}

// leadsAbove reports whether dir leads to a directory that contains path, which has no links.
func leadsAbove(dir, path string) bool {
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && workspace.Within(real, path)
}

// Chain returns the chain of the sub-agent.
func (w *subagentCopy) Chain() executors.Executor { return w.chain }

// Dir returns the session's working directory in the copy.
func (w *subagentCopy) Dir() string { return w.Copy.Dir }

// Bring makes the changes in the project.
func (w *subagentCopy) Bring(ctx context.Context, call executors.DelegatedCall, res *executors.Result) error {
	w.host.servers.ExpectChanges(ctx)
	b, err := w.Copy.Apply(ctx, copies.Session{
		Current: w.current,
		Put: func(ctx context.Context, path string, text *string, still func(context.Context) *executors.Failure) (executors.Result, error) {
			tool, input := files.Put(path, text)
			return call(ctx, tool, input, still)
		},
	})
	for i := range b.Changes {
		res.Content = append(res.Content, executors.Content{Change: &b.Changes[i]})
	}
	lines := b.Lines()
	if len(lines) == 0 && err == nil {
		lines = []string{"[it changed no files]"}
	}
	for _, note := range lines {
		res.Below(note)
	}
	if err != nil && ctx.Err() == nil { // the report still counts
		w.app.Log.Warn("the changes of a sub-agent", "err", err)
		res.Below("[its changes could not all be brought back: " + executors.OneLine(err.Error()) + "]")
		w.Keep(ctx, res)
		return nil
	}
	return err
}

// current returns the text of a file of the project as the user sees it; nil if there is
// no file.
func (w *subagentCopy) current(ctx context.Context, path string) (*string, error) {
	real, err := w.host.roots.Resolve(path)
	if err != nil {
		return nil, err
	}
	text, err := w.host.fs.ReadFile(ctx, real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, workspace.Cause(err)
	}
	return &text, nil
}

// Keep stores all changes as a patch, or the files of the copy if there can be no patch.
func (w *subagentCopy) Keep(ctx context.Context, res *executors.Result) {
	kept, err := w.Copy.Keep(ctx, nil)
	if err != nil {
		w.app.Log.Warn("keep the changes of a sub-agent", "err", err)
	}
	if kept.Patch != "" {
		res.Below("[its changes are not in the project; a patch is kept for the user: " + kept.Patch + "]")
	}
	if kept.Files != "" {
		res.Below("[its files that are in no patch are kept for the user: " + kept.Files + "]")
	}
}

// Close ends the commands of the sub-agent and removes the copy.
func (w *subagentCopy) Close() {
	_ = w.shell.Close() // no caller could act on its failure
	w.host.remove(w.Copy)
	if err := w.Copy.Close(); err != nil { // the next start tries again
		w.app.Log.Warn("remove the copy of a project", "err", err)
	}
}

// copyHost is a session whose sub-agents work in copies of the project.
type copyHost struct {
	features   *sessionFeatures
	tools      executors.Executor // without the chain
	permission *permission.Permission
	trust      *trust.Trust
	roots      *workspace.Roots // of the file tools
	fs         files.FS
	servers    *lsp.Session // nil if they are off

	mu  sync.Mutex
	all []*copies.Copy
}

func (c *copyHost) add(w *copies.Copy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, w)
}

func (c *copyHost) remove(w *copies.Copy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = slices.DeleteFunc(c.all, func(other *copies.Copy) bool { return other == w })
}

// toProject replaces the names of files in the copies by those in the project, which rules
// use.
func (c *copyHost) toProject(text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.all {
		text = w.ToProject(text)
	}
	return text
}

// nameMappers returns functions that replace the names of files in the copy where a call acts
// by those in the project, and the reverse. They are nil if the call acts in no copy.
func (c *copyHost) nameMappers(call *executors.Call) (toProject, toCopy func(string) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	places := append([]string{call.Card.Dir()}, call.Card.Paths...)
	for _, w := range c.all {
		if slices.ContainsFunc(places, func(path string) bool { return strings.HasPrefix(path, w.Root) }) {
			return w.ToProject, w.ToCopy
		}
	}
	return nil, nil
}

// worktrees are the copies of all sessions on this machine.
type worktrees struct {
	dir string // empty means no directory

	cleaning sync.WaitGroup
	stop     context.CancelFunc

	mu        sync.Mutex
	leftovers []copies.Kept // changes of killed processes, not shown to the user yet
}

// clean removes the copies of killed processes, in the background.
func (w *worktrees) clean(a *App) {
	if w.dir == "" || a.checking != nil {
		return
	}
	if _, err := os.Lstat(w.dir); err != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	w.mu.Lock()
	w.stop = stop
	w.mu.Unlock()
	w.cleaning.Go(func() {
		kept, err := copies.Clean(ctx, copies.Options{State: w.dir, Programs: Programs(a.Config, a.Reaper), Limits: a.Config.Tools.Undo.ForNamed()})
		if err != nil && ctx.Err() == nil {
			a.Log.Warn("remove the copies of killed processes", "err", err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.leftovers = append(w.leftovers, kept...)
	})
}

// showLeftovers shows the user where changes of killed processes are, once.
func (w *worktrees) showLeftovers(warn func(string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.leftovers {
		if k.Patch != "" {
			warn(executors.Shown("A sub-agent was interrupted. Its changes are not in the project; they are kept as a patch: " + k.Patch))
		}
		if k.Files != "" {
			warn(executors.Shown("A sub-agent was interrupted. Its files that are in no patch are not in the project; they are kept: " + k.Files))
		}
	}
	w.leftovers = nil
}

// close stops the cleaning and waits for its end.
func (w *worktrees) close() {
	w.mu.Lock()
	if w.stop != nil {
		w.stop()
	}
	w.mu.Unlock()
	w.cleaning.Wait()
}
