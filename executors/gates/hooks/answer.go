package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// answer is the outcome of one run of a hook.
type answer struct {
	hook       *hook
	run        executors.HookRun
	decision   executors.Decision // "" if the hook has no objection
	reason     string             // of the decision, for the model and for people
	context    string             // for the model
	input      map[string]any     // replaces the input of the call; nil: it stays
	stop       bool               // the turn ends
	stopReason string             // with stop, for people
	message    string             // for people
	failure    string             // why there is no answer; "" if there is one
}

// reply is the JSON that a hook writes.
type reply struct {
	Continue       *bool   `json:"continue"`
	StopReason     string  `json:"stopReason"`
	SystemMessage  string  `json:"systemMessage"`
	Decision       string  `json:"decision"` // approve or block
	Reason         string  `json:"reason"`
	SuppressOutput *bool   `json:"suppressOutput"`
	Specific       *detail `json:"hookSpecificOutput"`
}

// detail is the part of a reply that depends on the event.
type detail struct {
	Event      string         `json:"hookEventName"`
	Permission string         `json:"permissionDecision"`
	Reason     string         `json:"permissionDecisionReason"`
	Input      map[string]any `json:"updatedInput"`
	Context    string         `json:"additionalContext"`
}

// parseAnswer returns the answer of a hook that ended.
func parseAnswer(event Event, out output, run executors.HookRun) answer {
	text := strings.TrimSpace(out.stdout)
	switch {
	case run.Signal != "":
		return answer{failure: "it was ended by " + run.Signal}
	case run.ExitCode == nil:
		return answer{failure: "its end is unknown"}
	case *run.ExitCode == 2: // the JSON of such a hook does not count
		return answer{decision: executors.Deny, reason: cmp.Or(out.stderr, "it gave no reason")}
	case *run.ExitCode != 0:
		return answer{failure: strings.TrimSpace(fmt.Sprintf("it failed with exit code %d. %s", *run.ExitCode, out.stderr))}
	case out.truncated:
		return answer{failure: fmt.Sprintf("it wrote more than %d bytes", maxOutput)}
	case strings.HasPrefix(text, "{"):
		return parseReply(event, text)
	case hidesReply(text):
		return answer{failure: "its answer cannot be read: there is text before the JSON"}
	case event == UserPromptSubmit || event == SessionStart:
		return answer{context: text}
	}
	return answer{} // other text is for the hook's author
}

// hidesReply reports whether a text ends in a JSON object on its own lines, such as a
// reply after the output of another program.
func hidesReply(text string) bool {
	i := strings.Index(text, "\n{")
	return i >= 0 && json.Valid([]byte(text[i:]))
}

// parseReply returns the answer in a reply.
func parseReply(event Event, text string) answer {
	var r reply
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	if err := dec.Decode(&r); err != nil {
		return answer{failure: "its answer cannot be read: " + err.Error()}
	}
	if dec.More() {
		return answer{failure: "its answer cannot be read: there is text after the JSON"}
	}
	a := answer{message: r.SystemMessage, reason: r.Reason}
	if r.Continue != nil && !*r.Continue {
		a.stop, a.stopReason = true, cmp.Or(r.StopReason, r.Reason)
	}
	switch r.Decision {
	case "", "approve", "allow":
	case "block", "deny":
		a.decision = executors.Deny
	case "ask":
		a.decision = executors.Ask
	default:
		a.failure = fmt.Sprintf("its decision %q is unknown", r.Decision)
	}
	d := r.Specific
	if d == nil {
		return a
	}
	if d.Event != "" && d.Event != string(event) {
		a.failure = fmt.Sprintf("its answer is for the event %q", d.Event)
		return a
	}
	a.context, a.input = d.Context, d.Input
	if d.Permission != "" {
		a.reason = cmp.Or(d.Reason, a.reason)
	}
	switch d.Permission {
	case "", "allow":
	case "deny":
		a.decision = executors.Deny
	case "ask":
		if a.decision != executors.Deny {
			a.decision = executors.Ask
		}
	default:
		a.failure = fmt.Sprintf("its permissionDecision %q is unknown", d.Permission)
	}
	return a
}
