package app

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/executors/policy"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/session"
)

// rules are the part of the configuration that follows its file while the agent
// runs: what may run. All else holds until the next start.
type rules struct {
	shell   policy.ShellRules
	tools   policy.Config
	version int      // grows with each change
	notes   []string // what of the file, as it is now, is not in force; for the user
}

// over returns cfg with these rules.
func (r rules) over(cfg config.Config) config.Config {
	cfg.Tools.Shell.ShellRules, cfg.Tools.Config = r.shell, r.tools
	return cfg
}

// rulesFile checks whether the configuration's file changed, before each call that
// is judged: one stat of the file, a link
// followed. There is nothing to start, to wait for or to close, and a file on
// the network, one that is replaced, and one that appears later are seen alike.
//
// What cannot be used changes nothing: a file with mistakes, one that is being
// written, one that is gone. So nothing is ever allowed because of a file that
// nobody could read.
type rulesFile struct {
	file  string                         // may be empty: nothing changes then
	start config.Config                  // with which the process began
	load  func() (*config.Loaded, error) // the configuration, as at the start
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	rules   rules
	judged  config.Stamp // of the file when it was last judged
	changed config.Stamp // of the file that is not judged yet,
	since   time.Time
}

// settled is how long a file must have been as it is before it is read: until
// then somebody may be writing it, and half of it may be valid and allow more.
const settled = 200 * time.Millisecond

// newRulesFile makes one that begins with what was loaded.
func newRulesFile(l *config.Loaded, now func() time.Time, log *slog.Logger) *rulesFile {
	return &rulesFile{
		file: l.File, start: l.Config, load: l.Reload, now: now, log: log,
		rules:  rules{shell: l.Config.Tools.Shell.ShellRules, tools: l.Config.Tools.Config},
		judged: l.Stamp,
	}
}

// current returns the rules in force.
func (w *rulesFile) current() rules {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == "" {
		return w.rules
	}
	is := config.StampOf(w.file)
	if is.Same(w.judged) || !w.quiet(is) {
		return w.rules
	}
	l, err := w.load()
	if !config.StampOf(w.file).Same(is) { // written while it was read: the next call looks again
		return w.rules
	}
	w.judged = is
	if err == nil && is.None() {
		err = fmt.Errorf("%s is gone", toml.Printable(w.file))
	}
	if err != nil {
		w.note(fmt.Sprintf("The changed configuration is not used, and the rules stay as they were: %s", toml.OneLine(err.Error())))
		return w.rules
	}
	begun := rules{shell: l.Config.Tools.Shell.ShellRules, tools: l.Config.Tools.Config}.over(w.start)
	w.note(later(w.file, config.Changed(begun, l.Config)))
	shell, tools := l.Config.Tools.Shell.ShellRules, l.Config.Tools.Config
	if !reflect.DeepEqual(shell, w.rules.shell) || !reflect.DeepEqual(tools, w.rules.tools) {
		w.rules = rules{shell: shell, tools: tools, version: w.rules.version + 1, notes: w.rules.notes}
		w.log.Info("the rules of the changed configuration are in force", "file", w.file)
	}
	return w.rules
}

// quiet reports whether the file has been as it is for a while.
func (w *rulesFile) quiet(is config.Stamp) bool {
	now := w.now()
	if w.since.IsZero() || !is.Same(w.changed) {
		w.changed, w.since = is, now
	}
	if now.Sub(w.since) >= settled {
		return true
	}
	if is.None() { // it went when its directory changed, or with that
		dir, err := os.Stat(filepath.Dir(w.file))
		return err != nil || now.Sub(dir.ModTime()) >= settled
	}
	return now.Sub(is.ModTime()) >= settled // it was, before anybody looked
}

// note replaces the pending notice about the file; "" clears it.
func (w *rulesFile) note(text string) {
	w.rules.notes = nil // sessions may still hold the old ones
	if text != "" {
		w.rules.notes = []string{text}
		w.log.Warn(text)
	}
}

// later returns the notice about changed keys that do not count yet.
func later(file string, keys []string) string {
	const most = 5
	if len(keys) == 0 {
		return ""
	}
	more := ""
	if len(keys) > most {
		keys, more = keys[:most], fmt.Sprintf(" and %d more", len(keys)-most)
	}
	was := "was"
	if len(keys) > 1 {
		was = "were"
	}
	return fmt.Sprintf("%s: %s%s %s changed: that counts from the next start.", toml.Printable(file), toml.OneLine(strings.Join(keys, ", ")), more, was)
}

// rulesNow returns the rules that the sessions of this App follow.
func (a *App) rulesNow() rules {
	if a.rules == nil {
		return rules{shell: a.Config.Tools.Shell.ShellRules, tools: a.Config.Tools.Config}
	}
	return a.rules.current()
}

// shellPolicy makes what judges the calls of one session: first by cfg, which
// comes of the rules in now, later by what they become, which the workspace's own
// file tightens again where it counts.
func (a *App) shellPolicy(s session.Setup, roots *workspace.Roots, home string, cfg config.Config, now rules) *policy.ShellPolicyHandle {
	h := policy.NewShellPolicyHandle(policy.NewShellPolicy(cfg.Tools.Shell.ShellRules, cfg.Tools.Config, home))
	var mu sync.Mutex
	h.Renew = func() {
		mu.Lock()
		defer mu.Unlock()
		next := a.rulesNow()
		if next.version != now.version {
			cfg, _ := a.tightened(next, roots)
			h.Store(policy.NewShellPolicy(cfg.Tools.Shell.ShellRules, cfg.Tools.Config, home))
		}
		for _, text := range now.notes {
			if !slices.Contains(next.notes, text) {
				s.Withdraw(text)
			}
		}
		for _, text := range next.notes {
			if !slices.Contains(now.notes, text) {
				s.Warn(text)
			}
		}
		now = next
	}
	return h
}

// tightened returns the configuration with these rules, restricted by the
// workspace's own file.
func (a *App) tightened(r rules, roots *workspace.Roots) (config.Config, []string) {
	cfg := r.over(a.Config)
	if isOwn(roots, config.WorkspaceFile) { // the user's own is no repository's
		return cfg, nil
	}
	return config.Tighten(cfg, roots.Cwd())
}
