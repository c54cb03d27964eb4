package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// question is a permission request that waits for the person.
//
// A key answers only what the person has read. A question is ready some time after it is on the screen, and only when
// the keyboard has been silent for a moment; until then keys belong to the draft, as before.
type question struct {
	request acp.RequestPermissionRequest
	answer  chan headless.Choice // has a place for the answer

	ready    bool
	selected int
	reason   *string   // that the person types after a no; nil: none is typed
	wrong    bool      // the last key was none of the possible ones
	mistyped time.Time // that key
}

const (
	readingTime = 250 * time.Millisecond // after a question is shown
	silence     = 500 * time.Millisecond // after the last key, if it was typed into the draft
)

// questionReady is sent when a question may be ready.
type questionReady struct{ question *question }

// askNext shows the next question, unless one is shown. While the person picks from a list, it waits: a key for the list
// must not answer it.
func (m *model) askNext() tea.Cmd {
	if m.question != nil || len(m.questions) == 0 || m.picker != nil {
		return nil
	}
	m.question, m.questions = m.questions[0], m.questions[1:]
	q := m.question
	m.menu = menu{}
	m.window.top = nil
	if e := m.feed.callEntry(q.request.ToolCall.ToolCallID); e != nil {
		e.question, e.drawn, e.picture, e.unfolded = q, nil, nil, true
		m.feed.remove(e) // what is asked stands last
		m.feed.add(e)
	} else {
		m.feed.add(&entry{kind: kindQuestion, question: q, unfolded: true})
	}
	return tea.Batch(m.later(readingTime, questionReady{q}), m.alert("A question waits: "+q.title()))
}

// title returns what is asked about.
func (q *question) title() string { return headless.PlainTitle(q.request.ToolCall.Title) }

// becomeReady makes the question answerable if the person does not type.
func (m *model) becomeReady(q *question) tea.Cmd {
	if q != m.question || q.ready {
		return nil
	}
	if rest := silence - m.now().Sub(m.drafted); rest > 0 {
		return m.later(rest, questionReady{q})
	}
	q.ready = true
	return nil
}

// endQuestion removes the question that is shown, and shows how it was answered.
func (m *model) endQuestion(how string, failed bool) tea.Cmd {
	q := m.question
	m.question = nil
	for _, e := range m.feed.entries {
		if e.question != q {
			continue
		}
		e.question, e.drawn, e.picture, e.unfolded = nil, nil, nil, false
		if e.kind == kindQuestion {
			e.kind, e.failed = kindOutcome, failed
			e.text.WriteString(q.title() + ": " + how)
		}
	}
	return m.askNext()
}

// choose answers with an option.
func (m *model) choose(o acp.PermissionOption, reason string) tea.Cmd {
	m.question.answer <- headless.Choice{OptionID: o.OptionID, Reason: reason}
	return m.endQuestion(o.Name, strings.HasPrefix(o.Kind, "reject"))
}

// withdraw removes a question that the agent no longer asks.
func (m *model) withdraw(q *question) tea.Cmd {
	m.questions = slices.DeleteFunc(m.questions, func(other *question) bool { return other == q })
	if q == m.question {
		return m.endQuestion("not answered", true)
	}
	return nil
}

// pressAtQuestion acts on a key while a question is ready.
func (m *model) pressAtQuestion(k tea.KeyPressMsg) tea.Cmd {
	q := m.question
	options := q.request.Options
	if q.reason != nil {
		return m.pressAtReason(k)
	}
	if q.wrong && m.now().Sub(q.mistyped) < silence && (k.Text != "" || k.String() == "enter") {
		q.mistyped = m.now() // the person types a text, in which a y is no answer
		return nil
	}
	q.wrong = false
	kind := ""
	switch name := k.String(); name {
	case "y", "Y":
		kind = "allow_once"
	case "a", "A":
		kind = "allow_always"
	case "n", "N":
		if _, ok := headless.OptionOfKind(options, "reject_once"); ok {
			q.reason = new("")
			return nil
		}
	case "up", "ctrl+p", "shift+tab":
		q.selected = (q.selected + len(options) - 1) % max(len(options), 1)
		return nil
	case "down", "ctrl+n", "tab":
		q.selected = (q.selected + 1) % max(len(options), 1)
		return nil
	case "enter":
		if q.selected < len(options) {
			return m.choose(options[q.selected], "")
		}
	default:
		if n := int(k.Code - '0'); k.Text != "" && n >= 1 && n <= min(len(options), 9) {
			return m.choose(options[n-1], "")
		}
	}
	if o, ok := headless.OptionOfKind(options, kind); ok && kind != "" {
		return m.choose(o, "")
	}
	q.wrong, q.mistyped = true, m.now()
	return nil
}

