package filter

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/zeph-acp/zeph-acp/filter/excerpt"
	"github.com/zeph-acp/zeph-acp/filter/fetch"
	"github.com/zeph-acp/zeph-acp/filter/generic"
	"github.com/zeph-acp/zeph-acp/filter/git"
	"github.com/zeph-acp/zeph-acp/filter/lint"
	"github.com/zeph-acp/zeph-acp/filter/listing"
	"github.com/zeph-acp/zeph-acp/filter/logs"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/streams"
	"github.com/zeph-acp/zeph-acp/filter/testreport"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// maxRulesFile is the largest file of rules, in bytes.
const maxRulesFile = 1 << 20

//go:embed filters.toml
var builtinRules []byte

// rule is an entry of a file of rules, ready for use.
type rule struct {
	name         string
	match        matcher
	strategy     strategy.Strategy
	strategyType string // the type of strategy
	unless       string // an earlier rule: if it recognised the output, this one is skipped
}

// matcher selects commands: exactly one of its fields is set.
type matcher struct {
	exact, prefix string
	regex         *text.Pattern
}

// matches reports whether the rule applies to a segment of a command.
func (m matcher) matches(segment string) bool {
	switch {
	case m.exact != "":
		return segment == m.exact
	case m.prefix != "":
		// "make" is not a prefix of "makefoo".
		rest, ok := strings.CutPrefix(segment, m.prefix)
		return ok && (rest == "" || rest[0] == ' ' || strings.HasSuffix(m.prefix, " "))
	}
	return m.regex.Match([]byte(segment))
}

// strategies are the constructors of all families by type.
var strategies = func() map[string]strategy.Constructor {
	all := map[string]strategy.Constructor{}
	for _, family := range []map[string]strategy.Constructor{
		generic.Strategies, testreport.Strategies, lint.Strategies, logs.Strategies, git.Strategies,
		listing.Strategies, fetch.Strategies, excerpt.Strategies, streams.Strategies,
	} {
		maps.Copy(all, family)
	}
	return all
}()

// writtenRule is a rule as it appears in a file.
type writtenRule struct {
	Name     string         `toml:"name"`
	Match    map[string]any `toml:"match"`
	Strategy map[string]any `toml:"strategy"`
	Enabled  *bool          `toml:"enabled"`
	Unless   string         `toml:"unless"`
}

// loadRules returns the built-in rules, overridden by the rules in the user's file, and
// warnings about the file. A rule with the name of a built-in one replaces it,
// but keeps its match or strategy if it sets none. New rules come last. A
// missing file is not an error.
func loadRules(path string) (rules []rule, warnings []string) {
	all, warnings := readRules("built in", builtinRules)
	inUserFile := map[string]bool{} // by name of the rule
	if path != "" {
		userRules, wrong := readFile(path)
		warnings = append(warnings, wrong...)
		for _, w := range userRules {
			i := slices.IndexFunc(all, func(b writtenRule) bool { return b.Name == w.Name })
			inUserFile[w.Name] = true
			if i < 0 {
				all = append(all, w)
				continue
			}
			merged := mergeRules(all[i], w)
			if _, err := merged.compile(); err != nil {
				warnings = append(warnings, fmt.Sprintf("%s: rule %q is left as built in: %v", path, w.Name, err))
				all[i] = mergeRules(all[i], writtenRule{Enabled: w.Enabled})
				continue
			}
			all[i] = merged
		}
	}
	for _, w := range all {
		if w.Enabled != nil && !*w.Enabled {
			continue
		}
		compile := w.compileLazily
		if inUserFile[w.Name] {
			compile = w.compile
		}
		r, err := compile()
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: rule %q is left out: %v", path, w.Name, err))
			continue
		}
		rules = append(rules, r)
	}
	return rules, warnings
}

func mergeRules(base, over writtenRule) writtenRule {
	if over.Match != nil {
		base.Match = over.Match
	}
	if over.Strategy != nil {
		base.Strategy = over.Strategy
	}
	if over.Enabled != nil {
		base.Enabled = over.Enabled
	}
	if over.Unless != "" {
		base.Unless = over.Unless
	}
	return base
}

