package config

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// write writes a file below dir and returns its path.
func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// load loads a file with an environment of its own.
func load(t testing.TB, toml string, environ ...string) (*Loaded, error) {
	t.Helper()
	file := write(t, t.TempDir(), "config.toml", toml)
	return Load(Options{File: file, Environ: append([]string{"HOME=" + t.TempDir()}, environ...)})
}

// mistakesOf returns the lines that "config check" would print, without the
// directory of the file.
func mistakesOf(t testing.TB, err error) string {
	t.Helper()
	mistakes, ok := err.(toml.Mistakes)
	if err != nil && !ok {
		t.Fatalf("not Mistakes: %v", err)
	}
	var b strings.Builder
	for _, m := range mistakes {
		if filepath.IsAbs(m.Where) {
			m.Where = filepath.Base(m.Where)
		}
		b.WriteString(m.Error() + "\n")
	}
	return b.String()
}

// TestMistakes checks the archives of testdata/mistakes: their config.toml has the mistakes that
// want lists.
func TestMistakes(t *testing.T) {
	archives, err := filepath.Glob("testdata/mistakes/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			_, err = load(t, parts["config.toml"])
			if diff := cmp.Diff(parts["want"], mistakesOf(t, err)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestPrecedence(t *testing.T) {
	file := "[log]\nlevel = \"warn\"\n[agent]\nmax_tool_iterations = 3\n"
	for name, tt := range map[string]struct {
		environ []string
		flags   map[string]string
		want    string
		origin  string
	}{
		"file":         {nil, nil, "warn", "config.toml:2"},
		"environment":  {[]string{"ZEPH_LOG_LEVEL=info"}, nil, "info", "ZEPH_LOG_LEVEL"},
		"empty":        {[]string{"ZEPH_LOG_LEVEL="}, nil, "warn", "config.toml:2"},
		"command line": {[]string{"ZEPH_LOG_LEVEL=info"}, map[string]string{"log.level": "debug"}, "debug", "command line"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, t.TempDir(), "config.toml", file)
			l, err := Load(Options{File: path, Flags: tt.flags, Environ: append(tt.environ, "HOME=/")})
			if err != nil {
				t.Fatal(err)
			}
			if origin := strings.TrimPrefix(l.origins["log.level"],
				filepath.Dir(path)+string(filepath.Separator)); l.Config.Log.Level != tt.want || origin != tt.origin {
				t.Errorf("level %q from %q, want %q from %q", l.Config.Log.Level, origin, tt.want, tt.origin)
			}
			if l.Config.Agent.MaxToolIterations != 3 || l.Config.Agent.Mode != "code" {
				t.Errorf("other keys changed: %+v", l.Config.Agent)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	for name, tt := range map[string]struct {
		environ []string
		got     func(Config) any
		want    any
		wrong   string
	}{
		"number": {[]string{"ZEPH_AGENT_MAX_TOOL_ITERATIONS=25"}, func(c Config) any { return c.Agent.MaxToolIterations }, 25, ""},
		"zero":   {[]string{"ZEPH_ACP_TERMINAL_TIMEOUT_SECS=0"}, func(c Config) any { return c.ACP.TerminalTimeoutSecs }, 0, ""},
		"bool":   {[]string{"ZEPH_TOOLS_SHELL_ALLOW_NETWORK=false"}, func(c Config) any { return c.Tools.Shell.AllowNetwork }, false, ""},
		"list": {[]string{"ZEPH_TOOLS_SHELL_BLOCKED_COMMANDS=a b, c,"},
			func(c Config) any { return c.Tools.Shell.BlockedCommands }, []string{"a b", "c"}, ""},
		"list as TOML": {[]string{`ZEPH_TOOLS_SHELL_BLOCKED_COMMANDS=["{a,b}", 'c']`},
			func(c Config) any { return c.Tools.Shell.BlockedCommands }, []string{"{a,b}", "c"}, ""},
		"not a number": {[]string{"ZEPH_AGENT_MAX_TOOL_ITERATIONS=many"}, nil, nil,
			`ZEPH_AGENT_MAX_TOOL_ITERATIONS: key "agent.max_tool_iterations": want a whole number` + "\n"},
		"too much": {[]string{"ZEPH_AGENT_MAX_TOOL_ITERATIONS=10001"}, nil, nil,
			`ZEPH_AGENT_MAX_TOOL_ITERATIONS: key "agent.max_tool_iterations": 10001 is not from 1 to 10000` + "\n"},
		"a second key": {[]string{"ZEPH_AGENT_MAX_TOOL_ITERATIONS=1\nmode='auto'"}, nil, nil,
			`ZEPH_AGENT_MAX_TOOL_ITERATIONS: key "agent.max_tool_iterations": want a whole number` + "\n"},
		"not a bool": {[]string{"ZEPH_TOOLS_SHELL_ALLOW_NETWORK=no"}, nil, nil,
			`ZEPH_TOOLS_SHELL_ALLOW_NETWORK: key "tools.shell.allow_network": want true or false` + "\n"},
		"an element": {[]string{"ZEPH_LLM_FALLBACK=nobody"}, nil, nil,
			`ZEPH_LLM_FALLBACK: key "llm.fallback[0]": no provider "nobody" for model "nobody"; want PROVIDER:MODEL, such as claude:claude-sonnet-5-5` + "\n"},
		"several": {[]string{"ZEPH_LOG_LEVEL=loud", "ZEPH_AGENT_MODE=yolo"}, nil, nil,
			`ZEPH_AGENT_MODE: key "agent.mode": "yolo" is not one of ask, architect, code, auto, auto-judge` + "\n" +
				`ZEPH_LOG_LEVEL: key "log.level": "loud" is not one of debug, info, warn, error` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := load(t, "", tt.environ...)
			if diff := cmp.Diff(tt.wrong, mistakesOf(t, err)); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
			if err == nil {
				if diff := cmp.Diff(tt.want, tt.got(l.Config)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

// A mistake in the file is reported even if the environment overrides the
// value: the next start may have another environment.
func TestEnvironmentCorrectsNoFile(t *testing.T) {
	_, err := load(t, "[log]\nlevel = \"loud\"\n", "ZEPH_LOG_LEVEL=info")
	if got := mistakesOf(t, err); !strings.HasPrefix(got, `config.toml:2: key "log.level": `) {
		t.Errorf("mistakes %q, want one in line 2 of config.toml", got)
	}
}

func TestUnknownVariables(t *testing.T) {
	l, err := load(t, "", "ZEPH_LOGLEVEL=info", "ZEPH_MODEL=x", "ZEPHYR=1", "ZEPH_SECRET_X=1", "ZEPH_HOME="+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"environment variable ZEPH_LOGLEVEL sets no key (did you mean ZEPH_LOG_LEVEL?)"}
	if diff := cmp.Diff(want, l.Warnings); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Every key can be set by its variable alone, and the decoder supports every
// type.
func TestKeys(t *testing.T) {
	names := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(settable(new(Config)))) {
		if other, ok := names[variable(path)]; ok || slices.Contains(ownVariables, variable(path)) {
			t.Errorf("%s is the variable of %s and of %s", variable(path), path, other)
		}
		names[variable(path)] = path
	}
	var check func(typ reflect.Type, path string)
	check = func(typ reflect.Type, path string) {
		if setting.IsText(typ) {
			return
		}
		switch typ.Kind() {
		case reflect.Struct:
			seen := map[string]bool{}
			for _, f := range setting.Fields(typ) {
				if seen[f.Key] {
					t.Errorf("%s: two fields %q", path, f.Key)
				}
				seen[f.Key] = true
				if _, sentence, ok := strings.Cut(string(f.Tag), " doc:"); ok {
					if quoted, err := strconv.QuotedPrefix(sentence); quoted != sentence {
						t.Errorf("%s: got more after the sentence of %s (%v), want it last among the tags", path, f.Key, err)
					}
				}
				check(f.Type, setting.Join(path, f.Key))
			}
			for i := range typ.NumField() {
				if f := typ.Field(i); f.IsExported() && !f.Anonymous && f.Tag.Get("toml") == "" {
					t.Errorf("%s: field %s has no toml tag", path, f.Name)
				}
			}
		case reflect.Map, reflect.Slice:
			check(typ.Elem(), path+"[]")
		case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		default:
			t.Errorf("%s has the type %v, which the decoder does not support", path, typ)
		}
	}
	check(reflect.TypeFor[Config](), "")
	defaults := setting.Default[Config]()
	if wrong := setting.Check(defaults); len(wrong) > 0 {
		t.Errorf("the defaults are wrong: %v", wrong)
	}
}

func TestFiles(t *testing.T) {
	const set, other = "[agent]\nmax_tool_iterations = 7\n", "[agent]\nmax_tool_iterations = 8\n"
	dir := t.TempDir()
	write(t, dir, "home/.config/zeph-acp/config.toml", set)
	write(t, dir, "xdg/zeph-acp/config.toml", set)
	write(t, dir, "zeph/config.toml", set)
	write(t, dir, "bad.toml", "x = ")
	named := write(t, dir, "other.toml", other)
	write(t, dir, "big.toml", strings.Repeat("# \n", keys.MaxBytes/2))
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for name, tt := range map[string]struct {
		flag    string
		environ []string
		want    int
		wrong   string
	}{
		"home":               {"", []string{"HOME=" + at("home")}, 7, ""},
		"xdg":                {"", []string{"HOME=" + at("none"), "XDG_CONFIG_HOME=" + at("xdg")}, 7, ""},
		"relative xdg":       {"", []string{"HOME=" + at("home"), "XDG_CONFIG_HOME=xdg"}, 7, ""},
		"zeph home":          {"", []string{"HOME=" + at("none"), "ZEPH_HOME=" + at("zeph")}, 7, ""},
		"zeph home over xdg": {"", []string{"XDG_CONFIG_HOME=" + at("xdg"), "ZEPH_HOME=" + at("none")}, 10, ""},
		"variable":           {"", []string{"ZEPH_HOME=" + at("zeph"), "ZEPH_CONFIG=" + named}, 8, ""},
		"flag over variable": {named, []string{"ZEPH_CONFIG=" + at("bad.toml")}, 8, ""},
		"no file":            {"", []string{"HOME=" + at("none")}, 10, ""},
		"no home":            {"", nil, 10, ""},
		"missing flag":       {at("none.toml"), nil, 0, "none.toml, named by --config: "},
		"missing variable":   {"", []string{"ZEPH_CONFIG=" + at("none.toml")}, 0, "none.toml, named by ZEPH_CONFIG: "},
		"directory":          {dir, nil, 0, "reading the configuration"},
		"too big":            {at("big.toml"), nil, 0, "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Load(Options{File: tt.flag, Environ: tt.environ})
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Fatalf("error %v, want %q", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Config.Agent.MaxToolIterations; got != tt.want {
				t.Errorf("max_tool_iterations %d, want %d", got, tt.want)
			}
		})
	}
}

func TestFindPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths below are of Unix")
	}
	for name, tt := range map[string]struct {
		env  map[string]string
		want Paths
	}{
		"home": {map[string]string{"HOME": "/h"},
			Paths{"/h/.config/zeph-acp", "/h/.local/share/zeph-acp", "/h/.local/state/zeph-acp"}},
		"xdg": {map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s"},
			Paths{"/c/zeph-acp", "/d/zeph-acp", "/s/zeph-acp"}},
		"relative xdg":  {map[string]string{"XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "/d"}, Paths{Data: "/d/zeph-acp"}},
		"relative home": {map[string]string{"HOME": "h"}, Paths{}},
		"zeph home":     {map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d", "ZEPH_HOME": "/z/"}, Paths{"/z", "/z", "/z"}},
		"nothing":       {nil, Paths{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := FindPaths(func(name string) string { return tt.env[name] })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// BenchmarkLoad measures the time that each start spends on the configuration.
func BenchmarkLoad(b *testing.B) {
	file := write(b, b.TempDir(), "config.toml", "[agent]\nmode = 'ask'\n[log]\nlevel = 'info'\n[[llm.providers]]\ntype = 'claude'\n")
	environ := os.Environ()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(Options{File: file, Environ: environ}); err != nil {
			b.Fatal(err)
		}
	}
}

// Loading creates no directory; keys.MakeDir creates it for the user alone.
func TestMakeDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "zeph")
	l, err := Load(Options{Environ: []string{"ZEPH_HOME=" + dir}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Fatalf("loading made %s", dir)
	}
	if err := keys.MakeDir(l.Paths.Data); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has the mode %v, %v, want 0700", info.Mode(), err)
	}
}

// TestOutputLimit checks that one key limits the text of all tools, unless the table of a tool has
// the key, and that the old keys are read.
func TestOutputLimit(t *testing.T) {
	type limits struct{ All, Shell, File, Scrape, Diagnostics, SubAgent int }
	all := func(n int) limits { return limits{n, n, n, n, n, n} }
	for name, tt := range map[string]struct {
		file, repo string
		want       limits
		warnings   string
	}{
		"defaults":    {want: all(50_000)},
		"all":         {file: "[tools]\nmax_output_chars = 2000\n", want: all(2000)},
		"all, higher": {file: "[tools]\nmax_output_chars = 200000\n", want: all(200_000)},
		"all but one": {file: "[tools]\nmax_output_chars = 2000\n[tools.shell]\nmax_output_chars = 5000\n", want: limits{2000, 5000, 2000, 2000, 2000, 2000}},
		"each": {file: "[tools.file]\nmax_output_chars = 300\n[tools.scrape]\nmax_output_chars = 400\n[tools.diagnostics]\nmax_output_chars = 500\n" +
			"[tools.sub_agent]\nmax_output_chars = 600\n", want: limits{50_000, 50_000, 300, 400, 500, 600}},
		"a threshold": {file: "[tools.overflow]\nthreshold = 300\n", want: all(300),
			warnings: `:2: key "tools.overflow.threshold": it is now "tools.max_output_chars" (zeph-acp config migrate renames it)`},
		"a limit of read": {file: "[tools.file]\nmax_read_chars = 3000\n", want: limits{50_000, 50_000, 3000, 50_000, 50_000, 50_000},
			warnings: `:2: key "tools.file.max_read_chars": it is now "tools.file.max_output_chars" (zeph-acp config migrate renames it)`},
		"both": {file: "[tools]\nmax_output_chars = 2000\n[tools.overflow]\nthreshold = 4000\n", want: all(2000),
			warnings: `:4: key "tools.overflow.threshold": has no effect, since tools.max_output_chars is set`},
		"lower in the project": {file: "[tools.scrape]\nmax_output_chars = 1500\n", repo: "[tools]\nmax_output_chars = 2000\n",
			want: limits{2000, 2000, 2000, 1500, 2000, 2000}},
		"an old key of the project": {repo: "[tools.overflow]\nthreshold = 2000\n", want: all(2000),
			warnings: `:2: key "tools.overflow.threshold": it is now "tools.max_output_chars" (zeph-acp config migrate renames it)`},
		"higher in the project": {repo: "[tools]\nmax_output_chars = 60000\n", want: all(50_000),
			warnings: `:2: key "tools.max_output_chars": ignored: a workspace may only tighten the configuration`},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := load(t, tt.file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			write(t, dir, ".zeph/config.toml", tt.repo)
			cfg, warnings := Tighten(l.Config, dir)
			got := limits{cfg.Tools.MaxOutputChars, cfg.Tools.Shell.MaxOutputChars, cfg.Tools.File.MaxOutputChars,
				cfg.Tools.Scrape.MaxOutputChars, cfg.Tools.Diagnostics.MaxOutputChars, cfg.Tools.SubAgent.MaxOutputChars}
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if told := strings.Join(append(l.Warnings, warnings...), "\n"); !strings.HasSuffix(told, tt.warnings) || tt.warnings == "" && told != "" {
				t.Errorf("got the warnings %s, want %s", told, tt.warnings)
			}
		})
	}
	for _, table := range []string{"tools", "tools.shell", "tools.file", "tools.scrape", "tools.diagnostics", "tools.sub_agent"} {
		if _, err := load(t, "["+table+"]\nmax_output_chars = 199\n"); !strings.Contains(mistakesOf(t, err), "max_output_chars") {
			t.Errorf("%s.max_output_chars = 199: got %v, want a mistake", table, err)
		}
	}
}
