package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// Every file that zeph-acp creates is hidden, wherever it is.
func TestPrivateFiles(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{
		"config": {
			"config.toml",
			"config.toml.bak",
			"config.toml.bak.1",
			"filters.toml",
			"permissions.toml",
			"keys.toml",
			"keys.toml.lock",
			".keys.toml.tmp-123",
			".config.toml.tmp-9",
		},
		"data":  {"zeph.db", "zeph.db-wal", "zeph.db-shm", "zeph.db-journal"},
		"state": {"audit.jsonl", "audit.jsonl.1"},
	}
	for name, tt := range map[string]struct {
		env           map[string]string
		cwd           string
		dirs          map[string]string // of files
		hidden, shown []string
	}{
		"XDG": {
			map[string]string{"HOME": home}, home,
			map[string]string{"config": ".config/zeph-acp", "data": ".local/share/zeph-acp", "state": ".local/state/zeph-acp"},
			[]string{".config/zeph-acp", ".local/share/zeph-acp/skills/x"}, []string{".config/x", ".local/share", "keys.toml"},
		},
		"XDG, at work in it": {
			map[string]string{"HOME": home}, filepath.Join(home, ".config/zeph-acp"),
			map[string]string{"config": "."}, []string{".", "x"}, nil,
		},
		"ZEPH_HOME in the project": {
			map[string]string{"ZEPH_HOME": filepath.Join(home, ".zeph-home")}, home,
			map[string]string{"config": ".zeph-home", "data": ".zeph-home", "state": ".zeph-home"},
			[]string{".zeph-home/skills"},
			[]string{"config.toml"},
		},
		"ZEPH_HOME is the project": {
			map[string]string{"ZEPH_HOME": home}, home,
			map[string]string{"config": ".", "data": ".", "state": "."},
			nil,
			[]string{".", "main.go", "sub/config.toml", "keys.go", "config.toml.example", "skills/x"},
		},
		"ZEPH_HOME is above the project": {
			map[string]string{"ZEPH_HOME": home}, filepath.Join(home, "p"), nil, []string{"../keys.toml"}, []string{".", "keys.toml", "a/b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.MkdirAll(tt.cwd, 0o700); err != nil {
				t.Fatal(err)
			}
			roots, err := workspace.New(tt.cwd)
			if err != nil {
				t.Fatal(err)
			}
			roots = roots.Without(agentFiles(config.FindPaths(func(name string) string { return tt.env[name] })))
			for kind, dir := range tt.dirs {
				for _, file := range files[kind] {
					if !isAgentFile(roots, filepath.Join(dir, file)) {
						t.Errorf("%s/%s is not hidden", dir, file)
					}
				}
			}
			for _, path := range tt.hidden {
				if !isAgentFile(roots, path) {
					t.Errorf("%s is not hidden", path)
				}
			}
			for _, path := range tt.shown {
				if _, err := roots.Resolve(path); err != nil {
					t.Errorf("%s cannot be reached: %v", path, err)
				}
			}
		})
	}
}

// All files that the store and the keys really create are hidden.
func TestPrivateFilesAreComplete(t *testing.T) {
	home := t.TempDir()
	l, err := config.Load(config.Options{Environ: []string{"ZEPH_HOME=" + home}})
	if err != nil {
		t.Fatal(err)
	}
	a := New(l, slog.New(slog.DiscardHandler))
	defer a.Close()
	if _, _, err := a.Store.List(t.Context(), store.Query{}); err != nil {
		t.Fatal(err)
	}
	if err := l.Keys().Save("ANTHROPIC_API_KEY", "sk-1"); err != nil {
		t.Fatal(err)
	}
	roots, err := workspace.New(home)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := roots.Without(a.AgentFiles).Dir(roots.Cwd())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	entries, hidden, err := dir.ReadDir(-1)
	if err != nil || !hidden || len(entries) > 0 {
		t.Errorf("the directory shows %v, hides some %t, %v; want all of its files hidden", entries, hidden, err)
	}
}
