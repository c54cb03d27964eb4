package executors

import "time"

// Record collects facts for the audit line of one call. The link that learns a
// fact sets it. Calls do not share a Record.
type Record struct {
	// Verdicts are what the gates said about the call, in the order of the chain. Add adds to them.
	Verdicts []Verdict
	// Place returns where the key of a setting was set, FILE:LINE; empty means the default. Nil
	// means that no place is known.
	Place  func(key string) string
	Reason string // the user's words about the last answer; may be empty
	// Retitled reports that a question showed the call under another title than its own, which the client may have kept.
	Retitled bool
	// Waited is how long the call waited for answers of the user.
	Waited time.Duration
	// Hooks are the runs of the user's hooks, in the order of their files.
	Hooks []HookRun

	// Adversarial is the decision of the adversarial policy gate: "allow",
	// "deny:REASON" or "error:MESSAGE"; empty if it did not check the call.
	Adversarial string

	Code        string    // of the MCP failure, such as "rate_limited"; empty if there was none
	Trust       string    // the level of trust of the call; empty if the gate trust is off
	ClaimSource string    // where the content comes from, such as FromMCP; empty means by the call's kind
	ExitCode    *int      // of the command that ran; nil if no command ran, or a signal ended it
	Truncated   bool      // the output is not complete
	Masked      int64     // credentials that the filter masked in the result
	Filters     []string  // the rules that recognised the output of the command
	Cached      bool      // the call did not run: an earlier result is still valid
	OutputBytes int       // bytes of the output before it was filtered and cut; 0 means the same as after
	Suspect     string    // parts of the call that a reasoning model may have made up; only a warning
	Rollback    *Rollback // a failed command was undone
}

// BeginWait begins a wait for the user. The function that it returns ends the wait and adds
// it to Waited.
func (r *Record) BeginWait() func() {
	began := time.Now()
	return func() { r.Waited += time.Since(began) }
}

// Rollback counts the files that were restored.
type Rollback struct {
	Restored int `json:"restored"` // files
	Deleted  int `json:"deleted"`  // files that were not there before
}

// HookRun is one run of a hook. The audit log records it.
type HookRun struct {
	Event    string `json:"event"`
	Command  string `json:"command"`
	Source   string `json:"source"` // the file that names it
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal,omitempty"`
	// Decision is deny or ask; empty means that the hook had no objection.
	Decision   string `json:"decision,omitempty"`
	Error      string `json:"error,omitempty"` // why there was no answer
	DurationMS int64  `json:"duration_ms"`
}

// The sources of content that the audit log names. FromWeb is every page or answer of a server on
// the web, whichever tool requested it: the log's format has one word for all of them.
const (
	FromShell       = "shell"
	FromFiles       = "file_system"
	FromWeb         = "web_scrape"
	FromMCP         = "mcp"
	FromMemory      = "memory"
	FromDiagnostics = "diagnostics"
)
