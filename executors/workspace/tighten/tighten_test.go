package tighten

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A key of a repository is adopted if it is at least as strict as the user's. Otherwise
// it is ignored, and named.
func TestKeys(t *testing.T) {
	type values struct {
		Switch bool
		Limit  int
		List   []string
	}
	enable := func(k *Keys, ours *values, theirs values) { k.Enable("key", &ours.Switch, theirs.Switch) }
	disable := func(k *Keys, ours *values, theirs values) { k.Disable("key", &ours.Switch, theirs.Switch) }
	lower := func(k *Keys, ours *values, theirs values) { Lower(k, "key", &ours.Limit, theirs.Limit) }
	optional := func(k *Keys, ours *values, theirs values) { LowerOptional(k, "key", &ours.Limit, theirs.Limit) }
	list := func(k *Keys, ours *values, theirs values) { k.Append("key", &ours.List, theirs.List) }
	for name, tt := range map[string]struct {
		adopt              func(k *Keys, ours *values, theirs values)
		ours, theirs, want values
		ignored            bool
	}{
		"enable what is off":           {adopt: enable, theirs: values{Switch: true}, want: values{Switch: true}},
		"enable what is on":            {adopt: enable, ours: values{Switch: true}, theirs: values{Switch: true}, want: values{Switch: true}},
		"no switch off of a check":     {adopt: enable, ours: values{Switch: true}, want: values{Switch: true}, ignored: true},
		"a check that both leave off":  {adopt: enable},
		"disable what is on":           {adopt: disable, ours: values{Switch: true}},
		"disable what is off":          {adopt: disable},
		"no switch on of a permission": {adopt: disable, theirs: values{Switch: true}, ignored: true},
		"a permission that both give":  {adopt: disable, ours: values{Switch: true}, theirs: values{Switch: true}, want: values{Switch: true}},
		"lower limit":                  {adopt: lower, ours: values{Limit: 5}, theirs: values{Limit: 3}, want: values{Limit: 3}},
		"equal limit":                  {adopt: lower, ours: values{Limit: 5}, theirs: values{Limit: 5}, want: values{Limit: 5}},
		"higher limit":                 {adopt: lower, ours: values{Limit: 5}, theirs: values{Limit: 7}, want: values{Limit: 5}, ignored: true},
		"limit of what has none":       {adopt: optional, theirs: values{Limit: 7}, want: values{Limit: 7}},
		"lower optional limit":         {adopt: optional, ours: values{Limit: 5}, theirs: values{Limit: 3}, want: values{Limit: 3}},
		"higher optional limit":        {adopt: optional, ours: values{Limit: 5}, theirs: values{Limit: 7}, want: values{Limit: 5}, ignored: true},
		"no limit where there is one":  {adopt: optional, ours: values{Limit: 5}, want: values{Limit: 5}, ignored: true},
		"no limit on either side":      {adopt: optional},
		"longer list":                  {adopt: list, ours: values{List: []string{"a"}}, theirs: values{List: []string{"b"}}, want: values{List: []string{"a", "b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			k, got := New(func(string) bool { return true }), tt.ours
			tt.adopt(k, &got, tt.theirs)
			if diff := cmp.Diff(tt.want, got); diff != "" || (len(k.Ignored()) == 1) != tt.ignored {
				t.Errorf("ours %+v, theirs %+v: ignored %q, want that: %v; -want +got\n%s", tt.ours, tt.theirs, k.Ignored(), tt.ignored, diff)
			}
			absent, kept := New(func(string) bool { return false }), tt.ours
			tt.adopt(absent, &kept, tt.theirs)
			if diff := cmp.Diff(tt.ours, kept); diff != "" || len(absent.Ignored()) > 0 {
				t.Errorf("a file without the key: ignored %q; -want +got\n%s", absent.Ignored(), diff)
			}
		})
	}
}

// A longer list does not write into the user's.
func TestAppendCopies(t *testing.T) {
	ours := append(make([]string, 0, 4), "a")
	first, second := ours, ours
	k := New(func(string) bool { return true })
	k.Append("key", &first, []string{"b"})
	k.Append("key", &second, []string{"c"})
	if first[1] != "b" || second[1] != "c" {
		t.Errorf("the lists are %q and %q, want [a b] and [a c]", first, second)
	}
}
