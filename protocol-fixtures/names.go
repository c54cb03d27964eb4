package fixtures

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/lazyregexp"
)

// names holds the names of values that differ between runs: UUIDs and models.
type names struct {
	of      map[string]string // by value
	used    map[string]bool
	passing func(model string) bool // reports whether it differs in another run
	models  []string                // that have names
	places  []string                // paths of this run or machine
}

func newNames(passing func(model string) bool) *names {
	return &names{of: map[string]string{}, used: map[string]bool{"ANY": true}, passing: passing}
}

// uuid matches the agent's ids.
var uuid = lazyregexp.New(`[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}`)

// letters are the names by the member that a value is first seen in.
var letters = map[string]string{"sessionId": "S", "messageId": "M", "toolCallId": "T"}

// set records the fixture's name for a value.
func (n *names) set(name, value string) {
	if n.of[value] == "" && !n.used[name] {
		n.of[value], n.used[name] = name, true
	}
}

// name returns the name of a value, and creates one if necessary.
func (n *names) name(key, value string) string {
	if name := n.of[value]; name != "" {
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
	n.set(name, value)
	return name
}

// put returns the fixture's form of a string: its name, or the string with the named
// values in it replaced.
func (n *names) put(key, s string) string {
	if n.of[s] != "" || s != "" && uuid.FindString(s) == s {
		return quoted("$" + n.name(key, s))
	}
	s = uuid.ReplaceAllStringFunc(s, func(value string) string {
		return "${" + n.name(key, value) + "}"
	})
	for _, m := range n.models {
		s = strings.ReplaceAll(s, m, "${"+n.of[m]+"}")
	}
	if n.foreign(s) {
		return quoted("$ANY")
	}
	return quoted(s)
}
