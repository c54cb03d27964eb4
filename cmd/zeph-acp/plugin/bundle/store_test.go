package bundle

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
)

// newStore returns an empty store in a directory.
func newStore(t *testing.T) *Store {
	t.Helper()
	var stored []byte
	return &Store{Dir: t.TempDir(), Approvals: &approval.Store{
		Load: func() ([]byte, error) { return stored, nil },
		Change: func(edit func([]byte) ([]byte, error)) error {
			data, err := edit(stored)
			if err == nil {
				stored = data
			}
			return err
		},
		Log: func(err error) { t.Error(err) },
	}}
}

// added returns a store with one plug-in.
func added(t *testing.T) (*Store, *Plugin) {
	t.Helper()
	s := newStore(t)
	p, err := Parse(treeOf(map[string]string{manifestFile: `{"name":"p","version":"1"}`, "commands/a.md": "x", "run.sh": "#!/bin/sh"}), "")
	must(t, err)
	must(t, s.Add(p, Record{Name: "p", Source: "/src"}))
	return s, p
}

// TestTampered checks that no part of a plug-in is used if anything in its folder is not as the user approved it.
func TestTampered(t *testing.T) {
	for name, change := range map[string]func(root string) error{
		"a changed file": func(root string) error {
			return os.WriteFile(filepath.Join(root, "run.sh"), []byte("#!/bin/sh\nevil"), 0o600)
		},
		"the same size and time": func(root string) error {
			file := filepath.Join(root, "run.sh")
			info, err := os.Stat(file)
			return errors.Join(err, os.WriteFile(file, []byte("#!/bin/no"), 0o600), os.Chtimes(file, info.ModTime(), info.ModTime()))
		},
		"a new file":     func(root string) error { return os.WriteFile(filepath.Join(root, "commands/b.md"), []byte("x"), 0o600) },
		"a hidden file":  func(root string) error { return os.WriteFile(filepath.Join(root, ".x"), nil, 0o600) },
		"a removed file": func(root string) error { return os.Remove(filepath.Join(root, "run.sh")) },
		"a link out":     func(root string) error { return os.Symlink("/etc/passwd", filepath.Join(root, "l")) },
		"a moved file": func(root string) error {
			return os.Rename(filepath.Join(root, "run.sh"), filepath.Join(root, "run2.sh"))
		},
		"no folder": os.RemoveAll,
		"a link to a copy": func(root string) error {
			return errors.Join(os.Rename(root, root+"2"), os.Symlink(root+"2", root))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := added(t)
			if _, err := s.Load("p"); err != nil {
				t.Fatal(err)
			}
			must(t, change(s.Root("p")))
			_, err := s.Load("p")
			if changed := (*ChangedError)(nil); !errors.As(err, &changed) || !strings.Contains(err.Error(), "zeph-acp plugin update p") {
				t.Errorf("Load: %v", err)
			}
			if s.Check("p") == nil {
				t.Error("Check found no change")
			}
		})
	}
}

func TestStore(t *testing.T) {
	s, p := added(t)
	loaded, err := s.Load("p")
	if err != nil || loaded.Version != "1" || loaded.root != s.Root("p") {
		t.Fatal(loaded, err)
	}
	if !s.IsApproved(p) {
		t.Error("it is not approved")
	}
	next, err := Parse(treeOf(map[string]string{manifestFile: `{"name":"p","version":"2"}`, "commands/a.md": "y"}), "")
	must(t, err)
	if s.IsApproved(next) {
		t.Error("another version is approved")
	}
	must(t, s.Add(next, Record{Name: "p", Source: "/src"}))
	if loaded, err = s.Load("p"); err != nil || loaded.Version != "2" {
		t.Error(loaded, err)
	}
	if s.IsApproved(p) {
		t.Error("the old version is still approved")
	}
	records, err := s.Records()
	if err != nil || len(records) != 1 || records[0].Name != "p" {
		t.Error(records, err)
	}
	found, err := s.Remove("p")
	if !found || err != nil || s.IsApproved(next) {
		t.Error(found, err)
	}
	if _, err := os.Lstat(s.Root("p")); !os.IsNotExist(err) {
		t.Error(err)
	}
	if found, err := s.Remove("p"); found || err != nil {
		t.Error(found, err)
	}
	if records, err := s.Records(); len(records) > 0 || err != nil {
		t.Error(records, err)
	}
}

// TestRecordsOutside checks that no name in the list leads out of the directory of plug-ins.
func TestRecordsOutside(t *testing.T) {
	s := newStore(t)
	must(t, os.WriteFile(filepath.Join(s.Dir, RecordsFile), []byte(`{"plugins":[{"name":"../../x","source":"/"}]}`), 0o600))
	if records, err := s.Records(); err == nil || len(records) > 0 {
		t.Errorf("%v, %v", records, err)
	}
	if _, err := s.Remove("../../x"); err == nil {
		t.Error("it was removed")
	}
}

// TestUnapproved checks that a plug-in is off without an approval, such as after approvals.json was lost.
func TestUnapproved(t *testing.T) {
	s, _ := added(t)
	s.Approvals = newStore(t).Approvals
	if _, err := s.Load("p"); err == nil {
		t.Error("it was loaded")
	}
	s.Approvals = nil
	if _, err := s.Load("p"); err == nil {
		t.Error("it was loaded without a file of approvals")
	}
}
