package chat

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// factSeparator stands between facts.
const factSeparator = " · "

// footer returns the last rows: a hint, or the facts about the session.
func (m *model) footer() (rows []string) {
	if m.hint == "" {
		return []string{m.st.dim(m.facts())}
	}
	for _, row := range wrapped(m.hint, m.width, maxHintRows) {
		rows = append(rows, m.st.warn(row))
	}
	return rows
}

// maxHintRows is the number of rows that a hint may have.
const maxHintRows = 3

// facts returns the facts about the session in one row. In a narrow terminal the name of the model is shortened, and the
// last facts are missing.
func (m *model) facts() string {
	var before, after []string
	room := m.width
	add := func(facts []string, text string) []string {
		if need := width(text) + width(factSeparator); text != "" && need <= room {
			facts, room = append(facts, text), room-need
		}
		return facts
	}
	before = add(before, m.editor.Mode())
	before = add(before, m.session.Modes.Current)
	name := headless.OneLine(m.session.current("model"))
	least := min(width(shortModel(name)), minModel)
	room -= least
	if u := m.usage; u.Size > 0 {
		after = add(after, fmt.Sprintf("%d %% of %s", u.Used*100/u.Size, thousandsOf(u.Size)))
	}
	after = add(after, m.cost())
	if m.chat.Jobs != nil {
		if n := m.chat.Jobs(); n > 0 {
			after = add(after, quantity.Count(n, "job"))
		}
	}
	if m.chat.Sandbox != nil {
		after = add(after, m.chat.Sandbox())
	}
	if name != "" {
		before = append(before, fittingModel(name, max(room+least, least)))
	}
	return cut(strings.Join(append(before, after...), factSeparator), m.width)
}

// minModel is the number of columns that the name of the model has before other facts.
const minModel = 12

// shortModel returns the name of a model without its provider.
func shortModel(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// fittingModel returns the name of a model in so many columns. The provider is left out first.
func fittingModel(name string, columns int) string {
	if width(name) <= columns {
		return name
	}
	return cut(shortModel(name), columns)
}

// cost returns what the session has cost.
func (m *model) cost() string {
	switch {
	case m.usage.Size == 0:
		return ""
	case m.usage.Cost == nil:
		if m.chat.Unpriced != nil && m.chat.Unpriced() {
			return "cost unknown"
		}
		return ""
	case m.usage.Cost.Currency == "USD":
		return fmt.Sprintf("$%.2f", m.usage.Cost.Amount)
	}
	return fmt.Sprintf("%.2f %s", m.usage.Cost.Amount, headless.OneLine(m.usage.Cost.Currency))
}

// thousandsOf returns a number of tokens in few columns.
func thousandsOf(n int) string {
	switch {
	case n >= 1_000_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
