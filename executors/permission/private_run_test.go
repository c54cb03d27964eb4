//go:build unix

package permission

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"
)

// Random scripts of various spellings and programs are checked, and those that
// may run without a question are run. None of them shows the keys.
func TestPrivateByRunning(t *testing.T) {
	program, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	s, home := atHome(t, false)
	link(t, home, false)
	for name, text := range map[string]string{".config/zeph-acp/keys.toml": "SECRET\n", "keys.toml": "", "src/keys.toml": "", "src/a.go": "x\n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../.config", filepath.Join(home, "src/cfg")); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 1))
	ran, scripts := 0, commands.Scale(1500)
	for range scripts {
		script := randomScript(rng, home)
		call := bashIn(home, home, script)
		if s.outcome(t, call) != "allow" {
			continue
		}
		ran++
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		cmd := exec.CommandContext(ctx, program, "-c", script)
		cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		out, _ := cmd.CombinedOutput()
		cancel()
		for _, shown := range []string{"SECRET", "TERCES", "U0VDUkVU", "S   E   C   R"} {
			if strings.Contains(string(out), shown) {
				t.Errorf("%q ran unasked and shows\n%.200s", script, out)
			}
		}
	}
	if ran < scripts/30 {
		t.Errorf("only %d scripts ran", ran)
	}
}

// randomScript returns a script that reads files, some of them the keys.
func randomScript(rng *rand.Rand, home string) string {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	file := func() string {
		return pick("", "./", "~/", "$HOME/", home+"/", "src/../", "src/link/../../", "$PWD/", "~+/", "src/cfg/../../", "/proc/self/cwd/", ".//") +
			pick(".config/zeph-acp", ".config/*", ".c*/z*", ".config/zeph?acp", ".config/{zeph-acp,other}", ".config", ".", "src", "src/link", "src/cfg", "*", ".*",
				"src/*", `.con\fig/zeph-acp`, `".config"/"zeph-acp"`, "src/l?nk", "$D", "plain", "src/a.go") +
			pick("", "", "/", "/keys.toml", "/*", "/k*", "/../zeph-acp/keys.toml", "/hard", "/zeph-acp/keys.toml", "/*/keys.toml", "/*/*", "/{keys,x}.toml", "/..")
	}
	script := pick("cat", "head", "tail -n +1", "grep -r ''", "grep ''", "rg SECRET", "sort", "sed -n 1p", "diff -u /dev/null", "od -c", "ls", "ls -R", "find",
		"wc", "rev", "base64", "cat <", "echo", "xargs cat <<<", "stat", "grep -hd recurse SECRET",
		"while read l; do echo $l; done <", "diff -rN src", "du", "git diff --no-index /dev/null") + " " + file()
	for range rng.IntN(3) {
		switch rng.IntN(7) {
		case 0:
			script = "cd " + pick(".config", "src", "..", "src/link", "src/cfg", "~", ".config/zeph-acp", "src/..", "-") + pick(" && ", "; ", " || ") + script
		case 1:
			script = "(" + script + "); ls"
		case 2:
			script += " | " + pick("cat", "sort", "xargs cat")
		case 3:
			script = "timeout 5 " + script
		case 4:
			script = "echo $(" + script + ")"
		case 5:
			script = fmt.Sprintf("bash -c \"%s\"", strings.ReplaceAll(script, `"`, `\"`))
		case 6:
			script = "D=" + pick(".config/zeph-acp", "~/.config", "src/link") + "; " + script
		}
	}
	return script
}
