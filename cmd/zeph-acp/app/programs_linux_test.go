package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/process/program"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// The programs that zeph-acp starts for itself reach their directories and nothing else.
func TestProgramsAreConfined(t *testing.T) {
	if abi, why := sandbox.Available(); abi <= 0 {
		t.Skip(why)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-key")
	for name, text := range map[string]string{
		"project/f": "text\n", "project/evil": "#!/bin/sh\necho ran\n", "copy/f": "text\n", ".ssh/id": "secret\n", "other/f": "secret\n",
	} {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"link": "../other/f", "link2": filepath.Join(home, ".ssh/id")} {
		if err := os.Symlink(target, filepath.Join(home, "project", name)); err != nil {
			t.Fatal(err)
		}
	}
	programs := Programs(setting.Default[config.Config](), nil)
	for script, want := range map[string]string{
		"ls -d link link2 | xargs sha256sum || echo no": "no\n", // the hash of a short secret is the secret
		"cat f":                     "text\n",
		"cat ../other/f || echo no": "no\n",
		"cat ../.ssh/id || echo no": "no\n",
		"ls ..  || echo no":         "no\n",
		"./evil || echo no":         "no\n",
		"echo x > f || echo no":     "no\n",
		"chmod 600 ../copy/f && echo x >> ../copy/f && mkdir ../copy/d && cat ../copy/f": "text\nx\n",
		"cp evil ../copy/evil; ../copy/evil || echo no":                                  "no\n",
		"echo \"$ANTHROPIC_API_KEY\"":                                                    "\n",
		"echo x > \"$TMPDIR/f\" && cat \"$TMPDIR/f\"":                                    "x\n",
	} {
		out, err := programs.Run(t.Context(), program.Command{
			Name: "sh", Args: []string{"-c", script}, Dir: filepath.Join(home, "project"),
			Read: []string{filepath.Join(home, "project")}, Write: []string{filepath.Join(home, "copy")},
		})
		if string(out) != want {
			t.Errorf("%s: got %q, want %q, %v", script, out, want, err)
		}
	}
}
