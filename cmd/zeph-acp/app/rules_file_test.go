package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session"
)

// followed follows one file with a fake clock.
type followed struct {
	*rulesFile
	path  string
	clock time.Time
}

// follow loads a file, which need not exist, and follows it.
func follow(t *testing.T, path string, environ ...string) *followed {
	t.Helper()
	l, err := config.Load(config.Options{Environ: append([]string{"ZEPH_HOME=" + filepath.Dir(path)}, environ...)})
	if err != nil {
		t.Fatal(err)
	}
	f := &followed{path: path, clock: time.Now()}
	f.rulesFile = newRulesFile(l, func() time.Time { return f.clock }, slog.New(slog.DiscardHandler))
	f.sleep = func(d time.Duration) { f.clock = f.clock.Add(d) }
	return f
}

// after returns the rules in force after d has passed.
func (f *followed) after(d time.Duration) ruleSet {
	f.clock = f.clock.Add(d)
	return f.current()
}

// settle returns the rules in force after the file was seen and then left
// unchanged.
func (f *followed) settle() ruleSet {
	f.after(time.Minute)
	return f.after(time.Minute)
}

const blockMake = "[tools.shell]\nblocked_commands = ['make']\n"

func blocks(r ruleSet) string { return strings.Join(r.shell.BlockedCommands, " ") }

// Each way of changing a file puts its new text in force.
func TestRulesFollowTheFile(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"written": func(t *testing.T, path string) {
			write(t, filepath.Dir(path), filepath.Base(path), blockMake+"# later\n")
		},
		"replaced, with the time and size of the old one": func(t *testing.T, path string) {
			old, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			other := write(t, filepath.Dir(path), "other", blockMake)
			if err := os.Chtimes(other, time.Time{}, old.ModTime()); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(other, path); err != nil {
				t.Fatal(err)
			}
		},
		"a link to another file": func(t *testing.T, path string) {
			other := write(t, t.TempDir(), "c.toml", blockMake)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(other, path); err != nil {
				t.Skip("no symbolic links here:", err)
			}
		},
		"gone and back": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Dir(path), filepath.Base(path), blockMake)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, t.TempDir(), "config.toml", "[tools.shell]\nblocked_commands = ['cake']\n")
			f := follow(t, path)
			if got := f.settle(); blocks(got) != "cake" || got.version != 0 {
				t.Errorf("at first %+v, want version 0, which blocks cake", got)
			}
			change(t, path)
			if got := f.settle(); blocks(got) != "make" || got.version != 1 || got.notes != nil {
				t.Errorf("then %+v, want version 1, which blocks make, without notes", got)
			}
			if got := f.settle(); got.version != 1 {
				t.Errorf("an unchanged file has version %d, want 1", got.version)
			}
		})
	}
}

// A file that is created after the start counts.
func TestRulesOfALaterFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	f := follow(t, path, "ZEPH_TOOLS_SHELL_ALLOW_NETWORK=false")
	f.settle()
	write(t, filepath.Dir(path), "config.toml", blockMake+"allow_network = true\n")
	if got := f.settle(); blocks(got) != "make" || got.shell.AllowNetwork {
		t.Errorf("%+v: the environment does not count any more", got)
	}
}

