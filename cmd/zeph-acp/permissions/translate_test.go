package permissions_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/permissions"
	"github.com/zeph-acp/zeph-acp/executors"
)

var update = flag.Bool("update", false, "rewrite the expected translations")

// TestTranslate compares translations with those in testdata/translate. Each archive has
// the file of another agent, the rules as TOML, and the rules that are left out.
func TestTranslate(t *testing.T) {
	files, err := filepath.Glob("testdata/translate/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var i *permissions.Import
			switch in := archive.Files[0]; in.Name {
			case "settings.json":
				i, err = permissions.Claude(in.Data, cataloguetest.Known())
			case "policy.toml":
				i, err = permissions.Gemini(in.Data, cataloguetest.Known())
			}
			if err != nil {
				t.Fatal(err)
			}
			text, left := i.Text(), ""
			if len(i.DenyRead) > 0 {
				text = "deny_read = " + permissions.List(i.DenyRead) + "\n\n" + text
			}
			for _, l := range i.Untranslated {
				left += l.Rule + ": " + l.Reason + "\n"
			}
			got := append(archive.Files[:1:1], txtar.File{Name: "rules", Data: []byte(text)}, txtar.File{Name: "left", Data: []byte(left)})
			if *update {
				archive.Files = got
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(txtar.Format(&txtar.Archive{Files: archive.Files})), string(txtar.Format(&txtar.Archive{Files: got}))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestDropAllows checks that no rule of a project allows calls in others.
func TestDropAllows(t *testing.T) {
	i, err := permissions.Claude([]byte(`{"permissions":{"allow":["Bash(make)"],"deny":["Bash(curl *)"]}}`), cataloguetest.Known())
	if err != nil {
		t.Fatal(err)
	}
	i.DropAllows()
	if text := i.Text(); strings.Contains(text, "allow") || !strings.Contains(text, "curl") || len(i.Untranslated) != 1 {
		t.Errorf("untranslated %v, want the rule that allows make, and only that for curl in\n%s", i.Untranslated, text)
	}
}

// TestMerge checks that a file which denies wins over one which allows.
func TestMerge(t *testing.T) {
	a, err := permissions.Claude([]byte(`{"permissions":{"allow":["Bash(git:*)"]}}`), cataloguetest.Known())
	if err != nil {
		t.Fatal(err)
	}
	b, err := permissions.Claude([]byte(`{"permissions":{"deny":["Bash(git push:*)"]}}`), cataloguetest.Known())
	if err != nil {
		t.Fatal(err)
	}
	check := checker(t, permissions.Merge([]*permissions.Import{a, b}))
	if got := check("bash", "git push"); got != "deny" {
		t.Errorf("git push: %s, want deny", got)
	}
	if got := check("bash", "git fetch"); got != "allow" {
		t.Errorf("git fetch: %s, want allow", got)
	}
}

func TestMalformed(t *testing.T) {
	for text, read := range map[string]func([]byte, []executors.Tool) (*permissions.Import, error){
		`{"permissions":{"allow":"Bash"}}`: permissions.Claude,
		`[`:                                permissions.Claude,
		`[[rule]`:                          permissions.Gemini,
	} {
		if _, err := read([]byte(text), cataloguetest.Known()); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// FuzzImport checks that no input makes a translation panic, or write a
// configuration with mistakes.
func FuzzImport(f *testing.F) {
	f.Add(`{"permissions":{"allow":["Bash(a *)","Edit(**/x)"],"deny":["Read(//a)"]}}`)
	f.Add("[[rule]]\ntoolName = \"*\"\ncommandPrefix = [\"a\"]\ndecision = \"deny\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func([]byte, []executors.Tool) (*permissions.Import, error){permissions.Claude, permissions.Gemini} {
			i, err := read([]byte(text), cataloguetest.Known())
			if err != nil {
				continue
			}
			if mistakes := mistakesIn(i.Text()); mistakes != "" {
				t.Errorf("%s\n%s", mistakes, i.Text())
			}
		}
	})
}
