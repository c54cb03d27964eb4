package plain

import (
	"errors"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

var (
	duration   = lazyregexp.New(`^[0-9.]+[smhd]?$`)
	assignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// wrappers are the programs that unwrap splits off.
var wrappers = []string{"timeout", "nice", "env"}

// unwrap splits the words of a wrapper from the command that it runs: "timeout
// 60", "nice -n 5", "env NAME=VALUE". The names and values that env sets are added to
// the command's own. A wrapper with any other option has no inner command.
func unwrap(words []Word) (wrapper, inner []Word, names, values []string) {
	inner = words
	for {
		n := 0
		text := func(i int) string {
			if i < len(inner) && inner[i].literal() {
				return inner[i].text()
			}
			return ""
		}
		switch text(0) {
		case "timeout":
			if duration.MatchString(text(1)) {
				n = 2
			}
		case "nice":
			switch {
			case text(1) == "-n" && isNumber(inner[min(2, len(inner)-1)]):
				n = 3
			case text(1) != "" && !strings.HasPrefix(text(1), "-"):
				n = 1
			}
		case "env":
			for n = 1; assignment.MatchString(text(n)); n++ {
				name, value, _ := strings.Cut(text(n), "=")
				names, values = append(names, name), append(values, value)
			}
			if strings.HasPrefix(text(n), "-") {
				n = 0
			}
		}
		if n == 0 || n >= len(inner) || !inner[n].literal() {
			return wrapper, inner, names, values
		}
		wrapper, inner = append(wrapper, inner[:n]...), inner[n:]
	}
}

// wrap puts the words of a wrapper before a command.
func (p *acceptedCommand) wrap(wrapper []Word, program string) error {
	if len(wrapper) == 0 {
		return nil
	}
	if programs.Of(program).OfShell || strings.Contains(reserved, " "+program+" ") {
		return errorf("%s is part of the shell", program)
	}
	if p.cd != "" {
		return errors.New("a cd in another program changes nothing")
	}
	words := make([]string, len(wrapper))
	for i, w := range wrapper {
		words[i] = w.source
	}
	p.words = slices.Concat(words, p.words)
	p.xargsInput = nil
	return nil
}
