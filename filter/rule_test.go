package filter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const okRule = "[[rules]]\nname = \"ok\"\nmatch = { prefix = \"ok\" }\nstrategy = { type = \"truncate\", max_lines = 50 }\n"

// ruleNames returns the names of rules.
func ruleNames(rules []rule) (names []string) {
	for _, r := range rules {
		names = append(names, r.name)
	}
	return names
}

func TestLoad(t *testing.T) {
	builtins, warnings := loadRules("")
	if len(warnings) > 0 || len(builtins) == 0 {
		t.Fatalf("%d built-in rules, %q", len(builtins), warnings)
	}
	rule := func(rest string) string { return "[[rules]]\nname = \"x\"\n" + rest + "\n" }
	const match, strategy = "match = { exact = \"x\" }\n", "strategy = { type = \"truncate\", max_lines = 50 }\n"
	for name, tt := range map[string]struct {
		file    string
		warning string   // part of the only warning; empty means no warning
		has     []string // rules besides the built-in ones
		not     string   // a built-in rule that is missing
	}{
		"nothing":              {"", "", nil, ""},
		"only a comment":       {"# x\n", "", nil, ""},
		"one more":             {okRule, "", []string{"ok"}, ""},
		"a byte order mark":    {"\ufeff" + okRule, "", []string{"ok"}, ""},
		"Windows line ends":    {strings.ReplaceAll(okRule, "\n", "\r\n"), "", []string{"ok"}, ""},
		"off":                  {"[[rules]]\nname = \"grep\"\nenabled = false\n", "", nil, "grep"},
		"off, and a bad match": {"[[rules]]\nname = \"grep\"\nenabled = false\nmatch = { glob = \"a\" }\n", "left as built in", nil, "grep"},
		"one more, off":        {okRule + "enabled = false\n", "", nil, ""},
		"off, of no rule":      {"[[rules]]\nname = \"nosuch\"\nenabled = false\n", "", nil, ""},
		"another match":        {"[[rules]]\nname = \"grep\"\nmatch = { exact = \"zz\" }\n", "", nil, ""},
		"another strategy":     {"[[rules]]\nname = \"grep\"\n" + strategy, "", nil, ""},
		"another, bad strategy": {"[[rules]]\nname = \"grep\"\nstrategy = { type = \"truncate\" }\n",
			`rule "grep" is left as built in: strategy truncate: max_lines`, nil, ""},
		"twice":                  {okRule + okRule, `rule "ok" is left out: an earlier rule`, []string{"ok"}, ""},
		"no name":                {"[[rules]]\n" + match + strategy + okRule, "rule 1 is left out: it has no name", []string{"ok"}, ""},
		"an empty name":          {"[[rules]]\nname = \"  \"\n" + match + strategy, "has no name", nil, ""},
		"a number for a name":    {"[[rules]]\nname = 5\n" + match + strategy, "has no name", nil, ""},
		"no match":               {rule(strategy) + okRule, "match: want exactly one", []string{"ok"}, ""},
		"two matches":            {rule("match = { exact = \"a\", prefix = \"b\" }\n"+strategy) + okRule, "got 2 keys", []string{"ok"}, ""},
		"an empty match":         {rule("match = { prefix = \"\" }\n" + strategy), "match.prefix: want a string", nil, ""},
		"a number for a match":   {rule("match = { prefix = 1 }\n" + strategy), "match.prefix: want a string", nil, ""},
		"an unknown match":       {rule("match = { glob = \"a\" }\n" + strategy), `unknown key "glob"`, nil, ""},
		"a match that is none":   {rule("match = \"a\"\n" + strategy), `rule "x" is left out`, nil, ""},
		"a bad pattern":          {rule("match = { regex = \"(\" }\n" + strategy), "not a regular expression", nil, ""},
		"a long pattern":         {rule("match = { regex = \"" + strings.Repeat("x", 513) + "\" }\n" + strategy), "513 characters; the limit is 512", nil, ""},
		"a large pattern":        {rule("match = { regex = '" + strings.Repeat(`\\w{1000}`, 30) + "' }\n" + strategy), "more than 5000 steps", nil, ""},
		"the longest pattern":    {rule("match = { regex = \"" + strings.Repeat("ä", 512) + "\" }\n" + strategy), "", []string{"x"}, ""},
		"a huge repetition":      {rule("match = { regex = \"((a{100}){100}){100}\" }\n" + strategy), "not a regular expression", nil, ""},
		"no strategy":            {rule(match), `unknown type ""`, nil, ""},
		"an unknown strategy":    {rule(match + "strategy = { type = \"magic\" }\n"), `unknown type "magic" (known: `, nil, ""},
		"an unknown parameter":   {rule(match + "strategy = { type = \"truncate\", max_lines = 50, lines = 3 }\n"), `unknown key "lines"`, nil, ""},
		"a wrong parameter":      {rule(match + "strategy = { type = \"truncate\", max_lines = \"many\" }\n"), "max_lines", nil, ""},
		"an unknown key":         {rule(match + strategy + "enable = false\n"), `unknown key "enable"`, nil, ""},
		"enabled is no truth":    {rule(match + strategy + "enabled = \"no\"\n"), "enabled", nil, ""},
		"an unknown table":       {"[filters]\nx = 1\n" + okRule, `unknown key "filters"`, []string{"ok"}, ""},
		"a rule":                 {"[rules]\nname = \"x\"\n", "must be tables: [[rules]]", nil, ""},
		"rules that are none":    {"rules = [1]\n", "rule 1 is left out", nil, ""},
		"no TOML":                {"[[rules]\nname = 1", "line 1", nil, ""},
		"no TOML, later":         {okRule + "name = = 3\n", "line 5", nil, ""},
		"a key twice":            {"[[rules]]\nname = \"x\"\nname = \"y\"\n", "only the built-in filter rules", nil, ""},
		"no UTF-8":               {"# \xff\xfe\n" + okRule, "only the built-in filter rules", nil, ""},
		"a zero byte":            {"\x00", "only the built-in filter rules", nil, ""},
		"too large":              {okRule + strings.Repeat("#", maxRulesFile), "the limit is 1048576", nil, ""},
		"as large as it may be":  {okRule + strings.Repeat("#", maxRulesFile-len(okRule)), "", []string{"ok"}, ""},
		"the right ones of many": {okRule + rule("") + "[[rules]]\nname = \"also\"\n" + match + strategy, `rule "x" is left out`, []string{"ok", "also"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "filters.toml")
			if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			rules, warnings := loadRules(path)
			want := slices.Concat(ruleNames(builtins), tt.has)
			want = slices.DeleteFunc(want, func(n string) bool { return n == tt.not })
			if got := ruleNames(rules); !slices.Equal(got, want) {
				t.Errorf("rules %q\nwant %q", got, want)
			}
			switch {
			case tt.warning == "" && len(warnings) > 0:
				t.Errorf("warnings %q, want none", warnings)
			case tt.warning != "" && (len(warnings) != 1 || !strings.Contains(warnings[0], tt.warning) || !strings.HasPrefix(warnings[0], path)):
				t.Errorf("warnings %q, want one with %q", warnings, tt.warning)
			}
		})
	}
}

