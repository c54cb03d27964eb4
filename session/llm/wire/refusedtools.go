package wire

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// RefusedTools are the foreign tools that a server refuses because of their schemas. They are
// left out of later requests. The zero value works, and may be used concurrently.
//
// Why no list of forbidden keywords? Each server and each model has its own, and they
// change; a list would take parameters away from tools that work.
type RefusedTools struct {
	mu      sync.Mutex
	refused map[string]refusedTool // by name
	proved  map[string]llm.Tool    // suspected tools that a server accepted, by name
}

type refusedTool struct {
	tool   llm.Tool
	reason string
}

// Limits on the search for the tools that make a server refuse one request.
const (
	maxTrials   = 100 // requests
	maxHalvings = 12  // refusals that name no tool
)

// Tools returns the reasons for which tools are left out, by name.
func (l *RefusedTools) Tools() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]string{}
	for name, r := range l.refused {
		out[name] = r.reason
	}
	return out
}

// Open sends a request without the tools that the server refuses. If it refuses the
// request because of a schema, Open sends it again without the tool that the server
// names. If it names no tool, Open halves the tools until the culprit is found.
func (l *RefusedTools) Open(e *Endpoint, req llm.Request, open func(llm.Request) (*http.Response, error)) (*http.Response, error) {
	if !slices.ContainsFunc(req.Tools, func(t llm.Tool) bool { return t.Foreign }) {
		return open(req)
	}
	all := req.Tools
	s := toolSearch{RefusedTools: l}
	for trial := range maxTrials {
		req.Tools = slices.DeleteFunc(slices.Clone(all), s.leavesOut)
		res, err := open(req)
		if err == nil {
			s.recordAccepted(req.Tools)
			return res, nil
		}
		if s.first == nil {
			s.first = err
		}
		if !s.leaveOut(err, req.Tools, reasonOf(e, err), trial == maxTrials-2) {
			break
		}
	}
	s.undo()
	return nil, s.first
}

// toolSearch looks for the tools that make the server refuse one request.
type toolSearch struct {
	*RefusedTools
	first   error           // of the first attempt
	blamed  []string        // tools that this search added to the refused ones
	waiting map[string]bool // suspected tools that are not sent while the others are tried
	halved  int             // refusals so far that named no tool
}

// leavesOut reports whether the next attempt is made without the tool.
func (s *toolSearch) leavesOut(t llm.Tool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, refused := s.RefusedTools.refused[t.Name]
	return s.waiting[t.Name] || refused && r.tool.Same(t)
}

// recordAccepted records that the server accepts these tools.
func (s *toolSearch) recordAccepted(sent []llm.Tool) {
	if s.halved == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proved == nil {
		s.proved = map[string]llm.Tool{}
	}
	for _, t := range sent {
		s.proved[t.Name] = t
	}
}

// leaveOut changes which tools are left out after a failure. It reports whether the
// request should be sent again. If that will be the last attempt, all suspected tools are
// left out.
func (s *toolSearch) leaveOut(err error, sent []llm.Tool, reason string, last bool) bool {
	e, ok := errors.AsType[*StatusError](err)
	statuses := []int{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError}
	if !ok || !slices.Contains(statuses, e.Status) || IsTooLong(e.Status, e.Kind, e.Message) {
		return false
	}
	if t, ok := namedTool(e.Message, sent); ok && !last {
		s.blame(t, reason)
		return true
	}
	if !last && !schemaWords.MatchString(e.Message) {
		return false
	}
	s.halved++
	suspects := slices.DeleteFunc(slices.Clone(sent), func(t llm.Tool) bool { return !t.Foreign || s.isProved(t) })
	switch {
	case len(suspects) == 0:
		return false // it is not because of a schema
	case last || s.halved >= maxHalvings:
		for _, t := range suspects {
			s.blame(t, reason)
		}
	case len(suspects) == 1:
		s.blame(suspects[0], reason)
		s.waiting = nil
	default:
		if s.waiting == nil {
			s.waiting = map[string]bool{}
		}
		for _, t := range suspects[len(suspects)/2:] {
			s.waiting[t.Name] = true
		}
	}
	return true
}

// isProved reports whether a server accepted the tool in this form.
func (s *toolSearch) isProved(t llm.Tool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.proved[t.Name]
	return ok && p.Same(t)
}

// blame leaves the tool out from now on.
func (s *toolSearch) blame(t llm.Tool, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.RefusedTools.refused == nil {
		s.RefusedTools.refused = map[string]refusedTool{}
	}
	s.RefusedTools.refused[t.Name] = refusedTool{t, reason}
	s.blamed = append(s.blamed, t.Name)
}

// undo offers the tools again that were left out in vain.
func (s *toolSearch) undo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.blamed {
		delete(s.RefusedTools.refused, name)
	}
}

// The ways in which servers name a tool by its position, and schemas in general.
var (
	toolIndex   = lazyregexp.New(`(?i)\btools(?:\[0\]\.function_?declarations)?[.\[](\d+)`)
	schemaWords = lazyregexp.New(`(?is)input_schema|json.?schema|function_?declarations|tools\.function\.parameters|` +
		`(tool|function)s?\b.{0,80}(schema|parameters)|schema.{0,80}\b(tool|function)|parse grammar`)
)

// namedTool returns the foreign tool that a message names, by its name or its position.
func namedTool(message string, sent []llm.Tool) (llm.Tool, bool) {
	var found llm.Tool
	for _, t := range sent {
		name := shorten(llm.SafeName(t.Name), maxToolName)
		if t.Foreign && len(name) > len(found.Name) && (hasWord(message, t.Name) || hasWord(message, name)) {
			found = t
		}
	}
	if found.Name != "" {
		return found, true
	}
	m := toolIndex.FindStringSubmatch(message)
	if m == nil {
		return found, false
	}
	at, err := strconv.Atoi(m[1])
	if err != nil || at >= len(sent) || !sent[at].Foreign {
		return found, false
	}
	return sent[at], true
}

// hasWord reports whether a text has the name of a tool, and not only as a part of
// another name.
func hasWord(text, name string) bool {
	inName := func(b byte) bool {
		return b == '_' || b == '-' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
	}
	for at := 0; name != ""; at++ {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(name)
		if (at == 0 || !inName(text[at-1])) && (end == len(text) || !inName(text[end])) {
			return true
		}
	}
	return false
}

// reasonOf returns a failure as the reason for leaving a tool out, without secrets.
func reasonOf(e *Endpoint, err error) string {
	f, ok := errors.AsType[*llm.Error](e.Failure(err))
	if !ok {
		return ""
	}
	return e.Provider + " refuses its schema: " + f.Message
}
