package fixtures

import (
	"fmt"
	"regexp"
	"sync"
)

// names gives names to what differs from run to run: UUIDs.
type names struct {
	of   map[string]string // by value
	used map[string]bool
}

func newNames() *names { return &names{map[string]string{}, map[string]bool{"ANY": true}} }

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
	name := letter
	for i := 1; letter != "S" && i == 1 || n.used[name]; i++ {
		name = fmt.Sprint(letter, i)
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
	return quoted(uuid().ReplaceAllStringFunc(s, func(value string) string {
		if name := n.of[value]; name != "" {
			return "${" + name + "}"
		}
		return value
	}))
}
