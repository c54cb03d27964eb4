package executors

import (
	"context"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// advised are the tools that our texts for models recommend: descriptions, hints of failures,
// and the system prompt.
var advised = []string{"bash", "edit", "fetch", "find_path", "grep", "list_directory", "read", "write"}

// recommendation matches words that recommend tools, as in "Prefer read, grep and edit". It is
// only used for sentences of ours.
var recommendation = lazyregexp.New(
	`\b(?:[Pp]refer|[Uu]se|[Ww]ith) ((?:bash|edit|fetch|find_path|grep|list_directory|read|write)` +
		`(?:(?:, | and | or )(?:bash|edit|fetch|find_path|grep|list_directory|read|write)\b)*)\b`)

// Absent returns the tools that must not be recommended, since they are not among tools.
func Absent(tools []Tool) []string {
	var absent []string
	for _, name := range advised {
		if _, ok := Find(tools, name); !ok {
			absent = append(absent, name)
		}
	}
	return absent
}

// Advise returns a text of ours for models without recommendations of absent tools. A sentence
// that recommends only such tools is left out.
func Advise(text string, absent []string) string {
	if !slices.ContainsFunc(absent, func(name string) bool { return strings.Contains(text, name) }) {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		var kept []string
		whole, ended := strings.CutSuffix(line, "\n")
		for _, sentence := range strings.SplitAfter(whole, ". ") {
			if s, ok := adviseSentence(sentence, absent); ok {
				kept = append(kept, s)
			}
		}
		joined := strings.TrimRight(strings.Join(kept, ""), " ")
		if strings.Trim(joined, "- ") == "" && strings.TrimSpace(whole) != "" {
			continue
		}
		out.WriteString(joined)
		if ended {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// adviseSentence returns a sentence without absent tools. ok is false if it recommended no other.
func adviseSentence(sentence string, absent []string) (_ string, ok bool) {
	var out strings.Builder
	for {
		found := recommendation.FindStringSubmatch(sentence)
		if found == nil {
			return out.String() + sentence, true
		}
		before, rest, _ := strings.Cut(sentence, found[0])
		list, comma := found[1], ", "
		names := strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' })
		names = slices.DeleteFunc(names, func(name string) bool { return name == "and" || name == "or" })
		all := len(names)
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(absent, name) })
		switch {
		case len(names) == 0:
			return "", false
		case len(names) < all:
			last := comma
			for _, word := range []string{" and ", " or "} {
				if strings.Contains(list, word) {
					last = word
				}
			}
			list = strings.Join(names[:len(names)-1], comma)
			if list != "" {
				list += last
			}
			list += names[len(names)-1]
		}
		out.WriteString(before + strings.TrimSuffix(found[0], found[1]) + list)
		sentence = rest
	}
}

// AdviseOffered is the middleware that keeps descriptions of tools and hints of failures from
// recommending a tool that is not offered. It belongs around the links that hide tools.
func AdviseOffered(next Executor) Executor { return adviser{next} }

type adviser struct{ Executor }

func (a adviser) Tools() []Tool {
	tools := a.Executor.Tools()
	absent := Absent(tools)
	if len(absent) == 0 {
		return tools
	}
	tools = slices.Clone(tools)
	for i, t := range tools {
		if t.Server == "" {
			tools[i].Description = Advise(t.Description, absent)
		}
	}
	return tools
}

func (a adviser) Execute(ctx context.Context, call *Call) (Result, error) {
	res, err := a.Executor.Execute(ctx, call)
	if f := res.Failure; f != nil && f.Suggestion != "" && recommendation.MatchString(f.Suggestion) {
		advised := *f
		if advised.Suggestion = Advise(f.Suggestion, Absent(a.Executor.Tools())); advised.Suggestion == "" {
			advised.Suggestion = suggestion[f.Category]
		}
		res.Failure = &advised
	}
	return res, err
}
