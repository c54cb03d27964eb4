package sandbox

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

var update = flag.Bool("update", false, "rewrite the profiles in testdata")

// The profile of a session with all kinds of grants. Each line was chosen; read the diff.
func TestSeatbeltProfile(t *testing.T) {
	s := seatbelt{
		roots:        []string{`/Users/u/my "app"`, "/Users/u/lib"},
		read:         []string{"/Users/u/.gitconfig", "/Users/u/.rustup"},
		execute:      []string{"/Users/u/.rustup/toolchains"},
		stores:       []string{"/Users/u/go/pkg"},
		secretNames:  []string{".env", "id_rsa", "ssh_host_*_key"},
		refusedGlobs: [][2]string{{"/Users/u/.zeph", "sessions.db*"}},
		refused:      []string{`/Users/u/my "app"/.zeph-home`},
		denyPatterns: []string{"*.pem", "secrets/", "conf/*.key", "**/.env", "~/.ssh/**", "/etc/{a,b}[0-9]?"},
		home:         "/Users/u",
		temp:         "/private/var/folders/x/T/zeph-acp-1",
	}
	got, err := s.profile()
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/seatbelt.sb"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	open := 0
	for _, r := range got { // a name with a parenthesis or a quote ends no rule
		switch r {
		case '(':
			open++
		case ')':
			open--
		}
	}
	if open != 0 {
		t.Errorf("%d parentheses are open", open)
	}
	name, args, err := s.wrap("/bin/bash", []string{"-c", "ls"})
	if err != nil || name != sandboxExec || !slices.Equal(args, []string{"-p", got, "/bin/bash", "-c", "ls"}) {
		t.Errorf("wrap: %s %q, %v", name, args, err)
	}
}

// What a profile cannot express makes no profile, and so the command asks.
func TestSeatbeltRefuses(t *testing.T) {
	for name, s := range map[string]seatbelt{
		"a newline":         {roots: []string{"/a\n(allow default)"}, temp: "/t"},
		"not UTF-8":         {roots: []string{"/a\xff"}, temp: "/t"},
		"everything":        {roots: []string{"/"}, temp: "/t"},
		"a relative path":   {roots: []string{"a"}, temp: "/t"},
		"no temp":           {roots: []string{"/a"}},
		"a refused newline": {roots: []string{"/a"}, refused: []string{"/a/b\n"}, temp: "/t"},
	} {
		if text, err := s.profile(); err == nil {
			t.Errorf("%s: a profile\n%s", name, text)
		}
	}
}

// The rules are evaluated as macOS does: the last that fits decides.
func TestSeatbeltDecides(t *testing.T) {
	s := seatbelt{
		roots: []string{"/Users/u/app"}, read: []string{"/Users/u/.gitconfig", "/Users/u/go"}, execute: []string{"/Users/u/go", "/Users/u/venv"},
		stores: []string{"/Users/u/go/pkg"}, secretNames: []string{".env", "auth.json"}, refusedGlobs: [][2]string{{"/Users/u/app/z", "keys*.toml"}},
		refused: []string{"/Users/u/app/.home"}, denyPatterns: []string{"*.pem", "a.b/", "~/go/private"}, home: "/Users/u", temp: "/private/tmp/t1",
		write: []string{"/Users/u/state/copy"},
	}
	text, err := s.profile()
	if err != nil {
		t.Fatal(err)
	}
	rules := parseSeatbelt(t, text)
	for _, tt := range []struct {
		operation, path string
		want            bool
	}{
		{"file-read-data", "/Users/u/app/main.go", true},
		{"file-read-data", "/Users/u/app", true},
		{"file-read-data", "/Users/u/application", false},
		{"file-read-data", "/Users/u/app/sub/key.PEM", false},
		{"file-read-data", "/Users/u/app/key.pemx", true},
		{"file-read-data", "/Users/u/app/a.b/c", false},
		{"file-read-data", "/Users/u/app/axb/c", true},
		{"file-read-data", "/Users/u/app/.home/keys.toml", false},
		{"file-read-metadata", "/Users/u/app/.home/keys.toml", false},
		{"file-read-data", "/Users/u/other/x", false},
		{"file-read-metadata", "/Users/u/other/x", false},
		{"file-read-metadata", "/Users/u", true},
		{"file-read-data", "/Users/u", false}, // it is not listed
		{"file-read-data", "/Users/u/.ssh/id", false},
		{"file-read-data", "/System/Volumes/Data/Users/u/.ssh/id", false},
		{"file-read-data", "/Library/Keychains/System.keychain", false},
		{"file-read-data", "/Users/u/.gitconfig", true},
		{"file-read-data", "/Users/u/go/pkg/mod/x.go", true},
		{"file-read-data", "/Users/u/go/private/x.go", false},
		{"file-read-data", "/Users/u/venv/lib/.ENV", false},
		{"file-read-data", "/Users/u/venv/.env/a", false},
		{"file-read-data", "/Users/u/go/pkg/mod/auth.json", true},
		{"file-read-data", "/Users/u/app/auth.json", true},
		{"file-read-data", "/Users/u/app/z/keys-2.TOML", false},
		{"file-read-data", "/Users/u/app/z/a.toml", true},
		{"file-read-data", "/Users/u/App/.HOME/keys.toml", false},
		{"process-exec", "/Users/u/go/pkg/mod/tool", true},
		{"file-read-data", "/usr/share/zoneinfo/UTC", true},
		{"file-read-data", "/private/etc/passwd", true},
		{"file-write-create", "/Users/u/app/x", false},
		{"file-write-data", "/Users/u/app/main.go", false},
		{"file-write-data", "/dev/null", true},
		{"file-write-create", "/private/tmp/x", false},
		{"file-write-create", "/private/tmp/t1/x", true},
		{"file-write-create", "/Users/u/state/copy/x", true},
		{"file-write-data", "/Users/u/.gitconfig", false},
		{"process-exec", "/usr/bin/git", true},
		{"process-exec", "/Users/u/go/bin/gopls", true},
		{"process-exec-interpreter", "/Users/u/app/evil.sh", false},
		{"process-exec", "/Users/u/app/evil", false},
		{"file-map-executable", "/Users/u/app/evil.dylib", false},
		{"process-exec", "/private/tmp/t1/evil", false},
		{"process-exec", "/Users/u/state/copy/evil", false},
		{"mach-lookup", "com.apple.system.opendirectoryd.libinfo", true},
		{"mach-lookup", "com.apple.SecurityServer", false},
		{"mach-lookup", "com.apple.pasteboard.1", false},
		{"network-outbound", "/var/run/docker.sock", false},
		{"process-fork", "", true},
		{"file-ioctl", "/dev/tty", false},
		{"appleevent-send", "com.apple.Terminal", false},
	} {
		if got := rules.allow(tt.operation, tt.path); got != tt.want {
			t.Errorf("%s %s: allowed %t, want %t", tt.operation, tt.path, got, tt.want)
		}
	}
}

