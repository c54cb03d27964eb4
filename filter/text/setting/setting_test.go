package setting

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type word string

func (w *word) UnmarshalText(text []byte) error { *w = word("<" + string(text) + ">"); return nil }

type Pair struct {
	Low  int `toml:"low" range:"0..9"`
	High int `toml:"high" range:"0..9"`
}

func (p Pair) Validate() map[string]string {
	if p.Low > p.High {
		return map[string]string{"low": "is above high"}
	}
	return nil
}

type entry struct {
	Name    string `toml:"name" format:"filled"`
	Kind    string `toml:"kind" oneof:"a,b"`
	Enabled bool   `toml:"enabled" default:"true"`
}

type table struct {
	Pair    `default:"low=1 high=2"`
	Text    string   `toml:"text" default:"x"`
	Word    word     `toml:"word" default:"y"`
	Switch  bool     `toml:"switch" default:"true"`
	Size    int64    `toml:"size" default:"2MiB" range:"0|1KiB.."`
	Share   float64  `toml:"share" default:"0.25" range:"0|0.1..0.5"`
	Names   []string `toml:"names" default:"a,b" format:"filled"`
	Codes   []int    `toml:"codes" default:"1,2" range:"1..255"`
	Mode    string   `toml:"mode" default:"strict" oneof:"strict,loose"`
	Dir     string   `toml:"dir" format:"absolute"`
	Inner   Pair     `toml:"inner" default:"high=3"`
	Entries []entry  `toml:"entries"`
	ByName  map[string]entry
	Private int
}

func TestDefault(t *testing.T) {
	want := table{
		Pair: Pair{1, 2}, Text: "x", Word: "<y>", Switch: true, Size: 2 << 20, Share: 0.25, Names: []string{"a", "b"}, Codes: []int{1, 2},
		Mode: "strict", Inner: Pair{High: 3},
	}
	if diff := cmp.Diff(want, Default[table]()); diff != "" {
		t.Errorf("the defaults (-want +got)\n%s", diff)
	}
}

func TestCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*table)
		want   map[string]string
	}{
		"defaults":   {func(*table) {}, map[string]string{}},
		"too low":    {func(c *table) { c.Low = -1 }, map[string]string{"low": "-1 is not from 0 to 9"}},
		"a method":   {func(c *table) { c.Low = 3 }, map[string]string{"low": "is above high"}},
		"in a table": {func(c *table) { c.Inner = Pair{5, 4} }, map[string]string{"inner.low": "is above high"}},
		"zero":       {func(c *table) { c.Size, c.Share = 0, 0 }, map[string]string{}},
		"near zero": {func(c *table) { c.Size, c.Share = 1, 0.05 },
			map[string]string{"size": "1 is neither 0 nor at least 1024", "share": "0.05 is neither 0 nor from 0.1 to 0.5"}},
		"no number": {func(c *table) { c.Share = math.NaN() }, map[string]string{"share": "NaN is neither 0 nor from 0.1 to 0.5"}},
		"elements": {func(c *table) { c.Codes, c.Names = []int{1, 256}, []string{" "} },
			map[string]string{"codes[1]": "256 is not from 1 to 255", "names[0]": "is empty"}},
		"a choice":       {func(c *table) { c.Mode = "lose" }, map[string]string{"mode": `"lose" is not one of strict, loose`}},
		"no choice":      {func(c *table) { c.Mode = "" }, map[string]string{"mode": `"" is not one of strict, loose`}},
		"a relative dir": {func(c *table) { c.Dir = "x" }, map[string]string{"dir": `"x" is not an absolute path, nor one that begins with ~/`}},
		"a home dir":     {func(c *table) { c.Dir = "~/x" }, map[string]string{}},
		"of entries": {func(c *table) { c.Entries = []entry{{Name: "x"}, {Kind: "c"}} },
			map[string]string{"entries[1].name": "is empty", "entries[1].kind": `"c" is not one of a, b`}},
	} {
		c := Default[table]()
		tt.change(&c)
		if diff := cmp.Diff(tt.want, Check(c)); diff != "" {
			t.Errorf("%s: messages by key (-want +got)\n%s", name, diff)
		}
	}
}