// interruptAtQuestion cancels the turn that asks. No further key answers the question, which the agent withdraws in a moment.
func (m *model) interruptAtQuestion() tea.Cmd {
	m.interruptTurn()
	return m.readAgain()
}

// readAgain lets the person read the question that is shown before a key answers it.
func (m *model) readAgain() tea.Cmd {
	q := m.question
	if q == nil {
		return nil
	}
	q.ready = false
	return m.later(silence, questionReady{q})
}

// pressAtReason acts on a key while the person types the reason for a no.
func (m *model) pressAtReason(k tea.KeyPressMsg) tea.Cmd {
	q := m.question
	switch k.String() {
	case "enter":
		if o, ok := headless.OptionOfKind(q.request.Options, "reject_once"); ok {
			return m.choose(o, strings.TrimSpace(*q.reason))
		}
	case "esc", "ctrl+g":
		q.reason = nil
	case "backspace":
		if *q.reason == "" {
			q.reason = nil
			return nil
		}
		*q.reason = withoutLast(*q.reason)
	case "ctrl+u":
		*q.reason = ""
	case "space":
		*q.reason += " "
	default:
		*q.reason += k.Text
	}
	return nil
}

// withoutLast returns a text without its last character.
func withoutLast(text string) string {
	all := []rune(text)
	return string(all[:max(len(all)-1, 0)])
}

// view returns the rows with the options, if possible at most so many. What the question is about must have room above
// them, so long names are cut in a small terminal, and in a tiny one only some options are shown.
func (q *question) view(columns, most int, st styles) (rows []string, cursor *tea.Position) {
	title := q.title()
	if !strings.HasSuffix(title, "?") {
		title += "?"
	}
	options := q.request.Options
	n := len(options)
	if most >= n+2 { // else what stands above says it
		rows = append(rows, st.bold(cut(title, columns)))
	}
	room := max(most-len(rows)-1, 1)
	first := min(max(q.selected-room/2, 0), max(n-room, 0))
	for i, o := range options[first:min(first+room, n)] {
		i += first
		mark, paint := "  ", func(text string) string { return text }
		if i == q.selected && q.ready && q.reason == nil {
			mark, paint = "❯ ", st.bold
		}
		mark += fmt.Sprintf("%d  ", i+1)
		for _, row := range wrapped(headless.OneLine(o.Name), columns-width(mark), min(max(room/n, 1), maxOptionRows)) {
			rows = append(rows, paint(mark+row))
			mark = strings.Repeat(" ", width(mark))
		}
	}
	switch {
	case !q.ready:
		rows = append(rows, st.dim(fitting(columns, "Answer when you have stopped typing. What you type now goes into your prompt.", "Stop typing to answer.")))
	case q.reason != nil:
		const prompt = "Why not? "
		shown := prompt + tail(*q.reason, max(columns-width(prompt)-1, 1))
		rows = append(rows, shown, st.dim(fitting(columns, "Enter sends the no with the reason, which may be empty. Esc goes back.", "Enter sends the no, Esc goes back.")))
		cursor = &tea.Position{X: width(shown), Y: len(rows) - 2}
	case q.wrong:
		rows = append(rows, st.warn(fitting(columns, "Press "+q.keys(true)+". Esc interrupts the turn.", "Press "+q.keys(true)+".", "Press "+q.keys(false)+".")))
	default:
		rows = append(rows, st.dim(fitting(columns, q.keys(true)+" · Esc interrupts", q.keys(false)+" · Esc interrupts", q.keys(false))))
	}
	return rows, cursor
}

// maxOptionRows is the number of rows that the name of an option may have.
const maxOptionRows = 4

// keys names the keys that answer, in many words or few.
func (q *question) keys(many bool) string {
	var all []string
	for _, w := range []struct{ kind, words, few string }{
		{"allow_once", "y", "y"}, {"allow_always", "a for always", "a always"}, {"reject_once", "n and a reason", "n no"},
	} {
		if _, ok := headless.OptionOfKind(q.request.Options, w.kind); !ok {
			continue
		}
		if !many {
			w.words = w.few
		}
		all = append(all, w.words)
	}
	if many || len(all) == 0 {
		all = append(all, fmt.Sprintf("1 to %d", len(q.request.Options)), "the arrows and Enter")
	}
	return strings.Join(all, ", ")
}