// seatbeltRule is a rule of a profile.
type seatbeltRule struct {
	allow      bool
	operations []string
	fits       []func(string) bool // empty: everything
}

type seatbeltRules []seatbeltRule

// parseSeatbelt parses the profiles that this package writes.
func parseSeatbelt(t *testing.T, text string) (all seatbeltRules) {
	t.Helper()
	head := regexp.MustCompile(`^\((allow|deny) ([^(\n)]+)`)
	filter := regexp.MustCompile(`(?m)^  \(([a-z-]+) #?"(.*?)"\)+$`)
	for part := range strings.SplitSeq(text, "\n(") {
		m := head.FindStringSubmatch("(" + part)
		if m == nil || strings.TrimSpace(m[2]) == "default" {
			continue
		}
		r := seatbeltRule{allow: m[1] == "allow", operations: strings.Fields(m[2])}
		for _, f := range filter.FindAllStringSubmatch(part, -1) {
			name := strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(f[2])
			switch f[1] {
			case "subpath":
				r.fits = append(r.fits, func(p string) bool { return workspace.Within(name, p) })
			case "regex":
				r.fits = append(r.fits, regexp.MustCompile(f[2]).MatchString)
			default:
				r.fits = append(r.fits, func(p string) bool { return p == name })
			}
		}
		all = append(all, r)
	}
	return all
}

func (all seatbeltRules) allow(operation, path string) bool {
	allowed := false
	for _, r := range all {
		names := slices.ContainsFunc(r.operations, func(pattern string) bool {
			base, ok := strings.CutSuffix(pattern, "*")
			return pattern == operation || ok && strings.HasPrefix(operation, base)
		})
		if names && (len(r.fits) == 0 || slices.ContainsFunc(r.fits, func(fit func(string) bool) bool { return fit(path) })) {
			allowed = r.allow
		}
	}
	return allowed
}

// The expressions of the profile refuse every file that the rules of the file tools refuse.
func TestSeatbeltDenyRead(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(home, "w")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	roots, err := workspace.New(root)
	if err != nil {
		t.Fatal(err)
	}
	root = roots.Cwd()
	names := []string{"a", "b.pem", "B", ".env", "x[1]", "é", "a b", "c{d}", "k+", "secrets"}
	pieces := slices.Concat(names, []string{"*", "?", "**", "*.pem", "[ab]", "{a,b.pem}", `\a`, "x?1?", "[^a]", "s*s", "{*.pem,sub/**}", "..."})
	random := rand.New(rand.NewPCG(1, 2))
	one := func(from []string) string { return from[random.IntN(len(from))] }
	refusals := 0
	for range 4000 {
		pattern := one([]string{"", "", "", "**/", root + "/", "~/w/", "/**/", "./"}) + one(pieces)
		for random.IntN(2) == 0 {
			pattern += "/" + one(pieces)
		}
		pattern += one([]string{"", "", "/", "/**"})
		reading, err := roots.Reading(workspace.ReadRules{Deny: []string{pattern}})
		if err != nil {
			continue
		}
		s := seatbelt{roots: []string{root}, read: []string{filepath.Dir(root) + "/o"}, denyPatterns: []string{pattern}, home: filepath.Dir(root), temp: "/t"}
		var expressions []*regexp.Regexp
		for _, e := range s.denyExpressions(pattern) {
			expressions = append(expressions, regexp.MustCompile(e))
		}
		for range 20 {
			file := one([]string{root, root, s.read[0]}) + "/" + one(names)
			for random.IntN(2) == 0 {
				file += "/" + one(names)
			}
			_, refused := reading.Readable().Refuses(file)
			if _, above := reading.Readable().Refuses(s.read[0]); !refused || above { // no such directory is granted
				continue
			}
			refusals++
			if !slices.ContainsFunc(expressions, func(e *regexp.Regexp) bool { return e.MatchString(file) }) {
				t.Fatalf("%s refuses %s, but none of %v does", pattern, file, expressions)
			}
		}
	}
	if refusals < 1000 {
		t.Errorf("only %d refusals were compared", refusals)
	}
}
