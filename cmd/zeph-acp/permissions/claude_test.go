package permissions_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/permissions"
)

// TestClaudeCalls decides sample calls by translated settings. Each decision is the
// documented one, or "ask".
func TestClaudeCalls(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/claude.txtar")
	if err != nil {
		t.Fatal(err)
	}
	i, err := permissions.Claude(archive.Files[0].Data, cataloguetest.Known())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range i.Untranslated {
		t.Logf("left out %s: %s", l.Rule, l.Reason)
	}
	check := checker(t, i)
	calls, same := strings.Split(strings.TrimSpace(string(archive.Files[1].Data)), "\n"), 0
	for _, call := range calls {
		want, rest, _ := strings.Cut(call, " ")
		tool, text, _ := strings.Cut(rest, " ")
		got := check(tool, text)
		if got == want {
			same++
		} else if got != "ask" {
			t.Errorf("%s %s: %s, documented %s", tool, text, got, want)
		}
	}
	if len(calls) < 100 || same*10 < len(calls)*8 {
		t.Errorf("%d of %d decisions are the documented ones", same, len(calls))
	}
	t.Logf("%d of %d decisions are the documented ones; the others ask", same, len(calls))
}

// checker returns a function that decides a call by the imported rules.
func checker(t *testing.T, i *permissions.Import) func(tool, text string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, work := filepath.Join(root, "home"), filepath.Join(root, "work")
	for _, dir := range []string{home, filepath.Join(work, "secrets"), filepath.Join(work, "docs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".env", "main.go", "docs/a.md", "secrets/key", "server.pem"} {
		if err := os.WriteFile(filepath.Join(work, name), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(home, "config.toml")
	text := i.Text()
	if len(i.DenyRead) > 0 {
		text += "\n[tools.file]\ndeny_read = " + permissions.List(i.DenyRead) + "\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Options{File: file, Environ: []string{"HOME=" + home, "ZEPH_HOME=" + home, "PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	c, err := app.New(l, slog.New(slog.DiscardHandler)).Checker(work, "code")
	if err != nil {
		t.Fatal(err)
	}
	return func(tool, text string) string {
		t.Helper()
		input, err := c.Input(tool, text)
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.Check(t.Context(), tool, input)
		if err != nil {
			t.Fatal(err)
		}
		return string(out.Decision)
	}
}

// mistakesIn returns the first mistake of a configuration, or "".
func mistakesIn(text string) string {
	file, err := os.CreateTemp("", "config-*.toml")
	if err != nil {
		return err.Error()
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err == nil {
		_, err = config.Load(config.Options{File: file.Name(), Environ: []string{"HOME=/"}})
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
