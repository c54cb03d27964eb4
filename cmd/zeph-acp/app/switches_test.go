package app

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema"
)

var (
	long    = flag.Bool("long", false, "play all fixtures under all rows of the covering array of switches")
	onlyRow = flag.Int("row", -1, "play this row of the covering array of switches alone, with all fixtures")
	today   = flag.Int("day", -1, "play the fixtures of another day, a number, under each row")
)

// A factor is a switch with its values; the first is the default.
type factor struct {
	name   string // the path of a key, or one of the prefixes below and a name
	values []string
}

// The factors that are no keys of the configuration.
const (
	capability = "client: "
	appSwitch  = "app: "
	entry      = "entry"  // how a session goes on after its prompts
	answering  = "answer" // what the client answers to a question
)

// clock is what the last word of a key says if its value is a time. A small value would end
// a command of a slow machine, so such keys are no factors.
var clock = regexp.MustCompile(`(^|_)(secs|ms|minutes|days|timeout)$`)

// noFactors are keys that are no switches, with the reason.
var noFactors = map[string]string{
	"llm.find_ollama":    "asks the network",
	"llm.list_models":    "asks the network",
	"acp.max_line_bytes": "a refused line has no id to answer",
	"audit.max_bytes":    "the test reads one file",
}

// alone are values that stop most calls. In a row with others they would hide what the others do, so
// each has a row of its own.
var alone = []choices{{"tools.enabled": "false"}, {"acp.max_prompt_text_bytes": "1024"}, {"agent.context_budget_tokens": "1"}}

// limits are values of limits for which the smallest one would stop most calls.
var limits = map[string]string{
	"tools.max_tool_calls_per_session": "3", "agent.max_tool_iterations": "3", "agent.max_tool_iterations_hard": "20",
	"acp.max_attachment_bytes": "4096", "tools.file.max_file_bytes": "4096",
}

// fullFactors returns all factors. The keys come from the configuration's structs.
func fullFactors(t *testing.T) []factor {
	all := []factor{
		{entry, []string{"new", "load", "resume"}},
		{answering, []string{"allow_once", "allow_always", "reject_once", "none"}},
		{appSwitch + "Yes", []string{"false", "true"}},
		{appSwitch + "NoUser", []string{"false", "true"}},
		{"tools.adversarial_policy.policy_provider", []string{"judge-of-switches", ""}},
	}
	caps := reflect.TypeFor[acp.ClientCapabilities]()
	for i := range caps.NumField() {
		all = append(all, factor{capability + caps.Field(i).Name, []string{"true", "false"}})
	}
	cfg := setting.Default[config.Config]()
	walkKeys(reflect.ValueOf(&cfg).Elem(), "", func(path string, v reflect.Value) {
		isAlone := slices.ContainsFunc(alone, func(s choices) bool { return s[path] != "" })
		if noFactors[path] != "" || isAlone || clock.MatchString(path) {
			return
		}
		if values := valuesOf(t, path, v); len(values) > 1 {
			all = append(all, factor{path, values})
		}
	})
	return all
}

// walkKeys calls do for each key of a struct that is no table.
func walkKeys(v reflect.Value, path string, do func(path string, v reflect.Value)) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("toml"), ",")
		at := strings.TrimPrefix(path+"."+name, ".")
		if name == "" {
			at = path
		}
		switch {
		case name == "-" || !field.IsExported():
		case v.Field(i).Kind() == reflect.Struct:
			walkKeys(v.Field(i), at, do)
		case name != "":
			do(at, v.Field(i))
		}
	}
}

// oneOf matches the mistake of a value that is not in an enumeration.
var oneOf = regexp.MustCompile(`is not one of ([\w-]+(?:, [\w-]+)*)`)

