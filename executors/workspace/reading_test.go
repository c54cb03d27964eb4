package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReading(t *testing.T) {
	dir := tree(t, "w/a.go", "w/.env", "w/sub/.env", "w/sub/k.pem", "w/sub/k.pem.txt", "w/conf/x.key", "w/conf/deep/x.key", "w/secrets/a", "w/secrets/b/c",
		"w/link -> sub/.env", "w/dirlink -> secrets", "w/[x]/a", "w/{y}/a", "w/.git/config", "w/sub/.git/config",
		"out/ssl/cert", "out/ssl/key.pem", "out/ssl/esc -> ../private", "out/private", "out/hostname", "alias -> out")
	home := filepath.Join(dir, "home")
	t.Setenv("HOME", home)
	must(t, os.MkdirAll(filepath.Join(home, ".ssh"), 0o755))
	must(t, os.WriteFile(filepath.Join(home, ".ssh/id"), nil, 0o600))
	for name, tt := range map[string]struct {
		deny, allow []string
		open        string // what can be opened, of what is tried
		listed      string // of w
	}{
		"none":               {nil, nil, "w/a.go w/.env w/sub/.env w/sub/k.pem w/conf/x.key w/conf/deep/x.key w/secrets/a w/secrets/b/c w/link w/dirlink/a", ""},
		"name anywhere":      {[]string{"**/.env", "**/secrets/**"}, nil, "w/a.go w/sub/k.pem w/conf/x.key w/conf/deep/x.key", ".git [x] a.go conf dirlink link sub {y}"},
		"name":               {[]string{"*.pem", ".env", "secrets/"}, nil, "w/a.go w/conf/x.key w/conf/deep/x.key", ""},
		"relative":           {[]string{"conf/*.key", "./sub/", "secrets/b"}, nil, "w/a.go w/.env w/conf/deep/x.key w/secrets/a w/dirlink/a", ""},
		"absolute":           {[]string{dir + "/w/s*"}, nil, "w/a.go w/.env w/conf/x.key w/conf/deep/x.key", ""},
		"through a link":     {[]string{dir + "/w/dirlink/**"}, nil, "w/a.go w/.env w/sub/.env w/sub/k.pem w/conf/x.key w/conf/deep/x.key w/link", ""},
		"of the root":        {[]string{"w", "wx"}, nil, "w/a.go w/.env w/sub/.env w/sub/k.pem w/conf/x.key w/conf/deep/x.key w/secrets/a w/secrets/b/c w/link w/dirlink/a", ""},
		"the root":           {[]string{"**/w"}, nil, "", ""},
		"everything":         {[]string{"**"}, nil, "", ""},
		"all absolute":       {[]string{"/"}, nil, "", ""},
		"allow dir":          {nil, []string{"sub/**"}, "w/sub/.env w/sub/k.pem w/link", "sub"},
		"allow dir anywhere": {nil, []string{"deep", "./a.go"}, "w/a.go w/conf/deep/x.key", ".git [x] a.go conf secrets sub {y}"},
		"allow and deny":     {[]string{"*.pem"}, []string{"sub/**"}, "w/sub/.env w/link", "sub"},
		"allow names":        {nil, []string{"*.go", "**/x.key"}, "w/a.go w/conf/x.key w/conf/deep/x.key", ".git [x] a.go conf secrets sub {y}"},
		"allow outside":      {[]string{"*.pem"}, []string{dir + "/alias/ssl", dir + "/out/hostname", "~/.ssh/*"}, "out/ssl/cert out/hostname home/.ssh/id alias/hostname alias/ssl/cert", ""},
		"allow globs":        {nil, []string{dir + "/{w,out}/**/c*", "**/private"}, "w/conf/x.key w/conf/deep/x.key w/secrets/b/c out/ssl/cert alias/ssl/cert", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := New(filepath.Join(dir, "w"))
			must(t, err)
			if r, err = r.Reading(ReadRules{Deny: tt.deny, Allow: tt.allow}); err != nil {
				t.Fatal(err)
			}
			var open []string
			for _, name := range []string{"w/a.go", "w/.env", "w/sub/.env", "w/sub/k.pem", "w/conf/x.key", "w/conf/deep/x.key", "w/secrets/a", "w/secrets/b/c", "w/link", "w/dirlink/a",
				"out/ssl/cert", "out/ssl/key.pem", "out/ssl/esc", "out/hostname", "out/private", "home/.ssh/id", "alias/hostname", "alias/ssl/cert"} {
				abs, err := r.Resolve(filepath.Join(dir, name))
				if err == nil {
					var f *os.File
					if f, _, err = r.Open(abs); err == nil {
						f.Close()
						open = append(open, name)
						if _, refused := r.Readable().Refuses(abs); refused {
							t.Errorf("%s was opened, but Refuses says no", name)
						}
					}
				}
				_, denied := errors.AsType[*DeniedError](err)
				_, outside := errors.AsType[*OutsideError](err)
				if err != nil && !denied && !outside {
					t.Errorf("%s: %v", name, err)
				}
			}
			if got := strings.Join(open, " "); got != tt.open {
				t.Errorf("opened\n%s, want\n%s", got, tt.open)
			}
			if tt.listed == "" {
				return
			}
			d, err := r.Dir(filepath.Join(dir, "w"))
			must(t, err)
			defer d.Close()
			entries, _, err := d.ReadDir(-1)
			must(t, err)
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != tt.listed || d.Denied() != 10-len(names) {
				t.Errorf("listed %s and left out %d, want %s", got, d.Denied(), tt.listed)
			}
		})
	}
}
