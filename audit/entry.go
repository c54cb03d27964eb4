package audit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Entry is the record of one call. Its texts are redacted and truncated.
type Entry struct {
	Timestamp string `json:"timestamp"` // when the call began: RFC 3339, UTC, with milliseconds
	ID        string `json:"tool_call_id"`
	Tool      string `json:"tool"`
	Session   string `json:"session"`
	Caller    string `json:"caller_id,omitempty"`
	Origin    string `json:"origin"`
	Phase     string `json:"phase"`
	Attempt   int    `json:"attempt"`

	Command string          `json:"command,omitempty"` // the shell script
	URL     string          `json:"url,omitempty"`
	Paths   []string        `json:"paths,omitempty"` // absolute
	Input   json.RawMessage `json:"input,omitempty"`

	Decision string `json:"decision,omitempty"` // allow, ask or deny
	Rule     string `json:"rule,omitempty"`
	Answer   string `json:"answer,omitempty"`
	Reason   string `json:"reason,omitempty"` // the user's words about the answer
	// Adversarial is the decision of the adversarial policy gate: "allow",
	// "deny:REASON" or "error:MESSAGE".
	Adversarial string `json:"adversarial_policy_decision,omitempty"`
	// Gates are the decision record: what each gate said, in the order of the chain.
	Gates []executors.Verdict `json:"gates,omitempty"`
	// PolicyMatch names the rules of [tools.policy] and [tools.authorization] that
	// decided.
	PolicyMatch string `json:"policy_match,omitempty"`
	// Hooks are the runs of the user's hooks. A hook that belongs to no tool call has an
	// entry of the tool "hook".
	Hooks       []executors.HookRun `json:"hooks,omitempty"`
	Trust       string              `json:"trust,omitempty"` // the level of trust of the call
	ClaimSource string              `json:"claim_source,omitempty"`
	MCPServer   string              `json:"mcp_server,omitempty"`
	MCPCode     string              `json:"mcp_error_code,omitempty"` // the server's code for its failure

	Suspect string `json:"hallucination_suspect,omitempty"` // names in the call that the model may have invented

	Result      Outcome             `json:"result"`
	Category    executors.Category  `json:"error_category,omitempty"` // empty if the call succeeded
	Error       string              `json:"error,omitempty"`
	ExitCode    *int                `json:"exit_code"` // null: no command ran, or a signal ended it
	Truncated   bool                `json:"truncated"`
	Cached      bool                `json:"cached,omitempty"` // the call did not run: it has the result of an earlier one
	Rollback    *executors.Rollback `json:"rollback,omitempty"`
	DurationMS  int64               `json:"duration_ms"`
	WaitedMS    int64               `json:"waited_ms,omitempty"` // the part of DurationMS spent waiting for the user
	BytesBefore int                 `json:"bytes_before"`        // the size of the output before the filters
	BytesAfter  int                 `json:"bytes_after"`         // the size of the text for the model
	Filters     []string            `json:"filters,omitempty"`   // the rules that recognised the output
}

// Outcome is how a call ended.
type Outcome string

// The outcomes.
const (
	Success     Outcome = "success"
	Denied      Outcome = "denied" // the call was not run
	Failed      Outcome = "failed" // includes non-zero exit codes
	TimedOut    Outcome = "timeout"
	Cancelled   Outcome = "cancelled"
	RolledBack  Outcome = "rollback"    // the call failed, and its changes were undone
	Interrupted Outcome = "interrupted" // the agent ended during the call, so its outcome is unknown
)

// When returns the time at which the call began; zero if the log has none.
func (e *Entry) When() time.Time {
	at, err := time.Parse(time.RFC3339, e.Timestamp)
	if err != nil {
		return time.Time{}
	}
	return at
}

const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// Limits on an entry, in bytes.
const (
	maxName    = 256
	maxText    = 1 << 10
	maxCommand = 64 << 10 // the longest command of bash, so that it is always whole
	maxPaths   = 32
	maxBody    = 200 << 10
	maxLine    = 256 << 10 // a body with the hashes that seal appends
)

// newEntry returns the entry of a call before it runs.
func (l *Log) newEntry(call *executors.Call, now time.Time) *Entry {
	m := l.exitOf(call)
	e := &Entry{
		Timestamp: now.UTC().Format(timeFormat),
		ID:        truncate(call.ID, maxName), Tool: m.text(call.Tool, maxName),
		Session: truncate(call.Session, maxName), Caller: m.text(call.Caller, maxName),
		Origin: call.Origin.String(), Phase: call.Phase.String(), Attempt: call.Attempt,
		Command: m.text(call.Card.Command(), maxCommand), URL: m.text(call.Card.URL, maxText),
		Input:       m.input(call.Input),
		ClaimSource: claimSource(call),
		MCPServer:   m.text(call.Server(), maxName),
	}
	for i, p := range call.Card.Paths {
		if i == maxPaths {
			e.Paths = append(e.Paths, fmt.Sprintf("… (%s)", quantity.Count(len(call.Card.Paths), "path")))
			break
		}
		e.Paths = append(e.Paths, m.text(p, maxText))
	}
	return e
}

