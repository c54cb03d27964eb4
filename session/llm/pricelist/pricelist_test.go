package pricelist

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

func TestOf(t *testing.T) {
	saved := list
	defer func() { list = saved }()
	list = `# 2026-01-02 a list
api.example.com big 0 1 2 - -
api.example.com big 1000 2 4 0.5 3
api.example.com big 5000 3 6 0.5 3
api.example.com big-2 0 7 8 0.7 9
api.example.org big 0 10 20 - -
`
	big := llm.Price{Input: 1, Output: 2, Long: &llm.LongPrice{From: 1000, Price: llm.Price{
		Input: 2, Output: 4, CacheRead: 0.5, CacheWrite: 3, Long: &llm.LongPrice{From: 5000, Price: llm.Price{Input: 3, Output: 6, CacheRead: 0.5, CacheWrite: 3}},
	}}}
	for key, want := range map[string]llm.Price{
		"api.example.com big":            big,
		"api.example.com big-20260102":   big,
		"api.example.com big-2026-01-02": big,
		"api.example.com big-2":          {Input: 7, Output: 8, CacheRead: 0.7, CacheWrite: 9},
		"api.example.org big":            {Input: 10, Output: 20},
		"api.example.com bi":             {},
		"api.example.com big-3":          {},
		"pi.example.com big":             {},
		"api.example.com ":               {},
		" big":                           {},
	} {
		t.Run(key, func(t *testing.T) {
			host, model, _ := strings.Cut(key, " ")
			if diff := cmp.Diff(want, Of(host, model)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestList checks each line of the list that is shipped.
func TestList(t *testing.T) {
	if _, err := time.Parse(time.DateOnly, Date()); err != nil {
		t.Error(err)
	}
	last := ""
	for line := range strings.Lines(strings.TrimSpace(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 7 {
			t.Fatalf("%q has %d fields", line, len(fields))
		}
		key := fields[0] + " " + fields[1]
		price := Of(fields[0], fields[1])
		if wrong := setting.Check(price); len(wrong) > 0 || price.Input == 0 {
			t.Errorf("%s: %+v %v", key, price, wrong)
		}
		if fields[2] == "0" && key <= last {
			t.Errorf("%s stands after %s", key, last)
		}
		for long := price.Long; long != nil; long = long.Long {
			if long.From <= 0 || long.Long != nil && long.Long.From <= long.From || long.Input == 0 {
				t.Errorf("%s: %+v", key, long)
			}
		}
		last = key
	}
}
