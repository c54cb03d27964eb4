package keys

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// keysIn returns the keys in dir for KEY_A and KEY_B, with an environment.
func keysIn(dir string, environ ...string) *Keys {
	return NewKeys(dir, []provider.Key{{Provider: "a", Env: "KEY_A"}, {Provider: "b", Env: "KEY_B"}}, func(name string) string {
		for _, e := range environ {
			if value, ok := strings.CutPrefix(e, name+"="); ok {
				return value
			}
		}
		return ""
	})
}

func TestSavedKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	k, other := keysIn(dir), keysIn(dir, "KEY_B=from-environment") // as in another process
	save := func(name, key string) {
		t.Helper()
		if err := k.Save(name, key); err != nil {
			t.Fatal(err)
		}
	}
	want := func(a, b string) {
		t.Helper()
		if got := other.Getenv("KEY_A"); got != a {
			t.Errorf("KEY_A is %q, want %q", got, a)
		}
		if got := other.Getenv("KEY_B"); got != b {
			t.Errorf("KEY_B is %q, want %q", got, b)
		}
		if err := other.Err(); err != nil {
			t.Errorf("the file cannot be used: %v", err)
		}
	}
	want("", "from-environment")
	save("KEY_A", "first")
	want("first", "from-environment")
	save("KEY_A", "other") // of the same length, within one tick of the file system's clock
	want("other", "from-environment")
	save("KEY_B", `b"\`)
	want("other", "from-environment") // the environment takes precedence
	if got := k.Getenv("KEY_B"); got != `b"\` {
		t.Errorf("KEY_B is %q, want its saved value", got)
	}
	if removed, err := k.Remove("KEY_A", "KEY_C"); err != nil || !slices.Equal(removed, []string{"KEY_A"}) {
		t.Errorf("removed %q, %v", removed, err)
	}
	want("", "from-environment")
	if removed, err := k.RemoveAll(); err != nil || !slices.Equal(removed, []string{"KEY_B"}) {
		t.Errorf("removed %q, %v", removed, err)
	}
	if removed, err := k.RemoveAll(); err != nil || removed != nil {
		t.Errorf("removed %q, %v, though nothing was there", removed, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 && filepath.Separator == '/' {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A file can set no variable but a provider's key.
func TestKeysAnswersKnown(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, FileName, "HOME = \"/elsewhere\"\nKEY_A = \"a\"\n")
	k := keysIn(dir)
	if home, a := k.Getenv("HOME"), k.Getenv("KEY_A"); home != "" || a != "a" {
		t.Errorf("HOME %q, KEY_A %q, want only KEY_A from the file", home, a)
	}
	if err := k.Save("KEY_B", "b"); err != nil { // keeps keys that it does not know
		t.Fatal(err)
	}
	if removed, err := k.RemoveAll(); err != nil || !slices.Equal(removed, []string{"HOME", "KEY_A", "KEY_B"}) {
		t.Errorf("removed %q, %v", removed, err)
	}
}

func TestKeysWithoutDirectory(t *testing.T) {
	k := keysIn("", "KEY_A=a")
	if a, b := k.Getenv("KEY_A"), k.Getenv("KEY_B"); a != "a" || b != "" || k.Err() != nil {
		t.Errorf("KEY_A %q, KEY_B %q, %v, want KEY_A from the environment", a, b, k.Err())
	}
	if err := k.Save("KEY_B", "b"); err == nil {
		t.Error("a key was saved without a directory")
	}
	if removed, err := k.RemoveAll(); removed != nil || err != nil {
		t.Errorf("removed %q, %v", removed, err)
	}
	// If nothing was ever saved, Remove creates nothing.
	dir := filepath.Join(t.TempDir(), "none")
	if _, err := keysIn(dir).RemoveAll(); err != nil {
		t.Errorf("RemoveAll without a file: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("RemoveAll made the directory")
	}
}

// A file that cannot be used is reported by line, without quoting it. It counts
// as empty and stays unchanged.
func TestKeysBroken(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"no TOML":      {"KEY_A = \"good\"\nKEY_B = secret\n", ":2: want lines"},
		"no name":      {"sk-secret\n", ":1: want lines"},
		"no string":    {"KEY_A = 12\n", ":1: want lines"},
		"table":        {"[keys]\nKEY_A = \"secret\"\n", ":1: want lines"},
		"twice":        {"KEY_A = \"secret\"\nKEY_A = \"secret\"\n", ":2: want lines"},
		"empty":        {"KEY_A = \"\"\n", ":1: want lines"},
		"control":      {`KEY_A = "secret\nX-Header: 1"`, ":1: want lines"},
		"space":        {`KEY_A = " secret"`, ":1: want lines"},
		"no UTF-8":     {"KEY_A = \"secret\xff\"\n", ":1: want lines"},
		"never closed": {"\n\nKEY_A = \"secret", ":3: want lines"},
		"too large":    {"#" + strings.Repeat("secret", MaxBytes/6+1), ": larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, FileName)
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			k := keysIn(dir)
			removed, removeErr := k.RemoveAll()
			for what, err := range map[string]error{"Err": k.Err(), "Save": k.Save("KEY_A", "new"), "RemoveAll": removeErr} {
				if err == nil || !strings.Contains(err.Error(), file+tt.want) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: %v; want %s", what, err, file+tt.want)
				}
			}
			if got, _ := os.ReadFile(file); string(got) != tt.text || k.Getenv("KEY_A") != "" || removed != nil {
				t.Errorf("the file is %q, KEY_A %q, removed %q, want the file unchanged and nothing from it", got, k.Getenv("KEY_A"), removed)
			}
			// The file is not needed if the environment has the key.
			if got := keysIn(dir, "KEY_A=env").Getenv("KEY_A"); got != "env" {
				t.Errorf("KEY_A is %q, want env", got)
			}
			os.Remove(file)
			if err := k.Save("KEY_A", "new"); err != nil || k.Getenv("KEY_A") != "new" {
				t.Errorf("after the broken file was removed, KEY_A is %q, %v, want new", k.Getenv("KEY_A"), err)
			}
		})
	}
}

