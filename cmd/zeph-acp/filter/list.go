package filter

import (
	"bufio"
	"fmt"
	"io"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/filter"
)

// strategyDescriptions describes the strategies, as docs/reference/filter-strategies.md does.
var strategyDescriptions = map[string]string{
	"strip_noise":     "drops matching lines",
	"truncate":        "keeps head and tail of a long output",
	"keep_matching":   "keeps only matching lines",
	"strip_annotated": "drops and counts matching lines, puts the summary first, cuts a long rest",
	"digest":          "drops lines and blocks, joins similar lines, cuts a long rest",
	"test_summary":    "keeps failures, warnings and totals of a test run",
	"stack_traces":    "shortens long stack traces",
	"group_by_rule":   "writes each message of a linter or compiler once, with all places",
	"git_status":      "drops hints, joins the files of large directories",
	"git_diff":        "keeps hunks, divided so that small files stay whole",
	"git_log":         "writes one line for each commit",
	"git_blame":       "names a commit once for consecutive lines",
	"dedup":           "folds records that a log repeats",
	"listing":         "joins paths by directory",
	"group_matches":   "writes search results below their file",
	"fetch":           "drops progress, headers, page layout and similar JSON items",
	"json":            "drops items that resemble others in a long JSON list",
	"table":           "keeps the largest rows, removes padding",
	"build_steps":     "shortens image builds: steps that succeeded keep only warnings",
	"terraform":       "shortens plans",
	"kubectl":         "shortens tables and descriptions",
	"streams":         "divides the output of programs that run others, and filters each part by its command",
}

// maxCommands is the number of commands that the list names for each rule.
const maxCommands = 8

// listRules describes each rule: its effect, and the commands that it is for.
func listRules(w io.Writer, f *filter.Filter) error {
	width := 0
	for _, r := range f.Rules() {
		width = max(width, len(cli.OneLine(r.Name)))
	}
	rest := max(cli.TextWidth()-width-2, cli.MinColumn)
	out := bufio.NewWriter(w)
	for _, r := range f.Rules() {
		words, ok := strategyDescriptions[r.Strategy]
		if !ok {
			words = r.Strategy
		}
		name := cli.OneLine(r.Name)
		for _, line := range append(cli.WrapText(words, rest), cli.WrapText("for "+exampleCommands(r.Match), rest-2)...) {
			fmt.Fprintf(out, "%-*s  %s\n", width, name, line)
			name = ""
		}
	}
	return out.Flush()
}

// listPatterns prints one line per rule, with its strategy and the pattern of its commands.
func listPatterns(w io.Writer, f *filter.Filter) error {
	name, strategy := 0, 0
	for _, r := range f.Rules() {
		name, strategy = max(name, len(r.Name)), max(strategy, len(r.Strategy))
	}
	out := bufio.NewWriter(w)
	for _, r := range f.Rules() {
		fmt.Fprintf(out, "%-*s  %-*s  %s\n", name, cli.OneLine(r.Name), strategy, r.Strategy, cli.OneLine(r.Match))
	}
	return out.Flush()
}

// exampleCommands returns examples of the commands that a match covers.
func exampleCommands(match string) string {
	kind, quoted, _ := strings.Cut(match, " ")
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return cli.OneLine(match)
	}
	if kind != "regex" {
		return cli.OneLine(text)
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return cli.OneLine(text)
	}
	var names []string
	for _, b := range beginnings(re.Simplify()) {
		if name := strings.TrimSpace(b.text); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "the pattern " + cli.OneLine(text)
	}
	if more := len(names) - maxCommands; more > 0 {
		return cli.OneLine(strings.Join(names[:maxCommands], ", ")) + fmt.Sprintf(" and %d more", more)
	}
	return cli.OneLine(strings.Join(names, ", "))
}

// beginning is the literal beginning of a text that an expression matches. An incomplete one
// is followed by text that is not enumerated.
type beginning struct {
	text       string
	incomplete bool
}

// maxBeginnings limits the texts that are enumerated.
const maxBeginnings = 200

// beginnings returns the literal beginnings of the texts that an expression matches,
// without its optional parts.
func beginnings(re *syntax.Regexp) []beginning {
	switch re.Op {
	case syntax.OpLiteral:
		return []beginning{{string(re.Rune), false}}
	case syntax.OpCharClass:
		return classBeginnings(re.Rune)
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpAlternate:
		var all []beginning
		for _, sub := range re.Sub {
			all = append(all, beginnings(sub)...)
		}
		return all[:min(len(all), maxBeginnings)]
	case syntax.OpConcat:
		return sequenceBeginnings(re.Sub)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpBeginText, syntax.OpEndLine, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpQuest, syntax.OpStar:
		return []beginning{{"", false}}
	}
	return []beginning{{"", true}}
}

// maxClass is the number of characters up to which a class is enumerated.
const maxClass = 4

// classBeginnings returns the characters of a class, whose ranges are pairs. A large class is
// not enumerated.
func classBeginnings(pairs []rune) (all []beginning) {
	for i := 0; i < len(pairs); i += 2 {
		for r := pairs[i]; r <= pairs[i+1]; r++ {
			if len(all) == maxClass {
				return []beginning{{"", true}}
			}
			all = append(all, beginning{string(r), false})
		}
	}
	return all
}

// sequenceBeginnings returns the beginnings of a sequence.
func sequenceBeginnings(parts []*syntax.Regexp) []beginning {
	all := []beginning{{}}
	for _, part := range parts {
		next, ends := []beginning{}, beginnings(part)
		for _, b := range all {
			if b.incomplete {
				next = append(next, b)
				continue
			}
			for _, end := range ends {
				if len(next) < maxBeginnings {
					next = append(next, beginning{b.text + end.text, end.incomplete})
				}
			}
		}
		all = next
	}
	return all
}
