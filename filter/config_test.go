package filter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

func TestConfig(t *testing.T) {
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) > 0 {
		t.Errorf("the defaults are wrong: %v", wrong)
	}
	c := setting.Default[Config]()
	c.Security.ExtraPatterns = []string{"corp-[0-9]{8}", "(", strings.Repeat("x", 513), "x*"}
	wrong := setting.Check(c)
	for i, want := range []string{"", "not a regular expression", "513 characters", "matches the empty text"} {
		key := "security.extra_patterns[" + string(rune('0'+i)) + "]"
		if got := wrong[key]; want == "" != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	c.Security.ExtraPatterns = make([]string, maxExtraPatterns+1)
	if got := setting.Check(c)["security.extra_patterns"]; got == "" {
		t.Error("there may be any number of patterns")
	}
}

func TestTighten(t *testing.T) {
	on, off := setting.Default[Config](), Config{}
	own := setting.Default[Config]()
	own.Security.ExtraPatterns = []string{"a"}
	for name, tt := range map[string]struct {
		user, repo, want Config
		has              []string
		ignored          []string
	}{
		"filters off":  {user: on, repo: off, has: []string{"enabled"}, want: Config{Security: on.Security}},
		"filters on":   {user: Config{Security: on.Security}, repo: on, has: []string{"enabled"}, want: Config{Security: on.Security}, ignored: []string{"enabled"}},
		"security off": {user: on, repo: off, has: []string{"security.enabled"}, want: on, ignored: []string{"security.enabled"}},
		"security on":  {user: off, repo: on, has: []string{"security.enabled"}, want: Config{Security: Security{Enabled: true}}},
		"its rules":    {user: on, repo: Config{FiltersPath: "x"}, has: []string{"filters_path"}, want: on, ignored: []string{"filters_path"}},
		"more patterns": {user: own, repo: Config{Security: Security{ExtraPatterns: []string{"b"}}}, has: []string{"security.extra_patterns"},
			want: Config{Enabled: true, Security: Security{Enabled: true, ExtraPatterns: []string{"a", "b"}}}},
		"too many patterns": {user: own, repo: Config{Security: Security{ExtraPatterns: make([]string, maxExtraPatterns)}}, has: []string{"security.extra_patterns"},
			want: own, ignored: []string{"security.extra_patterns"}},
		"nothing": {user: on, repo: off, want: on},
	} {
		t.Run(name, func(t *testing.T) {
			got, ignored := setting.Tighten(tt.user, tt.repo, tt.has...)
			if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.ignored, ignored); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