// readFile reads the user's file.
func readFile(path string) ([]writtenRule, []string) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var data []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	case info.Size() > maxRulesFile:
		err = fmt.Errorf("it has %s; the limit is %d", quantity.Count(info.Size(), "byte"), maxRulesFile)
	default:
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, []string{fmt.Sprintf("%s: only the built-in filter rules are used: %v", path, err)}
	}
	return readRules(path, data)
}

// readRules parses a file of rules. It leaves out invalid rules with a warning.
func readRules(name string, data []byte) (rules []writtenRule, warnings []string) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors write it
	var file map[string]any
	if err := toml.Unmarshal(data, &file); err != nil {
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, _ := e.Position()
			err = fmt.Errorf("line %d: %w", row, err)
		}
		return nil, []string{fmt.Sprintf("%s: only the built-in filter rules are used: %v", name, err)}
	}
	for _, key := range slices.Sorted(maps.Keys(file)) {
		if key != "rules" {
			warnings = append(warnings, fmt.Sprintf("%s: unknown key %q (known: rules)", name, key))
		}
	}
	list, ok := file["rules"].([]any)
	if !ok && file["rules"] != nil {
		warnings = append(warnings, fmt.Sprintf("%s: rules must be tables: [[rules]]", name))
	}
	seen := map[string]bool{}
	for i, entry := range list {
		w, err := parseRule(entry)
		switch {
		case strings.TrimSpace(w.Name) == "":
			warnings = append(warnings, fmt.Sprintf("%s: rule %d is left out: it has no name", name, i+1))
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("%s: rule %q is left out: %v", name, w.Name, err))
		case seen[w.Name]:
			warnings = append(warnings, fmt.Sprintf("%s: rule %q is left out: an earlier rule has the same name", name, w.Name))
		default:
			seen[w.Name] = true
			rules = append(rules, w)
		}
	}
	return rules, warnings
}

// parseRule parses one entry of a file. With an error it still returns the
// name.
func parseRule(entry any) (w writtenRule, err error) {
	table, _ := entry.(map[string]any)
	w.Name, _ = table["name"].(string)
	var whole writtenRule
	if err := strategy.Decode(table, &whole); err != nil {
		return w, err
	}
	return whole, nil
}

// compile makes a rule ready for use.
func (w writtenRule) compile() (rule, error) {
	m, err := compileMatch(w.Match)
	if err != nil {
		return rule{}, err
	}
	strategyType, _ := w.Strategy["type"].(string)
	build, ok := strategies[strategyType]
	if !ok {
		return rule{}, fmt.Errorf(
			"strategy: unknown type %q (known: %s)", strategyType,
			strings.Join(slices.Sorted(maps.Keys(strategies)), ", "),
		)
	}
	parameters := maps.Clone(w.Strategy)
	delete(parameters, "type")
	s, err := build(parameters)
	if err != nil {
		return rule{}, fmt.Errorf("strategy %s: %w", strategyType, err)
	}
	return rule{w.Name, m, s, strategyType, w.Unless}, nil
}

func compileMatch(table map[string]any) (matcher, error) {
	var m matcher
	if len(table) != 1 {
		return m, fmt.Errorf("match: want exactly one of exact, prefix and regex, got %s", quantity.Count(len(table), "key"))
	}
	for key, v := range table {
		body, ok := v.(string)
		if !ok || strings.TrimSpace(body) == "" {
			return m, fmt.Errorf("match.%s: want a string", key)
		}
		switch key {
		case "exact":
			m.exact = body
		case "prefix":
			m.prefix = body
		case "regex":
			p, err := text.Compile(body)
			if err != nil {
				return m, fmt.Errorf("match.regex: %w", err)
			}
			m.regex = p
		default:
			return m, fmt.Errorf("match: unknown key %q (known: exact, prefix, regex)", key)
		}
	}
	return m, nil
}