func TestLoadOverride(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filters.toml")
	write := func(text string) map[string]rule {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		rules, warnings := loadRules(path)
		if len(warnings) > 0 {
			t.Errorf("%s\ncauses warnings: %q", text, warnings)
		}
		byName := map[string]rule{}
		for _, r := range rules {
			byName[r.name] = r
		}
		return byName
	}
	if r := write("[[rules]]\nname = \"grep\"\nmatch = { exact = \"zz\" }\n")["grep"]; r.strategyType != "group_matches" || !r.match.matches("zz") ||
		r.match.matches("grep x") {
		t.Errorf("another match: %+v, want the built-in strategy for zz alone", r)
	}
	if r := write("[[rules]]\nname = \"grep\"\nstrategy = { type = \"truncate\", max_lines = 50 }\n")["grep"]; r.strategyType != "truncate" ||
		!r.match.matches("grep x") {
		t.Errorf("another strategy: %+v, want it for the built-in match", r)
	}
}

// TestLoadUnreadable loads paths that are not readable files.
func TestLoadUnreadable(t *testing.T) {
	dir := t.TempDir()
	for name, path := range map[string]string{"a directory": dir, "below a file": filepath.Join(dir, "f", "x.toml")} {
		if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		rules, warnings := loadRules(path)
		if len(rules) == 0 || len(warnings) != 1 || !strings.Contains(warnings[0], "only the built-in filter rules are used") {
			t.Errorf("%s: %d rules and the warnings %q, want the built-in rules and one warning", name, len(rules), warnings)
		}
	}
	if rules, warnings := loadRules(filepath.Join(dir, "none.toml")); len(rules) == 0 || len(warnings) > 0 {
		t.Errorf("no file: %d rules and the warnings %q, want the built-in rules alone", len(rules), warnings)
	}
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		key, text, segment string
		want               bool
	}{
		{"exact", "make", "make", true}, {"exact", "make", "make all", false},
		{"prefix", "make", "make", true}, {"prefix", "make", "make all", true}, {"prefix", "make", "makefoo", false}, {"prefix", "make ", "make all", true},
		{"prefix", "docker build", "docker builder", false},
		{"regex", "^(npm|yarn)\\s+ci", "yarn  ci", true}, {"regex", "x$", "make x", true}, {"regex", "^x", "make x", false},
	} {
		m, err := compileMatch(map[string]any{tt.key: tt.text})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.matches(tt.segment); got != tt.want {
			t.Errorf("%s %q of %q: %t, want %t", tt.key, tt.text, tt.segment, got, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(okRule))
	f.Add(builtinRules)
	f.Add([]byte("rules = [{ name = 'x', match = { regex = '(' } }]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rules, _ := readRules("x", text)
		for _, w := range rules {
			if w.Name == "" {
				t.Errorf("a rule without a name of %q", text)
			}
			_, _ = w.compile()
		}
	})
}
