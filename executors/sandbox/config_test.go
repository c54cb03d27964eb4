package sandbox

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

func TestValidate(t *testing.T) {
	for path, ok := range map[string]bool{
		"/opt/cache": true, "~/.cargo": true, "/dev/dri": true,
		"": false, "cache": false, "/": false, "//": false, "~": false, "~/": false, "~/.": false, "~u/x": false,
		"/a/../..": false, "~/../u": false, "/a\x00": false,
	} {
		if wrong := setting.Check(Config{ExtraWrite: []string{path}}); (len(wrong) == 0) != ok {
			t.Errorf("%q: %v", path, wrong)
		}
	}
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) > 0 {
		t.Error(wrong)
	}
}

func TestTighten(t *testing.T) {
	all := []string{"enabled", "required", "caches", "extra_write"}
	for name, tt := range map[string]struct {
		mine, repo, want Config
		has, ignored     []string
	}{
		"nothing said": {Config{Enabled: true, Caches: true}, Config{}, Config{Enabled: true, Caches: true}, nil, nil},
		"on":           {Config{Caches: true}, Config{Enabled: true, Required: true}, Config{Enabled: true, Required: true}, all, nil},
		"off": {Config{Enabled: true, Required: true}, Config{Caches: true}, Config{Enabled: true, Required: true}, all,
			[]string{"caches", "enabled", "required"}},
		"write more": {Config{ExtraWrite: []string{"/a"}}, Config{ExtraWrite: []string{"/a", "/b"}}, Config{ExtraWrite: []string{"/a"}}, all,
			[]string{"extra_write"}},
		"write less": {Config{ExtraWrite: []string{"/a", "/b"}}, Config{ExtraWrite: []string{"/b"}}, Config{ExtraWrite: []string{"/b"}}, all, nil},
	} {
		got, ignored := setting.Tighten(tt.mine, tt.repo, tt.has...)
		if got.ExtraWrite == nil {
			got.ExtraWrite = tt.want.ExtraWrite
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || !slices.Equal(ignored, tt.ignored) {
			t.Errorf("%s: ignored %v (-want +got)\n%s", name, ignored, diff)
		}
	}
}
