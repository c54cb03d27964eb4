package diagnostics

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

func TestConfig(t *testing.T) {
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) > 0 {
		t.Errorf("defaults: %v", wrong)
	}
	wrong := setting.Check(Config{Timeout: -1, MaxDiagnostics: 501})
	if wrong["timeout"] == "" || wrong["max_diagnostics"] == "" {
		t.Errorf("got %v", wrong)
	}
}

func TestTighten(t *testing.T) {
	for name, tt := range map[string]struct {
		mine, repo, want Config
		set, ignored     []string
	}{
		"lower":         {Config{120, 50}, Config{60, 20}, Config{60, 20}, []string{"timeout", "max_diagnostics"}, nil},
		"higher":        {Config{120, 50}, Config{600, 60}, Config{120, 50}, []string{"timeout", "max_diagnostics"}, []string{"max_diagnostics", "timeout"}},
		"no limit":      {Config{120, 50}, Config{0, 0}, Config{120, 50}, []string{"timeout", "max_diagnostics"}, []string{"max_diagnostics", "timeout"}},
		"instead of no": {Config{0, 50}, Config{60, 50}, Config{60, 50}, []string{"timeout"}, nil},
		"wrong":         {Config{0, 50}, Config{-5, -5}, Config{0, 50}, []string{"timeout", "max_diagnostics"}, []string{"max_diagnostics", "timeout"}},
		"not set":       {Config{120, 50}, Config{1, 1}, Config{120, 50}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ignored := setting.Tighten(tt.mine, tt.repo, tt.set...)
			if diff := cmp.Diff(tt.want, got); diff != "" || !slices.Equal(ignored, tt.ignored) {
				t.Errorf("ignored %v, (-want +got)\n%s", ignored, diff)
			}
		})
	}
}
