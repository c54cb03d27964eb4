package sandbox

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

func probe(abi int, reason string) func() (int, string) {
	return func() (int, string) { return abi, reason }
}

func TestKernels(t *testing.T) {
	roots, err := workspace.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		cfg                Config
		abi                int
		network            bool
		on, required, runs bool
		warning, state     string
	}{
		"off":                    {Config{}, 7, true, false, false, true, "", "Sandbox: off"},
		"not there":              {Config{Enabled: true}, 0, true, false, false, true, "without a sandbox: none", "not available: none"},
		"not there but required": {Config{Required: true}, 0, true, false, true, false, "commands are refused", "required, so no command runs: none"},
		"no TCP":                 {Config{Enabled: true}, 3, false, true, false, true, "leaves the network open", "no TCP rules before Linux 6.7"},
		"no TCP but required":    {Config{Required: true}, 3, false, true, true, false, "commands are refused", "required, so no command runs"},
		"first":                  {Config{Required: true}, 1, true, true, true, true, "", "moves between directories fail"},
		"TCP":                    {Config{Enabled: true}, 4, false, true, false, true, "", "reads, TCP); commands in the editor's terminal are not covered"},
		"network on":             {Config{Enabled: true}, 7, true, true, false, true, "", "ABI 7: writes, reads, signals)"},
		"UDP":                    {Config{Required: true}, 10, false, true, true, true, "", "TCP, UDP, signals); all commands run locally"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(tt.cfg, Session{Roots: roots, Network: tt.network, Probe: probe(tt.abi, "none")})
			if s.On() != tt.on || s.Required() != tt.required {
				t.Errorf("on %v, required %v", s.On(), s.Required())
			}
			if got := s.Warning(); !strings.Contains(got, tt.warning) || (got == "") != (tt.warning == "") {
				t.Errorf("warning %q", got)
			}
			if got := s.State(); !strings.Contains(got, tt.state) {
				t.Errorf("state %q", got)
			}
			path, args, env, err := s.Wrap("sh", []string{"-c", "x"}, []string{"A=1", rulesVariable + "0=forged"})
			if (err == nil) != tt.runs {
				t.Fatal(err)
			}
			if f, ok := errors.AsType[*executors.Failure](err); err != nil && (!ok || f.Category != executors.PolicyBlocked) {
				t.Error(err)
			}
			if !tt.runs {
				return
			}
			if wrapped := slices.Contains(args, Arg); wrapped != tt.on || (path != "sh") != tt.on || tt.on && slices.Contains(env, rulesVariable+"0=forged") {
				t.Errorf("%s %q %q", path, args, env)
			}
		})
	}
}

func TestFailed(t *testing.T) {
	code := func(n int) *int { return &n }
	for _, tt := range []struct {
		code   *int
		stderr string
		want   string
		ok     bool
	}{
		{code(126), marker + "enforce: no\n", "enforce: no", true},
		{code(1), marker + "enforce: no\n", "", false},
		{nil, marker + "x", "", false},
		{code(126), "bash: x: Permission denied\n", "bash: x: Permission denied", false},
		{code(126), marker + "x\nmore\n", "x\nmore", false},
	} {
		if reason, ok := setupFailure(tt.code, tt.stderr); ok != tt.ok || ok && reason != tt.want {
			t.Errorf("%q: %q, %v", tt.stderr, reason, ok)
		}
	}
}

func TestPlaces(t *testing.T) {
	getenv := func(env map[string]string) func(string) string { return func(name string) string { return env[name] } }
	got := caches("/home/u", getenv(map[string]string{"GOPATH": "/go:/go2", "CARGO_HOME": "relative", "XDG_CACHE_HOME": "/c", "GOCACHE": "off"}))
	for _, want := range []string{"/go/pkg", "/home/u/.cargo/registry", "/c", "/home/u/.npm"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	for _, path := range got {
		if path == "/home/u" || path == "/" || strings.HasSuffix(path, "/bin") {
			t.Errorf("%s may be written", path)
		}
	}
	if got := caches("", getenv(nil)); len(got) != 0 {
		t.Errorf("without a home directory: %q", got)
	}
	if got := programDirs("/home/u", getenv(map[string]string{"PATH": "/bin:/home/u/.local/bin:/home/u:/home/u/../v/bin:rel"})); !slices.Equal(got,
		[]string{"/home/u/.rustup", "/home/u/.local"}) {
		t.Errorf("software %q", got)
	}
}

// FuzzDecode checks that damaged rules are never accepted.
func FuzzDecode(f *testing.F) {
	f.Add(`{"fs":1,"grants":[{"dir":"Lw==","right":4,"names":[{"n":"Lg==","i":{"Dev":1,"Ino":2}}]}]}`, "PATH=/bin")
	f.Add(`{"fs":0}`, rulesVariable+"1=x")
	f.Fuzz(func(t *testing.T, text, other string) {
		r, env, err := decode([]string{"A=1", rulesVariable + "0=" + text, other})
		if err != nil {
			return
		}
		if r.FS == 0 || slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, rulesVariable) }) {
			t.Fatalf("%+v %q", r, env)
		}
		vars, err := r.encode()
		if err != nil {
			return
		}
		again, _, err := decode(vars)
		if err != nil || again.FS != r.FS || len(again.Grants) != len(r.Grants) {
			t.Fatalf("%+v became %+v, %v", r, again, err)
		}
	})
}

func TestFit(t *testing.T) {
	r := &rules{FS: 1, Grants: []grant{{Dir: []byte("/small"), Rights: 1, Names: make([]entry, 10)},
		{Dir: []byte("/large"), Rights: 1, Names: make([]entry, 40_000)}}}
	var notes []string
	vars, err := r.encodeToFit(&notes)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "/large") || len(r.Grants) != 1 {
		t.Fatal(err, notes)
	}
	for _, v := range vars {
		if len(v) >= 128<<10 {
			t.Errorf("a variable of %d bytes", len(v))
		}
	}
}
