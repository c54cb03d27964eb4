package policy

import (
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/executors"
)

// ShellPolicy is what the configuration says, at one time, of what may run: the
// rules of [tools.shell] and of [[tools.permissions.TOOL]], with what follows
// from them. It does not change.
type ShellPolicy struct {
	shell   ShellRules
	rules   Config
	allowed []string // allowed_paths, absolute and without symlinks
}

// NewShellPolicy makes the policy of a valid configuration. Home is absolute;
// empty means unknown.
//
// Where a directory of allowed_paths leads is looked up here, once: a link that
// takes its place later opens nothing.
func NewShellPolicy(shell ShellRules, rules Config, home string) *ShellPolicy {
	return &ShellPolicy{shell: shell, rules: rules, allowed: shell.Allowed(home)}
}

// Allowed returns the directories of allowed_paths, absolute and without symlinks.
func (c ShellRules) Allowed(home string) []string {
	var dirs []string
	for _, dir := range c.AllowedPaths {
		if isDot(dir) {
			continue
		}
		if rest, ok := strings.CutPrefix(dir, "~"); ok {
			if home == "" {
				continue
			}
			dir = filepath.Join(home, rest)
		}
		if found, err := leads(filepath.Clean(dir), false, new(int)); err == nil {
			dirs = append(dirs, found...)
		}
	}
	return dirs
}

// ShellPolicyHandle holds the policy in force, for the links of one session. A
// new one takes its place at once and as a whole: a call is judged by one policy
// from its first link to its last, however long the user thinks. All methods may
// be called concurrently.
type ShellPolicyHandle struct {
	// Renew, if not nil, is called before a call is judged, so that it can Store
	// what is in force by then. It is set before the first call.
	Renew func()

	now    atomic.Pointer[ShellPolicy]
	judged sync.Map // *executors.Record -> *ShellPolicy: of calls that are on their way
}

// NewShellPolicyHandle makes a handle that holds p.
func NewShellPolicyHandle(p *ShellPolicy) *ShellPolicyHandle {
	h := &ShellPolicyHandle{}
	h.Store(p)
	return h
}

// Store puts p into force for all calls that are judged from now on.
func (h *ShellPolicyHandle) Store(p *ShellPolicy) { h.now.Store(p) }

// Load returns the policy in force.
func (h *ShellPolicyHandle) Load() *ShellPolicy { return h.now.Load() }

// begin returns the policy that judges the call until end is called. A call is
// known by its record, which links that copy the call leave the same.
func (h *ShellPolicyHandle) begin(call *executors.Call) (p *ShellPolicy, end func()) {
	if p, ok := h.judged.Load(call.Record); ok && call.Record != nil {
		return p.(*ShellPolicy), func() {}
	}
	if h.Renew != nil {
		h.Renew()
	}
	p = h.Load()
	if call.Record == nil {
		return p, func() {}
	}
	h.judged.Store(call.Record, p)
	return p, func() { h.judged.Delete(call.Record) }
}
