package session

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// status answers the command /status.
func (s *Session) status(context.Context, string) (string, error) {
	broken := s.journal.storeError()
	var tools []string
	if state := s.toolState(); state != nil {
		tools = state.Status() // without the lock: it asks for the model of the session
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "- %s: %s\n", name, fmt.Sprintf(format, args...))
	}
	line("Session", "%s", s.id)
	line("Directory", "%s", strings.Join(append([]string{s.cwd}, s.dirs...), ", "))
	line("Mode", "%s", s.settings.mode)
	line("Model", "%s", s.settings.modelName)
	if other := llm.Answering(s.settings.model).Name(); other != s.settings.model.Name() {
		line("Answering", "%s, since the model failed recently", other)
	}
	if g := s.storedGoalLocked(); g.Text != "" {
		line("Goal", "%s", g.State(false))
	}
	if s.settings.thought != "" {
		line("Thinking", "%s", s.settings.thought)
	}
	if llm.CallsInText(s.settings.model) {
		line("Tools", "called in the text of answers, since the model has no tool calls of its own")
	}
	_, direct := s.settings.model.(local.Direct) // no server reads its conversation
	window, used, about := s.settings.model.Window(), s.usage.Used, "about "
	switch {
	case s.usage.Size == 0: // the server counts no tokens, or its window is unknown
		used = (llm.HistoryTokens(s.settings.model.Name(), s.history) + 99) / 100 * 100
	case window == s.usage.Size: // else the tokens were counted by another model
		about = ""
	}
	switch {
	case s.usage.Size == 0 && (used == 0 || direct):
	case window > 0:
		line("Context", "%s%d of %s (%d %%)", about, used, quantity.Count(window, "token"), used*100/window)
	default:
		line("Context", "about %s", quantity.Count(used, "token"))
	}
	if cost := s.spent.costLine(s.settings.modelName); cost != "" {
		line("Cost", "%s", cost)
	}
	switch {
	case s.sessions.Store == nil:
		line("Saved", "no: there is no directory to save to")
	case broken != nil:
		line("Saved", "no: %v", broken)
	default:
		line("Saved", "yes")
	}
	for _, text := range tools {
		fmt.Fprintf(&b, "- %s\n", text)
	}
	for _, w := range s.shownWarnings {
		line("Warning", "%s", w)
	}
	return b.String(), nil
}

// maxListed is the number of sessions that /sessions shows.
const maxListed = 10

// listSessions answers the command /sessions.
func (s *Session) listSessions(ctx context.Context, _ string) (string, error) {
	if s.sessions.Store == nil {
		return "Sessions are not saved here.", nil
	}
	q, err := s.sessions.query(ctx, s.cwd)
	if err != nil {
		return "", fmt.Errorf("list the sessions: %w", err)
	}
	q.Limit = maxListed
	rows, next, err := s.sessions.Store.List(ctx, q)
	if err != nil {
		return "", fmt.Errorf("list the sessions: %w", err)
	}
	var b strings.Builder
	for _, row := range rows {
		note := ""
		if row.ID == s.id {
			note = " (this one)"
		}
		fmt.Fprintf(&b, "- `%s` %s: %s%s\n", row.ID, row.Updated.Local().Format("2006-01-02 15:04 MST"), cmp.Or(row.Title, "no title"), note)
	}
	if next != "" {
		b.WriteString("- and older ones: `zeph-acp sessions list` shows all\n")
	}
	return b.String(), nil
}
