package shell

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

func TestValidate(t *testing.T) {
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) > 0 {
		t.Errorf("the defaults are wrong: %v", wrong)
	}
	bad := Config{Timeout: -1, MaxOutputBytes: 1, OutputLimit: executors.OutputLimit{MaxOutputChars: 0}, EnvBlocklist: []string{""}, MaxBackground: -1}
	got := setting.Check(bad)
	for _, key := range []string{"timeout", "max_timeout", "max_output_bytes", "max_output_chars", "env_blocklist", "max_background"} {
		if got[key] == "" && got[key+"[0]"] == "" {
			t.Errorf("%s is not refused", key)
		}
	}
}

func TestTighten(t *testing.T) {
	mine := Config{Timeout: 30, MaxTimeout: 600, MaxOutputBytes: 1 << 20, OutputLimit: executors.OutputLimit{MaxOutputChars: 50_000},
		EnvBlocklist: []string{"A_"}, MaxBackground: 8}
	unlimited := mine
	unlimited.Timeout = 0
	for name, tt := range map[string]struct {
		mine, repo Config
		keys       []string
		want       Config
		ignored    []string
	}{
		"nothing": {mine, Config{}, nil, mine, nil},
		"lower": {
			mine, Config{Timeout: 5, MaxTimeout: 60, MaxOutputBytes: 4096, OutputLimit: executors.OutputLimit{MaxOutputChars: 1000}, EnvBlocklist: []string{"B_"}},
			[]string{"timeout", "max_timeout", "max_output_bytes", "max_output_chars", "env_blocklist", "max_background"},
			Config{Timeout: 5, MaxTimeout: 60, MaxOutputBytes: 4096, OutputLimit: executors.OutputLimit{MaxOutputChars: 1000}, EnvBlocklist: []string{"A_", "B_"}}, nil,
		},
		"higher": {
			mine, Config{Timeout: 60, MaxTimeout: 601, MaxOutputBytes: 2 << 20, OutputLimit: executors.OutputLimit{MaxOutputChars: 60_000}},
			[]string{"timeout", "max_timeout", "max_output_bytes", "max_output_chars"},
			mine, []string{"max_output_bytes", "max_output_chars", "max_timeout", "timeout"},
		},
		"no limit":     {mine, Config{}, []string{"timeout"}, mine, []string{"timeout"}},
		"out of range": {mine, Config{Timeout: -1, MaxOutputBytes: 1}, []string{"timeout", "max_output_bytes"}, mine, []string{"max_output_bytes", "timeout"}},
		"where there is no": {unlimited, Config{Timeout: 60}, []string{"timeout"},
			Config{Timeout: 60, MaxTimeout: 600, MaxOutputBytes: 1 << 20, OutputLimit: executors.OutputLimit{MaxOutputChars: 50_000},
				EnvBlocklist: []string{"A_"}, MaxBackground: 8}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ignored := setting.Tighten(tt.mine, tt.repo, tt.keys...)
			if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.ignored, ignored); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
