package config

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
)

// TestMigrate checks the archives of testdata/migrate: the migrated config.toml
// and the messages.
func TestMigrate(t *testing.T) {
	archives, err := filepath.Glob("testdata/migrate/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".txtar")
		a, err := txtar.ParseFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		parts := map[string]string{}
		for _, f := range a.Files {
			parts[f.Name] = string(f.Data)
		}
		t.Run(name, func(t *testing.T) {
			want := cmp.Or(parts["want.toml"], parts["config.toml"])
			migrated(t, parts["config.toml"], want, parts["told"])
		})
		t.Run(name+" with CRLF", func(t *testing.T) {
			crlf := strings.NewReplacer("\n", "\r\n")
			want := cmp.Or(parts["want.toml"], parts["config.toml"])
			migrated(t, "\ufeff"+crlf.Replace(parts["config.toml"]), "\ufeff"+crlf.Replace(want), parts["told"])
		})
	}
}

// migrated migrates a file with this text. It then migrates the result, which
// must need no change.
func migrated(t *testing.T, text, want, told string) {
	t.Helper()
	file := write(t, t.TempDir(), "config.toml", text)
	o := Options{File: file, Environ: []string{"HOME=/"}}
	m, err := Migrate(o)
	if err != nil {
		if diff := gocmp.Diff(told, strings.ReplaceAll(err.Error(), filepath.Dir(file)+string(filepath.Separator), "")+"\n"); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		return
	}
	got := strings.Join(append(m.Changes, m.Remaining...), "\n") + "\n"
	if diff := gocmp.Diff(told, strings.ReplaceAll(got, filepath.Dir(file)+string(filepath.Separator), "")); diff != "" {
		t.Errorf("told (-want +got)\n%s", diff)
	}
	if diff := gocmp.Diff(want, string(m.result)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(m.Changes) > 0 && !m.Refused {
		write(t, filepath.Dir(file), "config.toml", string(m.result))
		if _, err := Load(o); err != nil {
			t.Errorf("the migrated file does not load: %v", err)
		}
	}
	if m.Refused {
		return
	}
	if diff := gocmp.Diff(string(m.result), string(toml.NewEditor(m.result, renames).Migrate())); diff != "" {
		t.Errorf("a second migration (-want +got)\n%s", diff)
	}
}

// Old paths are not keys of this version; new ones are. A key is renamed or gone.
func TestRenames(t *testing.T) {
	exists := func(path string) bool {
		text := path + " = 0\n"
		if array, key, ok := strings.Cut(path, "[]."); ok {
			text = "[[" + array + "]]\n" + key + " = 0\n"
		}
		_, err := load(t, text)
		return !strings.Contains(mistakesOf(t, err), toml.UnknownKey)
	}
	for _, r := range renames {
		if (r.New == "") == (r.Gone == "") || r.Gone != "" && r.Table {
			t.Errorf("%+v: want either a new path, or a key that is gone with the reason", r)
		}
		if strings.HasPrefix(r.Old, "tools.permissions.") {
			continue // any tool name is a key there
		}
		if exists(r.Old) != r.Reads {
			t.Errorf("%s is read: %t, want %t", r.Old, !r.Reads, r.Reads)
		}
		if r.New != "" && !exists(r.New) {
			t.Errorf("%s is not a key", r.New)
		}
	}
}

func TestMigrateApply(t *testing.T) {
	dir := t.TempDir()
	const text = "[logging]\nlevel = \"info\"\n"
	target := write(t, dir, "target.toml", text)
	if err := os.Chmod(target, 0o640); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "config.toml")
	if err := os.Symlink(target, file); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	write(t, dir, "config.toml.bak", "precious")
	m, err := Migrate(Options{File: file, Environ: []string{"HOME=/"}})
	if err != nil {
		t.Fatal(err)
	}
	backup, err := m.Apply()
	if err != nil || backup != file+".bak.1" {
		t.Fatalf("Apply: backup %q, %v, want %s.bak.1", backup, err, file)
	}
	for name, want := range map[string]string{
		"config.toml": "[log]\nlevel = \"info\"\n", "target.toml": "[log]\nlevel = \"info\"\n",
		"config.toml.bak": "precious", "config.toml.bak.1": text,
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file has the mode %v, %v, want 0640", info.Mode(), err)
	}
	if link, err := os.Lstat(file); err != nil || link.Mode()&os.ModeSymlink == 0 {
		t.Error("a regular file has replaced the link")
	}
}

// Migrating ends for every file. Either the result loads and has every value of
// the file but the removed keys, or the file is left alone.
func FuzzMigrate(f *testing.F) {
	archives, err := filepath.Glob("testdata/m*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, archive := range archives {
		a, err := txtar.ParseFile(archive)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data)
	}
	// Each old key together with each other one, in tables of their own.
	for _, a := range renames {
		for _, b := range renames {
			f.Add([]byte(oldKey(a) + oldKey(b)))
		}
	}
	f.Add([]byte("\r")) // a blank line with another end than the file's
	f.Add([]byte("\nlog = {}\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := Migration{File: "f", Found: true}
		if m.plan(data, nil) != nil {
			return // the file is left alone
		}
		if len(m.Changes) == 0 || m.Refused {
			if !bytes.Equal(m.result, data) {
				t.Fatalf("changed without a word:\n%s", m.result)
			}
			return
		}
		if mistakes := mistakesIn("f", m.result, nil); len(mistakes) > 0 {
			t.Fatalf("the result does not load: %v\n%s", mistakes, m.result)
		}
		after, _ := toml.Parse(m.result)
		root, mistakes := toml.Parse(data)
		if len(mistakes) > 0 {
			return // its values are not defined
		}
		for _, r := range renames {
			if r.Gone != "" {
				removeKey(root, strings.Split(r.Old, "."))
			}
		}
		if diff := gocmp.Diff(leaves(root), leaves(after)); diff != "" {
			t.Errorf("values (-before +after)\n%s\n%s", diff, m.result)
		}
	})
}

// removeKey removes the key at a path, if the document has it.
func removeKey(n *toml.Node, path []string) {
	for _, key := range path[:len(path)-1] {
		if n = n.Child(key); n == nil {
			return
		}
	}
	delete(n.Table, path[len(path)-1])
}

// leaves counts the scalars by their text.
func leaves(n *toml.Node) map[string]int {
	count := map[string]int{}
	var walk func(n *toml.Node)
	walk = func(n *toml.Node) {
		for _, item := range n.Items {
			walk(item)
		}
		for _, child := range n.Table {
			walk(child)
		}
		if n.Items == nil && n.Table == nil && !toml.Want(reflect.TypeFor[struct{}]()).Fits(n.Kind) {
			count[toml.KindName(n.Kind)+" "+n.Text]++
		}
	}
	walk(n)
	return count
}

// oldKey returns a document with the old key of r.
func oldKey(r toml.Rename) string {
	if r.Table {
		return fmt.Sprintf("[%s]\n", r.Old)
	}
	dot := strings.LastIndexByte(r.Old, '.')
	return fmt.Sprintf("[%s]\n%s = 7\n", r.Old[:dot], r.Old[dot+1:])
}
