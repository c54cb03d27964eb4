package app

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// ruleSet holds the permission rules of the configuration. They follow the file
// while the agent runs; all other keys apply from the next start.
type ruleSet struct {
	shell   permission.ShellRules
	tools   permission.Config
	version int      // grows with each change
	notes   []string // keys of the current file that are not in force; for the user
}

// rulesOf returns the permission rules of a configuration.
func rulesOf(cfg config.Config) ruleSet {
	return ruleSet{shell: cfg.Tools.Shell.ShellRules, tools: cfg.Tools.Config}
}

// appliedTo returns cfg with these rules.
func (r ruleSet) appliedTo(cfg config.Config) config.Config {
	cfg.Tools.Shell.ShellRules, cfg.Tools.Config = r.shell, r.tools
	return cfg
}

// rulesFile checks before each checked call whether the configuration file
// changed: with one stat that follows links. A call that follows a change waits for the
// new rules, a fifth of a second at most for a file that is written at once. It needs no
// goroutine and nothing to close. It also detects changes of a file on the network, of one that is
// replaced, and of one that appears later.
//
// A file that has mistakes, is being written or was removed changes nothing. So
// an unreadable file never allows a call.
type rulesFile struct {
	file  string                         // if empty, the rules never change
	start config.Config                  // the configuration at the start
	load  func() (*config.Loaded, error) // loads the configuration as at the start
	now   func() time.Time
	sleep func(time.Duration)
	log   *slog.Logger

	mu          sync.Mutex
	rules       ruleSet
	origin      func(key string) string // of the file that the rules come from
	loadedStamp config.Stamp            // of the file that was last loaded, even if it had mistakes
	newStamp    config.Stamp            // of a newer file that is not loaded yet
	newSince    time.Time               // when that one was first seen
}

// settleTime is how long a file must stay unchanged before it is read. Until then
// it may be half written, and half of it may be valid and allow more.
const settleTime = 200 * time.Millisecond

// maxSettling limits the time for which a call waits for a file that keeps changing. After
// it the previous rules check the call.
const maxSettling = 10 * settleTime

// newRulesFile returns a rulesFile that begins with a loaded configuration.
func newRulesFile(l *config.Loaded, now func() time.Time, log *slog.Logger) *rulesFile {
	return &rulesFile{
		file: l.File, start: l.Config, load: l.Reload, now: now, sleep: time.Sleep, log: log,
		rules:       rulesOf(l.Config),
		origin:      l.Origin,
		loadedStamp: l.Stamp,
	}
}

// current returns the rules in force.
func (w *rulesFile) current() ruleSet {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == "" {
		return w.rules
	}
	stamp, ok := w.changed()
	if !ok {
		return w.rules
	}
	l, err := w.load()
	if !config.StampOf(w.file).Same(stamp) { // changed while it was read: the next call tries again
		return w.rules
	}
	w.loadedStamp = stamp
	if err == nil && stamp.Missing() {
		err = fmt.Errorf("%s is gone", toml.Printable(w.file))
	}
	if err != nil {
		w.note(fmt.Sprintf("The changed configuration is not used, and the previous rules stay in force: %s", toml.OneLine(err.Error())))
		return w.rules
	}
	next := rulesOf(l.Config)
	w.origin = l.Origin
	w.note(restartNotice(w.file, config.Changed(next.appliedTo(w.start), l.Config)))
	if !reflect.DeepEqual(next.shell, w.rules.shell) || !reflect.DeepEqual(next.tools, w.rules.tools) {
		w.rules.shell, w.rules.tools = next.shell, next.tools
		w.rules.version++
		w.log.Info("the rules of the changed configuration are in force", "file", w.file)
	}
	return w.rules
}

// changed waits until a changed file has settled. It returns false if the file is as it was
// loaded, or does not settle.
func (w *rulesFile) changed() (config.Stamp, bool) {
	for end := w.now().Add(maxSettling); ; {
		stamp := config.StampOf(w.file)
		if stamp.Same(w.loadedStamp) {
			return stamp, false
		}
		rest := w.unsettled(stamp)
		if rest <= 0 {
			return stamp, true
		}
		if w.now().Add(rest).After(end) {
			return stamp, false
		}
		w.sleep(rest)
	}
}

