package editor

import "strings"

// command is a command of normal mode.
type command struct {
	count int    // 0: none
	op    string // "d", "c", "y" or none
	key   string // command, motion, "i" or "a" for an object, or op again for lines
	arg   string // character of f F t T r, name of an object
}

// state of a command while it is typed.
const (
	incomplete = iota
	complete
	invalid
)

const (
	motions  = "hljkwbeWBE0^$GfFtT;, "
	commands = "xXsSrJ~iaIAoODCYpPu./"
	objects  = "wW\"'`()b[]{}B<>"
)

// parse reads the keys of a command.
func parse(keys []string) (c command, state int) {
	number := func() (n int) {
		for len(keys) > 0 && len(keys[0]) == 1 && (keys[0] > "0" || n > 0) && keys[0] >= "0" && keys[0] <= "9" {
			n = min(n*10+int(keys[0][0]-'0'), 9999)
			keys = keys[1:]
		}
		return n
	}
	c.count = number()
	if len(keys) > 0 && one("dcy", keys[0]) {
		c.op, keys = keys[0], keys[1:]
		if n := number(); n > 0 {
			c.count = min(max(c.count, 1)*n, 9999)
		}
	}
	if len(keys) == 0 {
		return c, incomplete
	}
	c.key, keys = keys[0], keys[1:]
	object := c.op != "" && one("ia", c.key)
	if object || one("fFtTg", c.key) || c.op == "" && c.key == "r" {
		if len(keys) == 0 {
			return c, incomplete
		}
		c.arg = keys[0]
	}
	switch {
	case c.key == "g" && c.arg == "g":
		c.key, c.arg = "gg", ""
	case c.op != "" && c.key == c.op, one(motions, c.key), c.op == "" && one(commands, c.key):
	case object && one(objects, c.arg):
	default:
		return c, invalid
	}
	return c, complete
}

// one reports whether a key is one of the characters.
func one(characters, key string) bool { return len(key) == 1 && strings.Contains(characters, key) }

// changes reports whether a command changes the text.
func (c command) changes() bool {
	return c.op == "d" || c.op == "c" || c.op == "" && one("xXsSrJ~iaIAoODCpP", c.key)
}

// long returns the operator and motion that a short command stands for.
func (c command) long() command {
	for _, l := range []struct{ key, op, motion string }{
		{"x", "d", "l"}, {"X", "d", "h"}, {"s", "c", "l"}, {"S", "c", "c"}, {"D", "d", "$"}, {"C", "c", "$"}, {"Y", "y", "y"},
	} {
		if c.op == "" && c.key == l.key {
			c.op, c.key = l.op, l.motion
			break
		}
	}
	return c
}
