package config

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pelletier/go-toml/v2"
	"golang.org/x/tools/txtar"

	"github.com/zeph-acp/zeph-acp/executors/gates/rules"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/tools/web"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// FuzzLoad checks that no input makes the reader panic, that the library also
// accepts each accepted document with the same values, and that every mistake
// is on a line of the file.
func FuzzLoad(f *testing.F) {
	archives, _ := filepath.Glob("testdata/mistakes/*.txtar")
	for _, file := range archives {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Add([]byte("\ufeff[log]\r\nlevel='info'\r\n"))
	f.Add([]byte("[a]\nb.c=1\n[a.b]\nd=1\n[[a.e]]\n[a.e.f]\n[[a.e.f]]\nx={y.z=1,y={}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l := &Loaded{Config: setting.Default[Config](), File: "f", origins: map[string]string{}}
		mistakes := l.applyFile(data)
		for _, m := range mistakes {
			if m.Line < 1 || m.Line > 1+strings.Count(string(data), "\n") || strings.Contains(m.Error(), "\n") {
				t.Errorf("mistake %#v, want one line, with its number in the file", m)
			}
		}
		if len(mistakes) > 0 {
			return
		}
		if wrong := setting.Check(l.Config); len(wrong) > 0 {
			t.Errorf("accepted, but validate reports %v", wrong)
		}
		want := setting.Default[Config]()
		dec := toml.NewDecoder(strings.NewReader(strings.TrimPrefix(string(data), "\ufeff"))).DisallowUnknownFields()
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("the library says: %v", err)
		}
		if diff := cmp.Diff(want, l.Config, equalConfigs...); diff != "" {
			t.Errorf("(-library +ours)\n%s", diff)
		}
	})
}

// equalConfigs compares configurations by their values.
var equalConfigs = []cmp.Option{nilIsEmpty, cmp.AllowUnexported(permission.Config{}, web.Config{}, rules.Config{}, rules.Authorization{}),
	cmpopts.IgnoreUnexported(permission.Rule{}, rules.Rule{}), cmpopts.EquateNaNs()}

// nilIsEmpty makes empty maps and slices equal to nil ones.
var nilIsEmpty = cmp.FilterPath(func(p cmp.Path) bool {
	k := p.Last().Type().Kind()
	return k == reflect.Map || k == reflect.Slice
}, cmp.FilterValues(func(a, b any) bool {
	return reflect.ValueOf(a).Len() == 0 && reflect.ValueOf(b).Len() == 0
}, cmp.Ignore()))
