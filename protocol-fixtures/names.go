package fixtures

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// names gives names to what differs from run to run: UUIDs and models.
type names struct {
	of      map[string]string // by value
	used    map[string]bool
	passing func(model string) bool // whether it is another one in another run
	models  []string                // that have names
	places  []string                // paths of this run or machine
}

func newNames(passing func(model string) bool) *names {
	return &names{of: map[string]string{}, used: map[string]bool{"ANY": true}, passing: passing}
}

// uuid is what the agent makes up.
var uuid = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}`) })

// letters are the names by the member that a value is first seen in.
var letters = map[string]string{"sessionId": "S", "messageId": "M", "toolCallId": "T"}

// set takes a name that a fixture has for a value.
func (n *names) set(name, value string) {
	if n.of[value] == "" && !n.used[name] {
		n.of[value], n.used[name] = name, true
	}
}

// name gives the name of a value, a new one if it has none.
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

// nameAs gives a value that name, or where it is taken the next.
func (n *names) nameAs(name, value string) string {
	stem := strings.TrimRight(name, "0123456789")
	for i := 1; n.used[name]; i++ {
		name = fmt.Sprint(stem, i)
	}
	n.set(name, value)
	return name
}

// put is what a fixture has for a string of a frame: its name, or the string
// itself with the names of what is in it.
func (n *names) put(key, s string) string {
	if n.of[s] != "" || s != "" && uuid().FindString(s) == s {
		return quoted("$" + n.name(key, s))
	}
	s = uuid().ReplaceAllStringFunc(s, func(value string) string {
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