// A file that cannot be used changes nothing, and causes a warning.
func TestRulesStay(t *testing.T) {
	path := write(t, t.TempDir(), "config.toml", blockMake)
	f := follow(t, path)
	for _, text := range []string{"[tools.shell", "[tools.shell]\nblocked_commands = 7\n", "[tools.shell]\noutside_paths = 'allow'\n", "[log]\nlevel = 'loud'\n"} {
		write(t, filepath.Dir(path), "config.toml", text)
		if got := f.settle(); blocks(got) != "make" || !strings.Contains(strings.Join(got.notes, ""), "config.toml") {
			t.Errorf("with the file %q: %+v, want the rules before it and a note that names config.toml", text, got)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := f.settle(); blocks(got) != "make" || !strings.Contains(strings.Join(got.notes, ""), "gone") {
		t.Errorf("without the file: %+v, want the rules before and a note that it is gone", got)
	}
	write(t, filepath.Dir(path), "config.toml", "")
	if got := f.settle(); blocks(got) != "" || got.notes != nil {
		t.Errorf("with an empty file: %+v, want no rules and no notes", got)
	}
}

// The first call after a change has the new rules. A file is not read while it may be half
// written: the call waits for the rest, and is checked by the old rules if that does not come.
func TestRulesOfAHalfWrittenFile(t *testing.T) {
	path := write(t, t.TempDir(), "config.toml", blockMake)
	f := follow(t, path)
	parts := []string{"", "# half\n", blockMake + "allow_network = false\n"}
	f.sleep = func(d time.Duration) {
		f.clock = f.clock.Add(d)
		if len(parts) > 0 {
			write(t, filepath.Dir(path), "config.toml", parts[0])
			parts, f.clock = parts[1:], time.Now()
		}
	}
	write(t, filepath.Dir(path), "config.toml", "[tools")
	f.clock = time.Now()
	if got := f.current(); blocks(got) != "make" || got.shell.AllowNetwork || got.version != 1 {
		t.Errorf("after the last text: %+v, want its rules", got)
	}

	start, n := time.Now(), 0
	f.clock = start
	f.sleep = func(d time.Duration) {
		f.clock = f.clock.Add(d)
		n++
		write(t, filepath.Dir(path), "config.toml", strings.Repeat("#", n))
	}
	write(t, filepath.Dir(path), "config.toml", "")
	if got := f.current(); got.version != 1 || f.clock.Sub(start) > maxSettling {
		t.Errorf("while the file grows: %+v after %v, want the rules before", got, f.clock.Sub(start))
	}
}

// A session's policy follows the file, tightened by its workspace. The user
// gets one warning of a file that cannot be used.
func TestSessionFollowsTheRules(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, config.WorkspaceFile, "[tools.shell]\nblocked_commands = ['theirs']\n")
	roots, err := workspace.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := follow(t, write(t, t.TempDir(), "config.toml", ""))
	a := &App{Config: setting.Default[config.Config](), shared: shared{rules: f.rulesFile}}
	var told []string
	s := session.Host{Client: &acp.Client{}, Warn: func(text string) { told = append(told, text) }, Withdraw: func(text string) {
		told = slices.DeleteFunc(told, func(other string) bool { return other == text })
	}}
	now := a.currentRules()
	cfg, _ := a.tightened(now, roots)
	b := &sessionBuilder{app: a, session: s, cfg: cfg, dirs: sessionDirs{roots: roots}}
	h := b.shellPolicy(now)
	first := h.Load()
	if h.Renew(); h.Load() != first {
		t.Error("an unchanged file replaced the policy")
	}
	write(t, filepath.Dir(f.path), "config.toml", blockMake)
	f.settle()
	if h.Renew(); h.Load() == first {
		t.Error("the changed file is not in force")
	}
	if got, _ := a.tightened(a.currentRules(), roots); !slices.Equal(got.Tools.Shell.BlockedCommands, []string{"make", "theirs"}) {
		t.Errorf("the workspace's own rules are lost: %q", got.Tools.Shell.BlockedCommands)
	}
	write(t, filepath.Dir(f.path), "config.toml", "[[[")
	f.settle()
	before := h.Load()
	h.Renew()
	h.Renew()
	if h.Load() != before || len(told) != 1 {
		t.Errorf("a broken file is in force, or the warnings are %q, want one", told)
	}
	write(t, filepath.Dir(f.path), "config.toml", blockMake+"[tools.file]\ndeny_read = ['**/.env']\n[log]\nlevel = 'info'\n")
	f.settle()
	h.Renew()
	if len(told) != 1 || !strings.Contains(told[0], "tools.file.deny_read, log.level were changed") {
		t.Errorf("told %q of keys that do not count yet", told)
	}
	write(t, filepath.Dir(f.path), "config.toml", blockMake)
	f.settle()
	if h.Renew(); len(told) != 0 {
		t.Errorf("the warnings %q stay, want none", told)
	}
}

// A missing file is reported at the first look, unless it may come back.
func TestMissingRulesFile(t *testing.T) {
	for name, gone := range map[string]func(string) error{
		"the file":      os.Remove,
		"the directory": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, filepath.Join(t.TempDir(), "c"), "config.toml", blockMake)
			f := follow(t, path)
			if err := gone(path); err != nil {
				t.Fatal(err)
			}
			f.clock = time.Now()
			f.sleep = func(d time.Duration) { // the file comes back
				f.clock = f.clock.Add(d)
				write(t, filepath.Dir(path), "config.toml", blockMake)
			}
			if got := f.current(); name == "the file" && got.notes != nil {
				t.Errorf("after it came back: notes %q, want none", got.notes)
			}
			f.sleep = func(d time.Duration) { f.clock = f.clock.Add(d) }
			if err := gone(path); err != nil {
				t.Fatal(err)
			}
			if got := f.after(time.Minute); blocks(got) != "make" || !strings.Contains(strings.Join(got.notes, ""), "config.toml") {
				t.Errorf("a minute later: %+v, want the rules before and a note that names config.toml", got)
			}
			f = follow(t, write(t, filepath.Join(t.TempDir(), "c"), "config.toml", blockMake))
			if err := gone(f.path); err != nil {
				t.Fatal(err)
			}
			f.clock = time.Now()
			if got := f.after(time.Minute); len(got.notes) != 1 {
				t.Errorf("at the first look: notes %q, want one", got.notes)
			}
		})
	}
}

func BenchmarkRulesUnchanged(b *testing.B) {
	l, err := config.Load(config.Options{File: write(b, b.TempDir(), "config.toml", blockMake), Environ: []string{"HOME=/"}})
	if err != nil {
		b.Fatal(err)
	}
	f := newRulesFile(l, time.Now, nil)
	b.ReportAllocs()
	for b.Loop() {
		f.current()
	}
}

// write writes a file below dir, which it makes, and returns its path.
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
