package trust

import (
	"fmt"
	"slices"
	"strings"
)

// Level is a level of trust.
type Level uint8

// The levels, the least trusted first.
const (
	Blocked Level = iota
	Untrusted
	Provisional
	Trusted
)

var names = []string{"blocked", "untrusted", "provisional", "trusted"}

// String returns the name of the level.
func (l Level) String() string { return names[l] }

// MarshalText returns the name of the level.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText parses the name of a level.
func (l *Level) UnmarshalText(text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(names, ", "))
	}
	*l = Level(i)
	return nil
}
