package toolset

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// The effects of the rules are counted over the prompts of a conversation, for
// /status and the debug log.
func TestTally(t *testing.T) {
	var log strings.Builder
	cfg := Config{setting.Default[TAFC](), setting.Default[Filter](), setting.Default[Dependencies]()}
	filtering(&cfg)
	cfg.Dependencies.Enabled, cfg.Dependencies.Rules = true, rules("deploy: build")
	s := New(cfg, &Vectors{}, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{
		Level:       slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return drop(a, slog.TimeKey, slog.LevelKey) },
	})))
	all := tools("bash read deploy build alpha beta")
	all[4].Description = "paints walls and doors"
	all[5].Description = "mows the lawn and hedges"
	gated := s.Middleware(&chain{})
	s.Begin(t.Context(), model{byWords{}}, "build it, then mow the lawn", nil, all)
	if res, _ := gated.Execute(t.Context(), &executors.Call{Tool: "deploy", Origin: executors.Model}); !res.Failed {
		t.Error("a hidden tool ran")
	}
	s.Begin(t.Context(), model{byWords{}}, "paint the walls and read beta", nil, all)
	counts := func() (lines []string) {
		for _, line := range s.Status() {
			if strings.Contains(line, " rules") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	want := []string{
		"Filter rules in 2 prompts: AlwaysOn 4, NameMentioned 2, SimilarityRank 2, left out 2",
		"Dependency rules: deploy hidden in 2 prompts, 1 call refused",
	}
	if diff := cmp.Diff(want, counts()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	const logged = `msg=DependencyExclusion tool=deploy requires=[build]
msg=tool_filter prompts=1 AlwaysOn=2 NameMentioned=1 SimilarityRank=1 left_out=1 hidden=1
msg="DependencyExclusion refused a call" tool=deploy requires=[build] refused=1
msg=DependencyExclusion tool=deploy requires=[build]
msg=tool_filter prompts=2 AlwaysOn=4 NameMentioned=2 SimilarityRank=2 left_out=2 hidden=2
`
	if diff := cmp.Diff(logged, log.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.Reset()
	if got := counts(); len(got) > 0 {
		t.Errorf("after a reset: %q", got)
	}
}

func drop(a slog.Attr, keys ...string) slog.Attr {
	for _, key := range keys {
		if a.Key == key {
			return slog.Attr{}
		}
	}
	return a
}
