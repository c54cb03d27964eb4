package diagnostics

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

func TestConfig(t *testing.T) {
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) > 0 {
		t.Errorf("defaults: %v", wrong)
	}
	wrong := setting.Check(Config{Timeout: -1, MaxDiagnostics: 501, OutputLimit: executors.OutputLimit{MaxOutputChars: 199}})
	if wrong["timeout"] == "" || wrong["max_diagnostics"] == "" || wrong["max_output_chars"] == "" {
		t.Errorf("got %v", wrong)
	}
}

func TestTighten(t *testing.T) {
	for name, tt := range map[string]struct {
		mine, repo, want Config
		set, ignored     []string
	}{
		"lower": {Config{Timeout: 120, MaxDiagnostics: 50}, Config{Timeout: 60, MaxDiagnostics: 20}, Config{Timeout: 60, MaxDiagnostics: 20},
			[]string{"timeout", "max_diagnostics"}, nil},
		"higher": {Config{Timeout: 120, MaxDiagnostics: 50}, Config{Timeout: 600, MaxDiagnostics: 60}, Config{Timeout: 120, MaxDiagnostics: 50},
			[]string{"timeout", "max_diagnostics"}, []string{"max_diagnostics", "timeout"}},
		"no limit": {Config{Timeout: 120, MaxDiagnostics: 50}, Config{Timeout: 0, MaxDiagnostics: 0}, Config{Timeout: 120, MaxDiagnostics: 50},
			[]string{"timeout", "max_diagnostics"}, []string{"max_diagnostics", "timeout"}},
		"instead of no": {Config{Timeout: 0, MaxDiagnostics: 50}, Config{Timeout: 60, MaxDiagnostics: 50}, Config{Timeout: 60, MaxDiagnostics: 50},
			[]string{"timeout"}, nil},
		"wrong": {Config{Timeout: 0, MaxDiagnostics: 50}, Config{Timeout: -5, MaxDiagnostics: -5}, Config{Timeout: 0, MaxDiagnostics: 50},
			[]string{"timeout", "max_diagnostics"}, []string{"max_diagnostics", "timeout"}},
		"not set": {Config{Timeout: 120, MaxDiagnostics: 50}, Config{Timeout: 1, MaxDiagnostics: 1}, Config{Timeout: 120, MaxDiagnostics: 50}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ignored := setting.Tighten(tt.mine, tt.repo, tt.set...)
			if diff := cmp.Diff(tt.want, got); diff != "" || !slices.Equal(ignored, tt.ignored) {
				t.Errorf("ignored %v, (-want +got)\n%s", ignored, diff)
			}
		})
	}
}
