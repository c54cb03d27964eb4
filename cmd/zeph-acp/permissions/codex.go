package permissions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax" // parses the language of .rules files; nothing in them runs
	sh "mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Codex translates the calls of prefix_rule in a .rules file of Codex:
// https://developers.openai.com/codex/rules
func Codex(name string, data []byte) (*Import, error) {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)) // all of them end a line
	file, err := (&syntax.FileOptions{}).Parse(name, text, 0)
	if err != nil {
		return nil, err
	}
	c := &codex{}
	lines := strings.Split(text, "\n")
	for _, s := range file.Stmts {
		source := statement(lines, s)
		call, fn := callOf(s)
		switch {
		case fn == "prefix_rule":
			if err := c.prefixRule(source, call); err != nil {
				c.leaveOut(source, "%v", err)
				c.restricted = []string{"bash"}
			}
		case fn == "host_executable" || fn == "network_rule":
			c.leaveOut(source, "it has no equivalent")
		default:
			c.leaveOut(source, "only calls of prefix_rule are translated")
			c.restricted = []string{"bash"}
		}
	}
	return c.finish(), nil
}

// codex is the translation of one file.
type codex struct{ Import }

// statement returns the text of a statement on one line.
func statement(lines []string, s syntax.Stmt) string {
	start, end := s.Span()
	text := strings.Join(lines[start.Line-1:end.Line], " ")
	return strings.Join(strings.Fields(text), " ")
}

// callOf returns the call that a statement consists of, and the name of its function.
func callOf(s syntax.Stmt) (*syntax.CallExpr, string) {
	e, ok := s.(*syntax.ExprStmt)
	if !ok {
		return nil, ""
	}
	call, ok := e.X.(*syntax.CallExpr)
	if !ok {
		return nil, ""
	}
	fn, ok := call.Fn.(*syntax.Ident)
	if !ok {
		return nil, ""
	}
	return call, fn.Name
}

// codexDecisions are the decisions of prefix_rule.
var codexDecisions = map[string]executors.Decision{
	"": executors.Allow, "allow": executors.Allow, "prompt": executors.Ask, "forbidden": executors.Deny,
}

// maxAlternatives bounds the rules that one prefix_rule becomes.
const maxAlternatives = 64

// prefixRule translates a call of prefix_rule.
func (c *codex) prefixRule(source string, call *syntax.CallExpr) error {
	args := map[string]syntax.Expr{}
	for _, a := range call.Args {
		named, ok := a.(*syntax.BinaryExpr)
		if !ok || named.Op != syntax.EQ {
			return errors.New("its arguments have no names")
		}
		name, ok := named.X.(*syntax.Ident)
		if !ok {
			return errors.New("its arguments have no names")
		}
		args[name.Name] = named.Y
	}
	decision := ""
	if e := args["decision"]; e != nil {
		var ok bool
		if decision, ok = text(e); !ok {
			return errors.New("its decision is computed")
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
func prefixes(pattern syntax.Expr) ([]string, error) {
	list, ok := pattern.(*syntax.ListExpr)
	if !ok || len(list.List) == 0 {
		return nil, errors.New("its pattern is not a list of words")
	}
	out := []string{""}
	for _, element := range list.List {
		words, ok := texts(element)
		if !ok {
			return nil, errors.New("its pattern is computed")
		}
		if slices.ContainsFunc(words, needsQuotes) {
			return nil, errors.New("commands are matched without quotes, so that a word with a space cannot be told from two")
		}
		var next []string
		for _, begin := range out {
			for _, w := range words {
				next = append(next, strings.TrimPrefix(begin+" "+w, " "))
			}
		}
		if out = next; len(out) > maxAlternatives {
			return nil, errors.New("it has too many alternatives")
		}
	}
	return out, nil
}

// needsQuotes reports whether a shell would not read a word unchanged.
func needsQuotes(word string) bool { return word == "" || strings.ContainsAny(word, " \t\n\"'\\$`") }

// examples adds the examples to the rules that they fit.
func (c *codex) examples(rules []Rule, match, notMatch syntax.Expr) {
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
func examplesOf(e syntax.Expr) []string {
	list, ok := e.(*syntax.ListExpr)
	if !ok {
		return nil
	}
	var out []string
	for _, item := range list.List {
		if s, ok := text(item); ok {
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

// text returns the value of a string literal.
func text(e syntax.Expr) (string, bool) {
	l, ok := e.(*syntax.Literal)
	if !ok {
		return "", false
	}
	s, ok := l.Value.(string)
	return s, ok
}

// texts returns the values of a string literal, or of a list of them.
func texts(e syntax.Expr) ([]string, bool) {
	if s, ok := text(e); ok {
		return []string{s}, true
	}
	list, ok := e.(*syntax.ListExpr)
	if !ok || len(list.List) == 0 {
		return nil, false
	}
	var out []string
	for _, item := range list.List {
		s, ok := text(item)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}