// valuesOf returns the values of a key that are worth a test: both of a boolean, all of an
// enumeration, and of a number the default, the smallest and zero.
func valuesOf(t *testing.T, path string, v reflect.Value) []string {
	standard := fmt.Sprint(v.Interface())
	values := []string{standard}
	add := func(value string) {
		if _, err := load(t, map[string]string{path: value}); err == nil && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		return []string{standard, strconv.FormatBool(!v.Bool())}
	case reflect.String:
		_, err := load(t, map[string]string{path: "?"})
		if m := oneOf.FindStringSubmatch(fmt.Sprint(err)); m != nil {
			for value := range strings.SplitSeq(m[1], ", ") {
				add(value)
			}
		}
	case reflect.Float64:
		add("0")
		add("1")
	case reflect.Int, reflect.Int64:
		if limit := limits[path]; limit != "" {
			add(limit)
			return values
		}
		for _, small := range []int64{1, 2, 3, 5, 10, 50, 64, 100, 200, 256, 500, 1000, 1024, 2000, 4096, math.MaxInt32} {
			if add(fmt.Sprint(small)); len(values) > 1 {
				break
			}
		}
		add("0")
	}
	return values
}

// load loads a configuration of flags alone.
func load(t testing.TB, flags map[string]string) (*config.Loaded, error) {
	return config.Load(config.Options{Flags: flags, Environ: []string{"ZEPH_HOME=" + t.TempDir()}})
}

// choices is a value for each factor.
type choices map[string]string

func (s choices) on(name string) bool { return s[name] == "true" }

// flags returns the keys of the choices.
func (s choices) flags() map[string]string {
	flags := map[string]string{"tools.adversarial_policy.policies": "Never touch production."}
	for name, value := range s {
		if name != entry && name != answering && !strings.HasPrefix(name, capability) && !strings.HasPrefix(name, appSwitch) {
			flags[name] = value
		}
	}
	return flags
}

// gateSwitches are the switches of gates. A gate that is on may only tighten.
var gateSwitches = []string{
	"tools.policy.enabled", "tools.authorization.enabled", "tools.hooks.enabled", "tools.adversarial_policy.enabled",
	"tools.trust.enabled", "tools.information_flow.enabled", "tools.anomaly.enabled", "tools.utility.enabled",
}

// neutral begins the names of switches that change neither decisions nor files.
var neutral = []string{
	"tools.filters.", "tools.result_cache.", "tools.rewind.", "tools.undo.", "tools.tafc.", "tools.overflow.", "audit.", "log.",
	"agent.hallucination_detection", entry, capability + "ReadTextFile", capability + "WriteTextFile", capability + "Notices",
	capability + "Compaction", capability + "BooleanOptions", capability + "MetaTerminalAuth", capability + "AuthTerminal",
	capability + "CancelRequest", capability + "TerminalOutput",
}

// base returns the choices with which s is compared: without gates, and with the defaults of
// the neutral switches.
func (s choices) base(factors []factor) choices {
	b := maps.Clone(s)
	for _, f := range factors {
		if slices.ContainsFunc(neutral, func(prefix string) bool { return strings.HasPrefix(f.name, prefix) }) {
			b[f.name] = f.values[0]
		}
	}
	for _, gate := range gateSwitches {
		b[gate] = "false"
	}
	return b
}

// share is the part of the fixtures that a row plays: one of so many, others each day.
const share = 40

// isPlayed reports whether a row plays a fixture. The first fixture has the credentials.
func isPlayed(row, fixture int, day int) bool {
	switch {
	case *onlyRow >= 0:
		return row == *onlyRow
	case *long:
		return true
	}
	return fixture == 0 && (row+day)%4 == 0 || (row*7+fixture+day)%share == 0
}

