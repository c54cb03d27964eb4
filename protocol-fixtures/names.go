package fixtures

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// names holds the names of values that differ between runs: UUIDs and models.
type names struct {
	byValue  map[string]string // by value
	used     map[string]bool
	differs  func(model string) bool // reports whether a model differs in another run
	models   []string                // that have names
	runPaths []string                // paths of this run or machine
}

func newNames(passing func(model string) bool) *names {
	return &names{byValue: map[string]string{}, used: map[string]bool{"ANY": true}, differs: passing}
}

// uuid matches the agent's ids. The id of a child session begins with the id of its parent.
var uuid = lazyregexp.New(`[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?:/[a-z0-9_-]+-[0-9a-f]{8})?`)

// letters are the first letters of names, by the member in which a value is first seen.
var letters = map[string]string{"sessionId": "S", "messageId": "M", "toolCallId": "T", "terminalId": "T"}

// bind records the fixture's name for a value.
func (n *names) bind(name, value string) {
	if n.byValue[value] == "" && !n.used[name] {
		n.byValue[value], n.used[name] = name, true
	}
}

// name returns the name of a value, and creates one if necessary.
func (n *names) name(key, value string) string {
	if name := n.byValue[value]; name != "" {
		return name
	}
	letter, ok := letters[key]
	if !ok {
		letter = "U"
	}
	if letter != "S" {
		return n.nameAs(letter+"1", value)
	}
	return n.nameAs(letter, value)
}

// nameAs names a value; if the name is taken, it uses the next free number.
func (n *names) nameAs(name, value string) string {
	stem := strings.TrimRight(name, "0123456789")
	for i := 1; n.used[name]; i++ {
		name = fmt.Sprint(stem, i)
	}
	n.bind(name, value)
	return name
}

// replace returns a string as a fixture has it: its name, or the string in which names stand
// for the values that differ between runs.
func (n *names) replace(key, s string) string {
	if n.byValue[s] != "" || s != "" && uuid.FindString(s) == s {
		return compactJSON("$" + n.name(key, s))
	}
	s = uuid.ReplaceAllStringFunc(s, func(value string) string {
		return "${" + n.name(key, value) + "}"
	})
	for _, m := range n.models {
		s = strings.ReplaceAll(s, m, "${"+n.byValue[m]+"}")
	}
	if n.hasRunPath(s) {
		return compactJSON("$ANY")
	}
	return compactJSON(s)
}