// unsettled returns the time for which the file must still stay unchanged; 0 or less if it
// has been unchanged for [settleTime].
func (w *rulesFile) unsettled(stamp config.Stamp) time.Duration {
	now := w.now()
	if w.newSince.IsZero() || !stamp.Same(w.newStamp) {
		w.newStamp, w.newSince = stamp, now
	}
	since := w.newSince
	var changed time.Time
	if !stamp.Missing() {
		changed = stamp.ModTime()
	} else if dir, err := os.Stat(filepath.Dir(w.file)); err == nil { // it changed when the file disappeared
		changed = dir.ModTime()
	}
	if changed.Before(since) { // long before it was first seen
		since = changed
	}
	return settleTime - now.Sub(since)
}

// note replaces the pending notice about the file; "" clears it.
func (w *rulesFile) note(text string) {
	w.rules.notes = nil // sessions may still hold the old slice
	if text != "" {
		w.rules.notes = []string{text}
		w.log.Warn(text)
	}
}

// restartNotice returns the notice about changed keys that apply only after a restart.
func restartNotice(file string, keys []string) string {
	const maxKeys = 5
	if len(keys) == 0 {
		return ""
	}
	more := ""
	if len(keys) > maxKeys {
		keys, more = keys[:maxKeys], fmt.Sprintf(" and %d more", len(keys)-maxKeys)
	}
	was := "was"
	if len(keys) > 1 {
		was = "were"
	}
	list := toml.OneLine(strings.Join(keys, ", ")) + more
	return fmt.Sprintf("%s: %s %s changed; this takes effect at the next start.", toml.Printable(file), list, was)
}

// placeOf returns the place where a key was set, FILE:LINE; empty if it has its default.
func (a *App) placeOf(key string) string {
	if a.rules == nil {
		return ""
	}
	a.rules.mu.Lock()
	defer a.rules.mu.Unlock()
	if at := a.rules.origin(key); at != a.rules.file {
		return at
	}
	return ""
}

// currentRules returns the rules that the sessions of this App follow.
func (a *App) currentRules() ruleSet {
	if a.rules == nil {
		return rulesOf(a.Config)
	}
	return a.rules.current()
}

// shellPolicy returns the policy of one session. It begins with the configuration, which has
// the rules in now. It follows later changes of the rules, each tightened by the workspace's file.
func (b *sessionBuilder) shellPolicy(now ruleSet) *permission.ShellPolicyHandle {
	h := permission.NewShellPolicyHandle(permission.NewShellPolicy(b.cfg.Tools.Shell.ShellRules, b.cfg.Tools.Config, b.dirs.home, catalogue.Known()))
	var mu sync.Mutex
	h.Renew = func() {
		mu.Lock()
		defer mu.Unlock()
		next := b.app.currentRules()
		if next.version != now.version {
			cfg, _ := b.app.tightened(next, b.dirs.roots)
			h.Store(permission.NewShellPolicy(cfg.Tools.Shell.ShellRules, cfg.Tools.Config, b.dirs.home, catalogue.Known()))
		}
		for _, text := range now.notes {
			if !slices.Contains(next.notes, text) {
				b.session.Withdraw(text)
			}
		}
		for _, text := range next.notes {
			if !slices.Contains(now.notes, text) {
				b.session.Warn(text)
			}
		}
		now = next
	}
	return h
}

// tightened returns the configuration with these rules, restricted by the
// workspace's own file.
func (a *App) tightened(r ruleSet, roots *workspace.Roots) (config.Config, []string) {
	cfg := r.appliedTo(a.Config)
	if _, err := os.Lstat(filepath.Join(roots.Cwd(), filepath.FromSlash(config.WorkspaceFile))); errors.Is(err, fs.ErrNotExist) {
		return cfg, nil // spares the checks below in a project without the file
	}
	if isAgentFile(roots, config.WorkspaceFile) { // it is the user's configuration, not a repository's
		return cfg, nil
	}
	return config.Tighten(cfg, roots.Cwd())
}