// TestSwitches plays the prompts of all fixtures under the rows of a covering array: each pair of
// values of two switches occurs in one of them. It checks what must hold whatever the switches
// are. protocol-fixtures/README.md describes it.
func TestSwitches(t *testing.T) {
	all := switchFixtures(t)
	schema.Load(t) // runs the go command, which needs the environment
	factors := fullFactors(t)
	t.Cleanup(Isolate())
	if len(factors) < 60 {
		t.Errorf("%d factors, want at least 60", len(factors))
	}
	var sizes []int
	for _, f := range factors {
		sizes = append(sizes, len(f.values))
	}
	var settings []choices
	for _, row := range covering(sizes, 1) {
		s := choices{}
		for i, f := range factors {
			s[f.name] = f.values[row[i]]
		}
		settings = append(settings, s)
	}
	for _, one := range alone {
		s := maps.Clone(settings[0]) // the defaults
		maps.Copy(s, one)
		settings = append(settings, s)
	}
	if *today < 0 {
		*today = int(time.Now().Unix() / (24 * 60 * 60))
	}
	for n, s := range settings {
		if testing.Short() && (n+*today)%6 != 0 { // the race detector makes all of it several times as slow
			continue
		}
		t.Run(fmt.Sprintf("row %d of %d", n, len(settings)), func(t *testing.T) {
			valid(t, s, factors)
			count := &counts{}
			t.Cleanup(func() {
				t.Logf("%d calls; in %d fixtures something was denied, in %d the files were compared", count.calls.Load(),
					count.denied.Load(), count.compared.Load())
			})
			for i, f := range all {
				if !isPlayed(n, i, *today) {
					continue
				}
				t.Run(f.Name, func(t *testing.T) {
					t.Parallel()
					base := s.base(factors)
					if strings.HasPrefix(f.Name, "rewind") { // its files depend on what can be rewound
						base["tools.rewind.enabled"] = s["tools.rewind.enabled"]
					}
					compare(t, f, s, base, count)
				})
			}
		})
	}
}

// valid replaces values that are wrong together by their defaults.
func valid(t *testing.T, s choices, factors []factor) {
	for range 10 {
		_, err := load(t, s.flags())
		if err == nil {
			return
		}
		var mistakes toml.Mistakes
		if !errors.As(err, &mistakes) {
			t.Fatal(err)
		}
		for _, m := range mistakes {
			i := slices.IndexFunc(factors, func(f factor) bool { return f.name == m.Key })
			if i < 0 {
				t.Fatal(err)
			}
			t.Logf("not in this row: %v", m)
			s[m.Key] = factors[i].values[0]
		}
	}
	t.Fatalf("no configuration: %v", s.flags())
}

// switchFixtures returns the fixtures that have prompts, and one with credentials.
func switchFixtures(t *testing.T) []*fixtures.Fixture {
	files, err := filepath.Glob("../../../protocol-fixtures/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	all := []*fixtures.Fixture{credentialFixture(t)}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := fixtures.Parse(file, data)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(f.Sessions(), func(o fixtures.Opened) bool { return len(o.Prompts) > 0 }) {
			all = append(all, f)
		}
	}
	return all
}

// counts say how much a row has tested.
type counts struct{ calls, denied, compared atomic.Int64 }

// compare plays a fixture with two settings and compares decisions and files.
func compare(t *testing.T, f *fixtures.Fixture, s, base choices, count *counts) {
	got := newGame(t, f, s).play()
	want := newGame(t, f, base).play()
	if f.Cancels() { // what ran until then differs from run to run
		return
	}
	loosest := map[string][]executors.Decision{}
	denied := false
	for _, c := range want.calls {
		loosest[c.key] = append(loosest[c.key], c.decision)
		denied = denied || c.refused
	}
	same := len(got.calls) == len(want.calls)
	for _, c := range got.calls {
		same = same && len(loosest[c.key]) > 0
	}
	// A gate that asks the session's model takes a part of its script, so that it makes other calls.
	// Then the quota denies other ones too.
	comparable := same || s["tools.max_tool_calls_per_session"] == "0"
	for _, c := range got.calls {
		denied = denied || c.refused
		before := loosest[c.key]
		if len(before) == 0 {
			same = false
			continue
		}
		loosest[c.key] = before[1:]
		if comparable && strictness[c.decision] < strictness[before[0]] {
			t.Errorf("%s: decision %q, but %q without the gates", c.key, c.decision, before[0])
		}
	}
	switch {
	case denied:
		count.denied.Add(1)
	case same:
		count.compared.Add(1)
	}
	count.calls.Add(int64(len(got.calls)))
	if same && !denied && !reflect.DeepEqual(got.files, want.files) {
		t.Errorf("nothing was denied, and the files differ (-base +row)\n%s", cmp.Diff(want.files, got.files))
	}
}

// raw returns JSON of a value that always encodes.
func raw(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