// claimSource returns the source of a call's content, by the kind of the call.
// A tool can set another source in the call's Record.
func claimSource(call *executors.Call) string {
	kind := cmp.Or(call.Card.Kind, call.Spec.Kind)
	switch {
	case call.Server() != "":
		return executors.FromMCP
	case call.Card.Command() != "" || kind == executors.KindExecute:
		return executors.FromShell
	case call.Card.URL != "" || kind == executors.KindFetch:
		return executors.FromWeb
	}
	switch kind {
	case executors.KindRead, executors.KindEdit, executors.KindDelete, executors.KindMove, executors.KindSearch:
		return executors.FromFiles
	}
	return ""
}

// addOutcome adds the outcome of the call.
func (l *Log) addOutcome(ctx context.Context, e *Entry, call *executors.Call, res executors.Result, err error) {
	r, m := call.Record, l.exitOf(call)
	e.Attempt = call.Attempt
	e.Decision, e.Rule, e.Answer = string(r.Decision()), m.text(r.Rule(), maxText), m.text(r.Answer(), maxName)
	e.Reason = m.text(r.Reason, maxText)
	e.Adversarial = m.text(r.Adversarial, maxText)
	e.Gates, e.Hooks = m.gates(r.Verdicts), m.hooks(r.Hooks)
	e.PolicyMatch = policyMatch(e.Gates)
	e.Trust = r.Trust
	e.ClaimSource = cmp.Or(truncate(r.ClaimSource, maxName), e.ClaimSource)
	e.MCPCode = m.text(r.Code, maxName)
	e.ExitCode, e.Rollback = r.ExitCode, r.Rollback
	e.Suspect = m.text(r.Suspect, maxText)
	e.Truncated, e.Cached = r.Truncated, r.Cached
	e.BytesAfter = len(res.ForModel())
	e.BytesBefore = cmp.Or(r.OutputBytes, e.BytesAfter)
	e.WaitedMS, e.Filters = r.Waited.Milliseconds(), r.Filters[:min(len(r.Filters), maxGates)]
	e.Result, e.Category = outcome(ctx, r, res, err)
	if err == nil && res.Failure != nil {
		err = res.Failure
	}
	if err != nil {
		// Errors quote input that cannot be parsed, which may be a thought.
		if text := err.Error(); !strings.Contains(text, thought) {
			e.Error = m.text(text, maxText)
		}
	}
}

// maxGates bounds three lists of an entry: verdicts, runs of hooks and filter rules. Each
// redirect of a request adds to them.
const maxGates = 64

// gates returns the verdicts with redacted and truncated texts.
func (m exit) gates(verdicts []executors.Verdict) []executors.Verdict {
	var out []executors.Verdict
	for _, v := range verdicts[:min(len(verdicts), maxGates)] {
		for _, text := range []*string{&v.Rule, &v.Reason, &v.Source, &v.About, &v.Change} {
			*text = m.text(*text, maxText)
		}
		v.Answer = m.text(v.Answer, maxName)
		out = append(out, v)
	}
	return out
}

// hooks returns the runs of hooks with redacted and truncated texts.
func (m exit) hooks(runs []executors.HookRun) []executors.HookRun {
	var out []executors.HookRun
	for _, r := range runs[:min(len(runs), maxGates)] {
		r.Command, r.Source, r.Error = m.text(r.Command, maxText), m.text(r.Source, maxText), m.text(r.Error, maxText)
		out = append(out, r)
	}
	return out
}

// policyMatch returns the rules that the call matched. If a rule denied the call, it
// returns only the first such rule.
func policyMatch(verdicts []executors.Verdict) string {
	var rules []string
	for _, v := range verdicts {
		switch {
		case v.Gate != "policy" && v.Gate != "authorization":
		case v.Decision == executors.Deny:
			return v.Rule
		case !slices.Contains(rules, v.Rule):
			rules = append(rules, v.Rule)
		}
	}
	return truncate(strings.Join(rules, "; "), maxText)
}

// outcome classifies how a call ended.
func outcome(ctx context.Context, r *executors.Record, res executors.Result, err error) (Outcome, executors.Category) {
	category := cmp.Or(res.Category(), executors.PermanentFailure) // an ordinary exit code has no category
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return TimedOut, executors.Timeout
	case err != nil && (ctx.Err() != nil || errors.Is(err, context.Canceled)): // whatever the cause
		return Cancelled, executors.Cancelled
	case err != nil:
		return Failed, executors.PermanentFailure
	case !res.Failed && r.Rollback == nil:
		return Success, ""
	case r.Rollback != nil:
		return RolledBack, category
	case category == executors.Timeout:
		return TimedOut, category
	case category == executors.Cancelled:
		return Cancelled, category
	case r.ExitCode == nil && res.Denied():
		return Denied, category
	}
	return Failed, category
}

// body encodes the entry as a JSON object of at most maxBody bytes.
func (e *Entry) body() ([]byte, error) {
	body, err := encode(e)
	if err != nil || len(body) <= maxBody {
		return body, err
	}
	short := *e // the limits of the texts do not count escapes, which take up to six bytes for one
	short.Input, short.Paths, short.Gates, short.Hooks, short.Command = nil, nil, nil, nil, truncate(e.Command, 16*maxText)
	return encode(&short)
}

// encode returns JSON without control characters, which could control the
// terminal that shows the file. encoding/json escapes only some of them.
func encode(e *Entry) ([]byte, error) {
	body, err := plainjson.Marshal(e)
	if err != nil || bytes.IndexFunc(body, controlsTerminal) < 0 {
		return body, err
	}
	return []byte(executors.EscapeJSON(string(body), controlsTerminal)), nil
}

// controlsTerminal reports whether a character can control a terminal.
func controlsTerminal(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}
