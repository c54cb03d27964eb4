package keys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestLogins(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	l := NewLogins(dir)
	set := func(server, login string) {
		t.Helper()
		if err := l.Change(server, func([]byte) ([]byte, error) { return []byte(login), nil }); err != nil {
			t.Fatal(err)
		}
	}
	want := func(server, login string) {
		t.Helper()
		if got, err := NewLogins(dir).Load(server); err != nil || strings.Join(strings.Fields(string(got)), "") != login {
			t.Errorf("%s: %q, %v; want %q", server, got, err, login)
		}
	}
	want("https://a", "")
	set("https://a", `{"token":1}`)
	set("https://b", `{"token":2}`)
	want("https://a", `{"token":1}`)
	if err := l.Change("https://a", func(old []byte) ([]byte, error) { return nil, errors.New("not renewed") }); err == nil {
		t.Error("the error is lost")
	}
	want("https://a", `{"token":1}`)
	if info, err := os.Stat(filepath.Join(dir, LoginsFile)); err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("the file has the mode %v, %v, want one that only the user can read", info.Mode(), err)
	}
	for _, server := range []string{"https://a", "https://b", "https://c"} {
		if err := l.Change(server, func([]byte) ([]byte, error) { return nil, nil }); err != nil {
			t.Errorf("forget %s: %v", server, err)
		}
		want(server, "")
	}
	if _, err := os.Stat(filepath.Join(dir, LoginsFile)); err == nil {
		t.Error("a file without logins was kept")
	}
}

func TestLoginsConcurrently(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			err := NewLogins(dir).Change("https://a", func(old []byte) ([]byte, error) {
				n := 0
				fmt.Sscan(string(old), &n)
				return fmt.Append(nil, n+1), nil
			})
			if err != nil {
				t.Errorf("Change: %v", err)
			}
		})
	}
	wg.Wait()
	if got, err := NewLogins(dir).Load("https://a"); string(got) != "20" || err != nil {
		t.Errorf("the login was changed to %s, %v, want 20", got, err)
	}
}

func TestLoginsBroken(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, LoginsFile, `{"https://a": {"access_token": "secret"`)
	l := NewLogins(dir)
	_, err := l.Load("https://a")
	for _, err := range []error{err, l.Change("https://a", func([]byte) ([]byte, error) { return []byte("1"), nil })} {
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), LoginsFile) {
			t.Errorf("got %v, want an error that names %s and not the token", err, LoginsFile)
		}
	}
}