// Many processes save and remove at once while others read: no key is lost, and
// no reader sees half a file.
func TestKeysConcurrently(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			k, name := keysIn(dir), fmt.Sprintf("OTHER_%d", i)
			for range 10 {
				if err := k.Save(name, "x"); err != nil {
					t.Errorf("save %s: %v", name, err)
				}
				if removed, err := k.Remove(name); err != nil || !slices.Equal(removed, []string{name}) {
					t.Errorf("removed %q, %v", removed, err)
				}
			}
			if err := k.Save(name, "x"); err != nil {
				t.Errorf("save %s at the end: %v", name, err)
			}
		})
		wg.Go(func() {
			for range 50 {
				if err := keysIn(dir).Err(); err != nil {
					t.Errorf("a reader saw a broken file: %v", err)
				}
			}
		})
	}
	wg.Wait()
	saved, err := keysIn(dir).read()
	if err != nil || len(saved) != 8 {
		t.Errorf("%d keys are saved, %v, want 8", len(saved), err)
	}
}

func TestCheckKey(t *testing.T) {
	long := strings.Repeat("k", maxKeyBytes)
	for typed, want := range map[string]string{
		"key":               "key",
		" \tkey\r\n":        "key",
		"\ufeffkey\n":       "key",
		long:                long,
		long + "k":          "",
		"":                  "",
		" \n":               "",
		"two words":         "",
		"two\nlines":        "",
		"\x1b[200~key":      "",
		"key\x00":           "",
		"k\u00e9y":          "",
		"k\u200by":          "",
		"\xff":              "",
		`"'\$#` + "`" + `~`: `"'\$#` + "`" + `~`,
	} {
		got, err := CheckKey(typed)
		if got != want || (err == nil) != (want != "") || err != nil && len(typed) > 3 && strings.Contains(err.Error(), typed) {
			t.Errorf("CheckKey(%q) = %q, %v, want %q", typed, got, err, want)
		}
	}
}

// A saved key is read unchanged.
func FuzzParseKeys(f *testing.F) {
	f.Add([]byte("KEY_A = \"a\"\n'odd name' = 'b'\n"))
	f.Add([]byte("KEY_A = \"\"\"\nsecret\"\"\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		saved, err := parseKeys(data)
		if err != nil {
			return
		}
		again, err := parseKeys(formatKeys(saved))
		if err != nil {
			t.Fatalf("the saved keys cannot be read: %v", err)
		}
		if diff := cmp.Diff(saved, again); diff != "" {
			t.Errorf("(-before +after)\n%s", diff)
		}
	})
}

// BenchmarkGetenv measures the lookup of a saved key.
func BenchmarkGetenv(b *testing.B) {
	dir := b.TempDir()
	k := keysIn(dir)
	if err := k.Save("KEY_A", strings.Repeat("k", 100)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if k.Getenv("KEY_A") == "" {
			b.Fatal("no key")
		}
	}
}

// write writes a file into dir, which it creates, and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
