package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
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
		open        string // the paths that can be opened
		listed      string // of w
	}{
		"none": {nil, nil, "w/a.go w/.env w/sub/.env w/sub/k.pem w/conf/x.key w/conf/deep/x.key w/secrets/a w/secrets/b/c w/link w/dirlink/a", ""},
		"name anywhere": {[]string{"**/.env", "**/secrets/**"}, nil, "w/a.go w/sub/k.pem w/conf/x.key w/conf/deep/x.key",
			".git [x] a.go conf dirlink link sub {y}"},
		"name":           {[]string{"*.pem", ".env", "secrets/"}, nil, "w/a.go w/conf/x.key w/conf/deep/x.key", ""},
		"relative":       {[]string{"conf/*.key", "./sub/", "secrets/b"}, nil, "w/a.go w/.env w/conf/deep/x.key w/secrets/a w/dirlink/a", ""},
		"absolute":       {[]string{dir + "/w/s*"}, nil, "w/a.go w/.env w/conf/x.key w/conf/deep/x.key", ""},
		"through a link": {[]string{dir + "/w/dirlink/**"}, nil, "w/a.go w/.env w/sub/.env w/sub/k.pem w/conf/x.key w/conf/deep/x.key w/link", ""},
		"of the root": {[]string{"w", "wx"}, nil,
			"w/a.go w/.env w/sub/.env w/sub/k.pem w/conf/x.key w/conf/deep/x.key w/secrets/a w/secrets/b/c w/link w/dirlink/a", ""},
		"the root":           {[]string{"**/w"}, nil, "", ""},
		"everything":         {[]string{"**"}, nil, "", ""},
		"all absolute":       {[]string{"/"}, nil, "", ""},
		"allow dir":          {nil, []string{"sub/**"}, "w/sub/.env w/sub/k.pem w/link", "sub"},
		"allow dir anywhere": {nil, []string{"deep", "./a.go"}, "w/a.go w/conf/deep/x.key", ".git [x] a.go conf secrets sub {y}"},
		"allow and deny":     {[]string{"*.pem"}, []string{"sub/**"}, "w/sub/.env w/link", "sub"},
		"allow names":        {nil, []string{"*.go", "**/x.key"}, "w/a.go w/conf/x.key w/conf/deep/x.key", ".git [x] a.go conf secrets sub {y}"},
		"allow outside": {[]string{"*.pem"}, []string{dir + "/alias/ssl", dir + "/out/hostname", "~/.ssh/*"},
			"out/ssl/cert out/hostname home/.ssh/id alias/hostname alias/ssl/cert", ""},
		"allow a path anywhere": {nil, []string{"**/b/c"}, "w/secrets/b/c", ".git [x] conf secrets sub {y}"},
		"allow the home":        {nil, []string{"~"}, "home/.ssh/id", ""},
		"letter case": {[]string{"A.GO", "SUB/**", strings.ToUpper(dir) + "/w"}, nil,
			"w/a.go w/.env w/sub/.env w/sub/k.pem w/conf/x.key w/conf/deep/x.key w/secrets/a w/secrets/b/c w/link w/dirlink/a", ""},
		"allow globs": {nil, []string{dir + "/{w,out}/**/c*", "**/private"}, "w/conf/x.key w/conf/deep/x.key w/secrets/b/c out/ssl/cert alias/ssl/cert",
			""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := New(filepath.Join(dir, "w"))
			must(t, err)
			if r, err = r.Reading(ReadRules{Deny: tt.deny, Allow: tt.allow}); err != nil {
				t.Fatal(err)
			}
			var open []string
			for _, name := range []string{"w/a.go", "w/.env", "w/sub/.env", "w/sub/k.pem", "w/conf/x.key", "w/conf/deep/x.key", "w/secrets/a", "w/secrets/b/c",
				"w/link", "w/dirlink/a",
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

// A rule that allows a path in the roots does not follow a link: anyone who works there could
// make it lead anywhere. One outside of the roots is the user's own.
func TestAllowedLinks(t *testing.T) {
	dir := tree(t, "w/a", "w/inside -> ../out", "outside -> out", "out/secret")
	for name, tt := range map[string]struct {
		allow string
		open  bool
	}{
		"a link in the roots":      {dir + "/w/inside/**", false},
		"a link outside the roots": {dir + "/outside/**", true},
		"the target":               {dir + "/out/**", true},
	} {
		r, err := New(filepath.Join(dir, "w"))
		must(t, err)
		r, err = r.Reading(ReadRules{Allow: []string{tt.allow}})
		must(t, err)
		for _, path := range []string{"out/secret", "w/inside/secret"} {
			_, err := r.Resolve(filepath.Join(dir, path))
			if (err == nil) != tt.open {
				t.Errorf("%s allowed (%s): resolving %s returns %v, want an error: %v", name, tt.allow, path, err, !tt.open)
			}
		}
	}
}

// A file outside the roots that may be read does not make its directory readable.
func TestAllowedFileAlone(t *testing.T) {
	dir := tree(t, "w/a", "out/doc", "out/other")
	r, err := New(filepath.Join(dir, "w"))
	must(t, err)
	r, err = r.Reading(ReadRules{Allow: []string{dir + "/out/doc"}})
	must(t, err)
	for path, want := range map[string]bool{"out/doc": true, "out/other": false, "out": false, "": false} {
		if _, err := r.Resolve(filepath.Join(dir, path)); (err == nil) != want {
			t.Errorf("resolving %q: %v, want success: %v", path, err, want)
		}
	}
}

// A rule for a directory applies below it. Deny takes precedence. A pattern
// that CheckPattern accepts compiles.
func FuzzReadRules(f *testing.F) {
	dir := tree(f, "w/a/b/c", "out/s", "w/l -> ../out")
	root := filepath.Join(dir, "w")
	for _, seed := range [][3]string{
		{"**/.env", "", "a/.env"}, {"*.pem", "src/**", "src/k.pem"}, {"/", "", "a"}, {root + "/a/*", "", "a/b/c"}, {"[^a]", "{a,b/c}", "b/c"}, {"a/[b/c]", "", "a/b"},
		{`\*`, `a\/b`, "*"}, {"**", "**", ""}, {"~/x", "~", "x"}, {"./a/", "a//b", "a/b"}, {"l/**", dir + "/out", "l/s"}, {"a/**/c", "", "a/c"},
		{"**/**", "", "x"}, {"{a/**,b}", "", "a/b"}, {"/{,x}", "", "a/b"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, deny, allow, path string) {
		rules := ReadRules{}
		for _, p := range []struct {
			pattern string
			list    *[]string
		}{{deny, &rules.Deny}, {allow, &rules.Allow}} {
			if p.pattern != "" && CheckPattern(p.pattern) == nil {
				*p.list = append(*p.list, p.pattern)
			}
		}
		plain, err := New(root)
		must(t, err)
		r, err := plain.Reading(rules)
		if err != nil {
			t.Fatal(rules, err)
		}
		r.Readable().Refuses("/")
		abs := filepath.Join(root, path)
		if _, ok := relative(root, abs); !ok || strings.ContainsRune(path, 0) {
			r.Readable().Refuses(abs)
			return
		}
		denied, refused := r.Readable().Refuses(abs)
		for up := abs; up != root; up = filepath.Dir(up) {
			if _, no := r.Readable().RefusesDir(filepath.Dir(up)); no && !refused {
				t.Fatalf("%q: %q is refused, what is in it is not: %q", rules, filepath.Dir(up), abs)
			}
		}
		if len(rules.Deny) == 1 { // deny wins
			only, err := plain.Reading(ReadRules{Deny: rules.Deny})
			must(t, err)
			if _, no := only.Readable().Refuses(abs); no && (!refused || denied == "") {
				t.Fatalf("%q: allowed %q although it is denied", rules, abs)
			}
			if strings.HasPrefix(deny, "/") {
				naive := false
				for up := abs; ; up = filepath.Dir(up) {
					naive = naive || doublestar.MatchUnvalidated(deny, up)
					if up == filepath.Dir(up) {
						break
					}
				}
				if _, no := only.Readable().Refuses(abs); naive && !no {
					t.Fatalf("%q does not deny %q", deny, abs)
				}
			}
		}
	})
}

func TestReadingFolds(t *testing.T) {
	r, err := New(tree(t, "w/"))
	must(t, err)
	read := &Readable{roots: r, foldCase: true, tops: map[string]readVerdict{}}
	for _, p := range []string{"**/.env", "Keys/*.PEM", "/Etc/Shadow"} {
		must(t, read.add(&read.deny, p))
	}
	read.tops[r.Cwd()] = read.rootVerdict(r.Cwd())
	for _, p := range []string{".ENV", ".env. ", ".env::$DATA", "KEYS/a.pem", "keys/A.PEM."} {
		if _, refused := read.Refuses(filepath.Join(r.Cwd(), p)); !refused {
			t.Errorf("%q is not refused", p)
		}
	}
	if _, refused := read.Refuses("/etc/SHADOW"); !refused {
		t.Error("/etc/SHADOW is not refused")
	}
	for name, want := range map[string]bool{".ENV": false, ".env. ": false, "a.go": true} {
		if got := read.tops[r.Cwd()].lists(name, false); got != want {
			t.Errorf("lists(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestCheckPattern(t *testing.T) {
	for _, bad := range []string{"", "//", "a[", "{a", "a/../b", "~user/x", "a\x00", strings.Repeat("a", 2000), strings.Repeat("{a}", 9)} {
		if CheckPattern(bad) == nil {
			t.Errorf("CheckPattern(%.20q) = nil, want an error", bad)
		}
	}
	for _, good := range []string{"/", "~", "~/x", "**/.env", "*.pem", "a..b", "[~]x", "/home/*/.ssh/*"} {
		if err := CheckPattern(good); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkReadDirRules(b *testing.B) {
	var names, patterns []string
	for i := range 500 {
		names = append(names, fmt.Sprintf("src/file%d.go", i))
	}
	for i := range 5 {
		patterns = append(patterns, fmt.Sprintf("**/.env%d", i), fmt.Sprintf("*.key%d", i), fmt.Sprintf("conf%d/*.json", i), fmt.Sprintf("/home/*/.ssh%d/*", i))
	}
	r, err := New(tree(b, names...))
	must(b, err)
	ruled, err := r.Reading(ReadRules{Deny: patterns})
	must(b, err)
	for name, r := range map[string]*Roots{"none": r, "20": ruled} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d, err := r.Dir(filepath.Join(r.Cwd(), "src"))
				must(b, err)
				if entries, _, err := d.ReadDir(-1); err != nil || len(entries) != 500 {
					b.Fatal(err)
				}
				d.Close()
			}
		})
	}
}
