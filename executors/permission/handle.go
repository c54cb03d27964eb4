package permission

import (
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
)

// ShellPolicy is a snapshot of the configured policy for commands: the rules of
// [tools.shell] and of [[tools.permissions.TOOL]], with the values derived from
// them. It is immutable.
type ShellPolicy struct {
	shell      ShellRules
	rules      Config
	allowed    []string          // allowed_paths, absolute and without symlinks
	shows      map[string]string // by tool, another tool that would show the same content
	shellTool  string            // the tool that runs the command of its input
	hidesTools bool              // some rule denies every call that it is applied to
}

// NewShellPolicy makes the policy of a valid configuration. home is absolute;
// empty means unknown. The rules may name these tools.
//
// Symbolic links in allowed_paths are resolved here, once. A link that later replaces
// such a directory gives no further access.
func NewShellPolicy(shell ShellRules, rules Config, home string, tools []executors.Tool) *ShellPolicy {
	p := &ShellPolicy{shell: shell, rules: rules, allowed: shell.Allowed(home), shows: map[string]string{}}
	p.rules.Permissions, p.rules.repository = underNames(rules.Permissions, tools), underNames(rules.repository, tools)
	runner, _ := executors.FindBy(tools, executors.Tool.RunsScripts)
	p.shellTool = runner.Name
	for _, t := range tools {
		if t.Shows != "" {
			p.shows[t.Name] = t.Shows
		}
	}
	for _, of := range []map[string][]Rule{rules.Permissions, rules.repository} {
		for _, list := range of {
			p.hidesTools = p.hidesTools || slices.ContainsFunc(list, Rule.deniesAll)
		}
	}
	return p
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
		if found, err := follow.Path(filepath.Clean(dir), &follow.Trail{}); err == nil {
			dirs = append(dirs, found...)
		}
	}
	return dirs
}

// ShellPolicyHandle holds the current policy for the links of one session. Store replaces it
// atomically. All links check a call by the same policy, even if it changes while the user is
// asked. All methods may be called concurrently.
type ShellPolicyHandle struct {
	// Renew, if not nil, is called before a call is checked, so that it can
	// Store a newer policy. It is set before the first call.
	Renew func()

	current atomic.Pointer[ShellPolicy]
}

// NewShellPolicyHandle returns a handle that holds p.
func NewShellPolicyHandle(p *ShellPolicy) *ShellPolicyHandle {
	h := &ShellPolicyHandle{}
	h.Store(p)
	return h
}

// Store makes p the policy for all calls that are checked from now on.
func (h *ShellPolicyHandle) Store(p *ShellPolicy) { h.current.Store(p) }

// Load returns the current policy.
func (h *ShellPolicyHandle) Load() *ShellPolicy { return h.current.Load() }

// policyFor returns the policy that checks the call until end is called. Copies of the call share it.
func (h *ShellPolicyHandle) policyFor(call *executors.Call) (p *ShellPolicy, end func()) {
	if p, ok := call.Rules.(*ShellPolicy); ok {
		return p, func() {}
	}
	if h.Renew != nil {
		h.Renew()
	}
	p = h.Load()
	call.Rules = p
	return p, func() { call.Rules = nil }
}
