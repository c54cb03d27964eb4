package sandbox

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

func TestValidate(t *testing.T) {
	for path, ok := range map[string]bool{
		"/opt/cache": true, "~/.cargo": true, "/dev/dri": true,
		"": false, "cache": false, "/": false, "//": false, "~": false, "~/": false, "~/.": false, "~u/x": false,
		"/a/../..": false, "~/../u": false, "/a\x00": false,
	} {
		if wrong := (Config{ExtraWrite: []string{path}}).Validate(); (len(wrong) == 0) != ok {
			t.Errorf("%q: %v", path, wrong)
		}
	}
	if wrong := Defaults().Validate(); len(wrong) > 0 {
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
		"off":          {Config{Enabled: true, Required: true}, Config{Caches: true}, Config{Enabled: true, Required: true}, all, []string{"enabled", "required", "caches"}},
		"write more":   {Config{ExtraWrite: []string{"/a"}}, Config{ExtraWrite: []string{"/a", "/b"}}, Config{ExtraWrite: []string{"/a"}}, all, []string{"extra_write"}},
		"write less":   {Config{ExtraWrite: []string{"/a", "/b"}}, Config{ExtraWrite: []string{"/b"}}, Config{ExtraWrite: []string{"/b"}}, all, nil},
	} {
		keys := tighten.New(func(key string) bool { return slices.Contains(tt.has, key) })
		got, ignored := tt.mine.Tighten(tt.repo, keys), keys.Ignored()
		if got.ExtraWrite == nil {
			got.ExtraWrite = tt.want.ExtraWrite
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || !slices.Equal(ignored, tt.ignored) {
			t.Errorf("%s: ignored %v (-want +got)\n%s", name, ignored, diff)
		}
	}
}
