package goal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Act is what the user wants of the command.
type Act int

// The acts of the command.
const (
	Show Act = iota
	Set
	Pause
	Resume
	Stop
)

// String returns the word for an act on a goal.
func (a Act) String() string { return [...]string{"show", "set", "pause", "resume", "stop"}[a] }

// Request is a parsed command.
type Request struct {
	Act
	Text   string // of the goal; only for Set
	Until  string // may be empty
	Bounds        // 0 where the user named none
}

// Hint describes the text after the command.
const Hint = "[--until 'COMMAND'] TEXT | pause | resume | stop"

// Usage explains the command.
const Usage = "`/goal TEXT` follows a goal until it is met, and `/goal --until 'go test ./...' TEXT` until that command succeeds. " +
	"`--max-rounds N`, `--max-minutes N` and `--max-tokens N` before the text bound it. " +
	"`/goal` shows it, `/goal pause`, `/goal resume` and `/goal stop` control it."

// numbers maps the name of a flag to its bound.
func (r *Request) numbers() map[string]*int {
	return map[string]*int{"max-rounds": &r.MaxRounds, "max-minutes": &r.MaxMinutes, "max-tokens": &r.MaxTokens}
}

// Parse parses the text after the command: flags, then the goal or a word.
func Parse(rest string) (Request, error) {
	var r Request
	rest, err := r.flags(rest)
	if err != nil {
		return r, err
	}
	word, after, _ := strings.Cut(rest, " ")
	set := r != Request{}
	switch acts := map[string]Act{"pause": Pause, "resume": Resume, "stop": Stop}; {
	case rest == "" && set:
		return r, errors.New("the text of the goal is missing")
	case rest == "":
		return r, nil
	case word == "resume" && !set && strings.HasPrefix(strings.TrimSpace(after), "--"):
		r.Act = Resume
		if rest, err = r.flags(after); err == nil && rest != "" {
			err = errors.New("`resume` takes no text: the goal keeps its own")
		}
		return r, err
	case acts[rest] != 0 && (!set || acts[rest] == Resume):
		r.Act = acts[rest]
		return r, nil
	}
	r.Act, r.Text = Set, rest
	return r, nil
}

// flags parses the flags at the beginning of a text, and returns what follows.
func (r *Request) flags(rest string) (string, error) {
	numbers := r.numbers()
	for {
		rest = strings.TrimSpace(rest)
		if after, ok := strings.CutPrefix(rest, "-- "); ok {
			return strings.TrimSpace(after), nil
		}
		if !strings.HasPrefix(rest, "--") {
			return rest, nil
		}
		end := strings.IndexAny(rest, "= \t\n")
		if end < 0 {
			end = len(rest)
		}
		name := rest[2:end]
		if name != "until" && numbers[name] == nil {
			return "", fmt.Errorf("unknown flag --%s: want --until, --max-rounds, --max-minutes or --max-tokens, or `--` before the text", name)
		}
		value, after, err := cutValue(strings.TrimPrefix(rest[end:], "="))
		if err != nil {
			return "", fmt.Errorf("--%s: %w", name, err)
		}
		rest = after
		if name == "until" {
			r.Until = value
		} else if *numbers[name], err = strconv.Atoi(value); err != nil || *numbers[name] < 1 {
			return "", fmt.Errorf("--%s: want a number above 0, got %q", name, value)
		}
	}
}

// cutValue splits the value of a flag from the rest: a word, or a text in single or double quotes.
// In double quotes a backslash escapes a quote or a backslash.
func cutValue(s string) (value, rest string, err error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return "", "", errors.New("the value is missing")
	}
	quote := s[0]
	if quote != '\'' && quote != '"' {
		end := strings.IndexAny(s, " \t\n")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote:
			if strings.TrimSpace(b.String()) == "" {
				return "", "", errors.New("the value is empty")
			}
			return b.String(), s[i+1:], nil
		case quote == '"' && s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", fmt.Errorf("the quote %c has no end", quote)
}

// String returns the command that Parse parses, without its name. The act must be Set.
func (r Request) String() string {
	var b strings.Builder
	if r.Until != "" {
		fmt.Fprintf(&b, "--until %s ", quoted(r.Until))
	}
	for _, f := range []struct {
		name string
		n    int
	}{{"max-rounds", r.MaxRounds}, {"max-minutes", r.MaxMinutes}, {"max-tokens", r.MaxTokens}} {
		if f.n > 0 {
			fmt.Fprintf(&b, "--%s %d ", f.name, f.n)
		}
	}
	return b.String() + "-- " + r.Text
}

// quoted is the inverse of cutValue.
func quoted(s string) string {
	if !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