// A key of a repository is adopted if it is at least as strict as the user's. Otherwise
// it is ignored, and named.
func TestTighten(t *testing.T) {
	type values struct {
		On     bool     `toml:"on" tighten:"on"`
		Off    bool     `toml:"off" tighten:"off"`
		Lower  int      `toml:"lower" tighten:"lower" range:"0..9"`
		Raise  int      `toml:"raise" tighten:"raise"`
		Limit  int      `toml:"limit" tighten:"limit" range:"0.."`
		Mode   string   `toml:"mode" tighten:"earlier" oneof:"ask,code,auto"`
		Clear  string   `toml:"clear" tighten:"clear"`
		Add    []string `toml:"add" tighten:"add"`
		Remove []string `toml:"remove" tighten:"remove"`
		Mine   int      `toml:"mine"`
	}
	for name, tt := range map[string]struct {
		key                string
		ours, theirs, want values
		ignored            bool
	}{
		"a check that is off":          {key: "on", theirs: values{On: true}, want: values{On: true}},
		"a check that is on":           {key: "on", ours: values{On: true}, theirs: values{On: true}, want: values{On: true}},
		"no switch off of a check":     {key: "on", ours: values{On: true}, want: values{On: true}, ignored: true},
		"a check that both leave off":  {key: "on"},
		"a permission that is on":      {key: "off", ours: values{Off: true}},
		"a permission that is off":     {key: "off"},
		"no switch on of a permission": {key: "off", theirs: values{Off: true}, ignored: true},
		"a permission that both give":  {key: "off", ours: values{Off: true}, theirs: values{Off: true}, want: values{Off: true}},
		"lower":                        {key: "lower", ours: values{Lower: 5}, theirs: values{Lower: 3}, want: values{Lower: 3}},
		"equal":                        {key: "lower", ours: values{Lower: 5}, theirs: values{Lower: 5}, want: values{Lower: 5}},
		"higher":                       {key: "lower", ours: values{Lower: 5}, theirs: values{Lower: 7}, want: values{Lower: 5}, ignored: true},
		"out of range":                 {key: "lower", ours: values{Lower: 5}, theirs: values{Lower: -1}, want: values{Lower: 5}, ignored: true},
		"raised":                       {key: "raise", ours: values{Raise: 5}, theirs: values{Raise: 7}, want: values{Raise: 7}},
		"not raised":                   {key: "raise", ours: values{Raise: 5}, theirs: values{Raise: 3}, want: values{Raise: 5}, ignored: true},
		"limit of what has none":       {key: "limit", theirs: values{Limit: 7}, want: values{Limit: 7}},
		"lower limit":                  {key: "limit", ours: values{Limit: 5}, theirs: values{Limit: 3}, want: values{Limit: 3}},
		"higher limit":                 {key: "limit", ours: values{Limit: 5}, theirs: values{Limit: 7}, want: values{Limit: 5}, ignored: true},
		"no limit where there is one":  {key: "limit", ours: values{Limit: 5}, want: values{Limit: 5}, ignored: true},
		"no limit on either side":      {key: "limit"},
		"a stricter mode":              {key: "mode", ours: values{Mode: "code"}, theirs: values{Mode: "ask"}, want: values{Mode: "ask"}},
		"a looser mode":                {key: "mode", ours: values{Mode: "code"}, theirs: values{Mode: "auto"}, want: values{Mode: "code"}, ignored: true},
		"cleared":                      {key: "clear", ours: values{Clear: "x"}},
		"another text":                 {key: "clear", ours: values{Clear: "x"}, theirs: values{Clear: "y"}, want: values{Clear: "x"}, ignored: true},
		"more elements": {key: "add", ours: values{Add: []string{"a"}}, theirs: values{Add: []string{"b", "a"}},
			want: values{Add: []string{"a", "b"}}},
		"fewer elements": {key: "remove", ours: values{Remove: []string{"a", "b"}}, theirs: values{Remove: []string{"b"}},
			want: values{Remove: []string{"b"}}},
		"other elements": {key: "remove", ours: values{Remove: []string{"a", "b"}}, theirs: values{Remove: []string{"b", "c"}},
			want: values{Remove: []string{"b"}}, ignored: true},
		"the user's alone":            {key: "mine", ours: values{Mine: 1}, theirs: values{Mine: 0}, want: values{Mine: 1}, ignored: true},
		"the user's alone, but equal": {key: "mine", ours: values{Mine: 1}, theirs: values{Mine: 1}, want: values{Mine: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ignored := Tighten(tt.ours, tt.theirs, tt.key)
			want := []string(nil)
			if tt.ignored {
				want = []string{tt.key}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || !slices.Equal(ignored, want) {
				t.Errorf("ours %+v, theirs %+v: ignored %q, want %q; -want +got\n%s", tt.ours, tt.theirs, ignored, want, diff)
			}
			kept, ignored := Tighten(tt.ours, tt.theirs)
			if diff := cmp.Diff(tt.ours, kept); diff != "" || len(ignored) > 0 {
				t.Errorf("a file without the key: ignored %q, want none; -want +got\n%s", ignored, diff)
			}
		})
	}
}

// A longer list does not write into the user's.
func TestAddCopies(t *testing.T) {
	type list struct {
		Add []string `toml:"add" tighten:"add"`
	}
	ours := list{append(make([]string, 0, 4), "a")}
	first, _ := Tighten(ours, list{[]string{"b"}}, "add")
	second, _ := Tighten(ours, list{[]string{"c"}}, "add")
	if first.Add[1] != "b" || second.Add[1] != "c" {
		t.Errorf("the lists are %q and %q, want [a b] and [a c]", first.Add, second.Add)
	}
}

func TestTightenTables(t *testing.T) {
	type Inner struct {
		Max int `toml:"max" tighten:"lower"`
	}
	type outer struct {
		Inner
		Open   Inner            `toml:"open"`
		Closed Inner            `toml:"closed" tighten:"-"`
		Rules  map[string]Inner `toml:"rules"`
	}
	ours := outer{Inner{5}, Inner{5}, Inner{5}, nil}
	got, ignored := Tighten(ours, outer{Inner{4}, Inner{3}, Inner{2}, map[string]Inner{"a": {1}}}, "max", "open.max", "closed.max", "rules.a.max")
	want := outer{Inner{4}, Inner{3}, Inner{5}, nil}
	if !reflect.DeepEqual(got, want) || !slices.Equal(ignored, []string{"closed.max", "rules.a.max"}) {
		t.Errorf("got %+v, ignored %q, want %+v without closed.max and rules.a.max", got, ignored, want)
	}
}

func TestDescribe(t *testing.T) {
	type keys struct {
		A int    `unit:"bytes" doc:"of a file" range:"0..9" zero:"no limit" toml:"a"`
		B int    `doc:"tries" range:"1..9" toml:"b"`
		C int    `doc:"size" range:"0|3.." toml:"c"`
		D int    `doc:"size" range:"1.." toml:"d"`
		E string `doc:"the model" zero:"the session's" toml:"e"`
		F string `doc:"how" oneof:"a,b,c" toml:"f"`
		G bool   `doc:"true: do it" toml:"g"`
	}
	var got []string
	for _, f := range Fields(reflect.TypeFor[keys]()) {
		got = append(got, f.Describe())
	}
	want := []string{"bytes of a file; at most 9, 0: no limit", "tries; 1 to 9", "size; at least 3", "size", "the model; empty: the session's",
		"how: a, b or c", "true: do it"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sentences (-want +got)\n%s", diff)
	}
}
