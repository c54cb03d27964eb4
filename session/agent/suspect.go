package agent

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// The values of reasoning_model_detection.
const (
	reasoningAuto   = "auto"   // by name, or by thoughts in the last answer
	reasoningAlways = "always" // every model
	reasoningNever  = "never"
)

// maxSuspects limits the names reported of one call.
const maxSuspects = 5

// recordSuspects records names in a call of a reasoning model that appear nowhere
// before it, since such models tend to invent paths and names. This is a
// heuristic, so it only warns, and the call proceeds.
func (t *turn) recordSuspects(call *executors.Call) {
	if !t.Config.HallucinationDetection || call.Origin != executors.Model || !t.isReasoning() {
		return
	}
	known := t.knownText()
	found := append(t.pathsFrom(call, known), entitiesFrom(call, known)...)
	slices.Sort(found)
	if found = slices.Compact(found); len(found) == 0 {
		return
	}
	found = found[:min(len(found), maxSuspects)]
	call.Record.Suspect = strings.Join(found, ", ")
	if t.Suspected != nil {
		t.Suspected()
	}
	t.Log.Warn("HallucinationSuspect: a call names things that neither exist nor were mentioned", "session", t.Session, "call", call.ID, "tool", call.Tool, "names", found)
}

// isReasoning reports whether the answering model counts as a reasoning model.
func (t *turn) isReasoning() bool {
	switch t.Config.ReasoningModelDetection {
	case reasoningAlways:
		return true
	case reasoningNever:
		return false
	}
	if isReasoningName(t.model.Name()) {
		return true
	}
	for _, m := range slices.Backward(t.history) {
		if m.Role == llm.Assistant {
			return slices.ContainsFunc(m.Blocks, func(b llm.Block) bool { return b.Thought != "" || b.Opaque != nil })
		}
	}
	return false
}

// isReasoningName reports whether the name, "provider:model", names a reasoning model.
func isReasoningName(name string) bool {
	name = strings.ToLower(name)
	if _, model, ok := strings.Cut(name, ":"); ok {
		name = model
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, series := range []string{"o1", "o3", "o4"} {
		if rest, ok := strings.CutPrefix(name, series); ok && (rest == "" || rest[0] == '-' || rest[0] == ':') {
			return true
		}
	}
	return strings.Contains(name, "qwq") || strings.Contains(name, "deepseek-r1") || strings.Contains(name, "deepseek_r1") ||
		strings.HasPrefix(name, "claude") && strings.Contains(name, "think")
}

// knownText returns all text in the requests to the model, in lower case. The model's own
// text is excluded: it is no evidence.
func (t *turn) knownText() string {
	var b strings.Builder
	b.WriteString(t.system() + t.project())
	for _, m := range t.history {
		if m.Role != llm.User {
			continue
		}
		for _, block := range m.Blocks {
			b.WriteByte('\n')
			b.WriteString(block.Text)
			if block.Result != nil {
				b.WriteString(block.Result.Text)
			}
		}
	}
	return strings.ToLower(b.String())
}

// commandPath matches the most likely path of a file in a command.
var commandPath = lazyregexp.New(`(?:^|[\s"'=])((?:\.{0,2}/)?[\w.@-]+(?:/[\w.@-]+)+\.\w{1,5})\b`)

// pathsFrom returns the paths of a call that do not exist and were not
// mentioned. For a file that the call creates, its directory is checked.
func (t *turn) pathsFrom(call *executors.Call, known string) []string {
	if t.Exists == nil {
		return nil
	}
	var found []string
	check := func(shown, abs string) {
		if call.Spec.Effect.Has(executors.Mutates) && call.Card.Command() == "" {
			abs = filepath.Dir(abs)
		}
		if !t.Exists(abs) && !strings.Contains(known, strings.ToLower(filepath.Base(abs))) {
			found = append(found, shown)
		}
	}
	for _, path := range call.Card.Paths {
		check(path, path)
	}
	for _, m := range commandPath.FindAllStringSubmatch(call.Card.Command(), 20) {
		abs := m[1]
		if !filepath.IsAbs(abs) {
			abs = filepath.Join(call.Card.Dir(), abs)
		}
		check(m[1], abs)
	}
	return found
}

// entityPattern matches names that cannot be guessed: an address, a UUID, a hash, a
// mail address.
var entityPattern = lazyregexp.New(`(?i)https?://[^\s"'<>()]+` +
	`|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b` +
	`|\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{10,62}\b` +
	`|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b`)

// maxEntityText is the longest text of an input that is checked: longer texts are the
// model's own writing.
const maxEntityText = 1000

// entitiesFrom returns the names in a call that were not mentioned before.
func entitiesFrom(call *executors.Call, known string) []string {
	if call.Spec.Effect.Has(executors.Mutates) && call.Spec.Kind != executors.KindExecute { // written text may be new
		return nil
	}
	var members map[string]any
	if json.Unmarshal(call.Input, &members) != nil {
		return nil
	}
	var found []string
	for _, v := range members {
		text, ok := v.(string)
		if !ok || len(text) > maxEntityText {
			continue
		}
		for _, name := range entityPattern.FindAllString(text, 20) {
			if !strings.Contains(known, strings.ToLower(mentionedPart(name))) {
				found = append(found, fmt.Sprintf("%.100s", name))
			}
		}
	}
	return found
}

// mentionedPart returns the part of a name that must have been mentioned. For an
// address it is the host, since a page may be guessed.
func mentionedPart(name string) string {
	if _, rest, ok := strings.Cut(name, "://"); ok {
		host, _, _ := strings.Cut(rest, "/")
		return strings.TrimPrefix(host, "www.")
	}
	return name
}
