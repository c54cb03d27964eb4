package executors

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Advice edits texts of ours for models: descriptions, hints of failures, and the system prompt. The
// zero value changes nothing.
type Advice struct {
	// SavedOnly leaves out that tools see the unsaved text of an editor.
	SavedOnly bool

	absent []string
	// recommendation matches words that recommend tools, as in "Prefer read, grep and edit".
	recommendation *regexp.Regexp
}

// NewAdvice returns the advice for a session that is offered some of the known tools.
func NewAdvice(known, offered []Tool) Advice {
	names := NamesOf(known, recommendable)
	a := Advice{absent: slices.DeleteFunc(slices.Clone(names), func(name string) bool { return indexOf(offered, name) >= 0 })}
	if len(a.absent) > 0 {
		one := `(?:` + strings.Join(names, "|") + `)`
		a.recommendation = regexp.MustCompile(`\b(?:[Pp]refer|[Uu]se|[Ww]ith) (` + one + `(?:(?:, | and | or )` + one + `\b)*)\b`)
	}
	return a
}

func recommendable(t Tool) bool { return t.Is(Recommended) }

// unsaved matches words that say that tools see the unsaved text of an editor.
var unsaved = lazyregexp.New(`, unsaved changes included|: they see (?:unsaved changes|the editor's unsaved text)`)

// Edit returns a text without recommendations of tools that are not offered. A sentence that
// recommends only such tools is left out.
func (a Advice) Edit(text string) string {
	if a.SavedOnly && strings.Contains(text, "unsaved") {
		text = unsaved.ReplaceAllString(text, "")
	}
	if !slices.ContainsFunc(a.absent, func(name string) bool { return strings.Contains(text, name) }) {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		var kept []string
		whole, ended := strings.CutSuffix(line, "\n")
		for _, sentence := range strings.SplitAfter(whole, ". ") {
			if s, ok := a.sentence(sentence); ok {
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

// sentence returns a sentence without absent tools. ok is false if it recommended no other.
func (a Advice) sentence(sentence string) (_ string, ok bool) {
	var out strings.Builder
	for {
		found := a.recommendation.FindStringSubmatch(sentence)
		if found == nil {
			return out.String() + sentence, true
		}
		before, rest, _ := strings.Cut(sentence, found[0])
		list, comma := found[1], ", "
		names := strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' })
		names = slices.DeleteFunc(names, func(name string) bool { return name == "and" || name == "or" })
		all := len(names)
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(a.absent, name) })
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

// AdviseOffered returns the middleware that keeps descriptions of tools and hints of failures from
// recommending a known tool that is not offered. savedOnly is Advice.SavedOnly. It belongs around the
// links that hide tools.
func AdviseOffered(known func() []Tool, savedOnly bool) Middleware {
	return func(next Executor) Executor { return &adviser{Executor: next, known: known, savedOnly: savedOnly} }
}

type adviser struct {
	Executor
	known     func() []Tool
	savedOnly bool

	mu      sync.Mutex
	advice  Advice // for the offered tools
	offered []string
}

// adviceFor returns the advice for a session with these tools. It seldom changes.
func (a *adviser) adviceFor(tools []Tool) Advice {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.offered == nil || !a.areOffered(tools) {
		a.advice, a.offered = NewAdvice(a.known(), tools), append([]string{}, NamesOf(tools, recommendable)...)
		a.advice.SavedOnly = a.savedOnly
	}
	return a.advice
}

// areOffered reports whether the advice is for these tools.
func (a *adviser) areOffered(tools []Tool) bool {
	n := 0
	for i := range tools {
		if tools[i].Traits&Recommended == 0 {
			continue
		}
		if n == len(a.offered) || a.offered[n] != tools[i].Name {
			return false
		}
		n++
	}
	return n == len(a.offered)
}

func (a *adviser) Tools() []Tool {
	tools := a.Executor.Tools()
	advice := a.adviceFor(tools)
	if len(advice.absent) == 0 && !advice.SavedOnly {
		return tools
	}
	tools = slices.Clone(tools)
	for i, t := range tools {
		if t.Server == "" {
			tools[i].Description = advice.Edit(t.Description)
		}
	}
	return tools
}

func (a *adviser) Execute(ctx context.Context, call *Call) (Result, error) {
	res, err := a.Executor.Execute(ctx, call)
	if f := res.Failure; f != nil && f.Suggestion != "" {
		advised, tools := *f, a.Executor.Tools()
		if advised.Suggestion = a.adviceFor(tools).Edit(f.Suggestion); advised.Suggestion == "" {
			advised.Suggestion = suggestion[f.Category]
		}
		if id, taker := misplacedID(call, tools); taker != "" && (f.Category == InvalidParameters || f.Category == PermanentFailure) {
			advised.Suggestion = OneLine(id) + " belongs to " + taker + ", not to " + call.Tool + "."
		}
		res.Failure = &advised
	}
	return res, err
}

// misplacedID returns an id in the parameters of a call that another one of the tools takes, and that
// tool. Small models mix up the ids of background commands, stored outputs and the memory.
func misplacedID(call *Call, tools []Tool) (id, taker string) {
	var params map[string]any
	if json.Unmarshal(call.Input, &params) != nil {
		return "", ""
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value, _ := params[name].(string)
		if name != "id" && name != "path" && !strings.HasSuffix(name, "_id") || value == "" || len(value) > maxID {
			continue
		}
		taker = ""
		for _, t := range tools {
			if t.IDs == "" || !regexp.MustCompile(`^(?:`+t.IDs+`)$`).MatchString(value) {
				continue
			}
			if t.Name == call.Tool {
				taker = ""
				break
			}
			taker = cmp.Or(taker, t.Name)
		}
		if taker != "" {
			return value, taker
		}
	}
	return "", ""
}

// maxID is the length of the longest id that is compared, in bytes.
const maxID = 80
