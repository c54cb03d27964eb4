package permissions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	sh "mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Codex translates the calls of prefix_rule in a .rules file of Codex:
// https://developers.openai.com/codex/rules
func Codex(name string, data []byte) (*Import, error) {
	c := &codex{}
	for _, s := range statements(data) {
		source := strings.Join(strings.Fields(s), " ")
		fn, args, err := parseCall(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", name, err, source)
		}
		restricts := true
		switch {
		case fn != "prefix_rule" && fn != "host_executable" && fn != "network_rule":
			err = errors.New("only calls of prefix_rule are translated")
		case args == nil:
			err = errors.New("its arguments are not names with literals")
		case fn == "prefix_rule":
			err = c.prefixRule(source, args)
		default:
			restricts, err = false, errors.New("it has no equivalent")
		}
		if err != nil {
			c.leaveOut(source, "%v", err)
		}
		if err != nil && restricts {
			c.restricted = []string{"bash"}
		}
	}
	return c.finish(), nil
}

// codex is the translation of one file.
type codex struct{ Import }

// statements returns the statements of a file in Starlark. The lines of a statement below
// its first are indented, begin with a closing bracket, belong to a string in three quotes,
// or are blank or comments.
func statements(data []byte) (out []string) {
	text := string(data)
	from, to, at := 0, 0, 0 // the last statement, and the end of the line
	inString := false
	for line := range strings.Lines(text) {
		at += len(line)
		switch {
		case inString || to > from && strings.IndexByte(" \t)]}", line[0]) >= 0:
		case strings.TrimSpace(line) == "" || line[0] == '#':
			continue
		default:
			if to > from {
				out = append(out, text[from:to])
			}
			from = at - len(line)
		}
		to = at
		if (strings.Count(line, `"""`)+strings.Count(line, "'''"))%2 == 1 {
			inString = !inString
		}
	}
	if to > from {
		out = append(out, text[from:to])
	}
	return out
}

// parseCall parses a statement that is a call. It returns no arguments if they are anything
// but names with literals, and no function for another statement.
//
// Names with literals are written as in an inline table of TOML. An escaped single quote is
// the exception that could hide an argument.
func parseCall(statement string) (fn string, args map[string]any, err error) {
	fn, rest, isCall := strings.Cut(statement, "(")
	end := strings.LastIndexByte(rest, ')')
	switch {
	case !isCall:
		return "", nil, nil
	case end < 0:
		return "", nil, errors.New("a call does not end on a line that is indented or begins with a bracket")
	}
	// A bracket outside of strings and comments is no TOML.
	for ; end >= 0 && args == nil; end = strings.LastIndexByte(rest[:end], ')') {
		var table struct{ Args map[string]any }
		if isComment(rest[end+1:]) && !strings.Contains(rest[:end], `\'`) &&
			toml.Unmarshal([]byte("args = {"+rest[:end]+"\n}"), &table) == nil {
			args = table.Args
		}
	}
	return strings.TrimSpace(fn), args, nil
}

// isComment reports whether a text is nothing but a comment, if anything.
func isComment(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || text[0] == '#' && !strings.Contains(text, "\n")
}

// codexDecisions are the decisions of prefix_rule.
var codexDecisions = map[string]executors.Decision{
	"": executors.Allow, "allow": executors.Allow, "prompt": executors.Ask, "forbidden": executors.Deny,
}

// maxAlternatives bounds the rules that one prefix_rule becomes.
const maxAlternatives = 64

// prefixRule translates a call of prefix_rule.
func (c *codex) prefixRule(source string, args map[string]any) error {
	decision := ""
	if e, ok := args["decision"]; ok {
		if decision, ok = e.(string); !ok {
			return errors.New("its decision is not a text")
		}
	}
	action := codexDecisions[decision]
	if action == "" {
		return fmt.Errorf("its decision is %q", decision)
	}
	commands, err := prefixes(args["pattern"])
	if err != nil {
		return err
	}
	from := len(c.Rules)
	for _, command := range commands {
		c.add(source, action, "bash", literal.Replace(command), literal.Replace(command)+" *")
	}
	c.examples(c.Rules[from:], args["match"], args["not_match"])
	return nil
}

// prefixes returns the beginnings of commands that a pattern stands for. Each element is
// a word, or a list of alternatives.
func prefixes(pattern any) ([]string, error) {
	list, _ := pattern.([]any)
	if len(list) == 0 {
		return nil, errors.New("its pattern is not a list of words")
	}
	out := []string{""}
	for _, element := range list {
		words, ok := texts(element)
		if !ok {
			return nil, errors.New("its pattern is computed")
		}
		var next []string
		for _, begin := range out {
			for _, w := range words {
				if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`") {
					return nil, errors.New("commands are matched without quotes, so that a word with a space cannot be told from two")
				}
				next = append(next, strings.TrimPrefix(begin+" "+w, " "))
			}
		}
		if out = next; len(out) > maxAlternatives {
			return nil, errors.New("it has too many alternatives")
		}
	}
	return out, nil
}

// examples adds the examples to the rules that they fit.
func (c *codex) examples(rules []Rule, match, notMatch any) {
	for _, example := range examplesOf(match) {
		for i := range rules {
			if ok, err := rules[i].Matches("bash", example); ok && err == nil {
				rules[i].Match = append(rules[i].Match, example)
				break
			}
		}
	}
	for _, example := range examplesOf(notMatch) {
		for i := range rules {
			if ok, err := rules[i].Matches("bash", example); !ok && err == nil {
				rules[i].NotMatch = append(rules[i].NotMatch, example)
			}
		}
	}
}

// examplesOf returns a list of commands: each is a text or a list of words.
func examplesOf(e any) []string {
	list, _ := e.([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
			continue
		}
		words, ok := texts(item)
		for i, w := range words {
			quoted, err := sh.Quote(w, sh.LangBash)
			ok = ok && err == nil
			words[i] = quoted
		}
		if ok {
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

// texts returns the values of a string, or of a list of strings.
func texts(e any) ([]string, bool) {
	if s, ok := e.(string); ok {
		return []string{s}, true
	}
	list, _ := e.([]any)
	var out []string
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, len(out) > 0
}
