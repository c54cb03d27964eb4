package integration

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
)

// ruleSets are rules as users write them.
var ruleSets = map[string]string{
	"none":            "",
	"echo and go":     ruleTables("allow echo *", "allow go *", "allow cat *"),
	"all but push":    ruleTables("deny git push*", "ask rm *", "allow *"),
	"docker and npm":  ruleTables("deny docker compose down*", "deny npm publish*", "allow npm run *", "allow git *", "allow true *"),
	"only redirected": ruleTables("allow printf *", "allow wc *", "ask cat b*", "deny sort -o*", "allow sort *"),
}

// ruleTables returns the tables of rules, each an action and a pattern.
func ruleTables(rules ...string) string {
	var b strings.Builder
	for _, r := range rules {
		action, pattern, _ := strings.Cut(r, " ")
		fmt.Fprintf(&b, "[[tools.permissions.bash]]\npattern = %q\naction = %q\n", pattern, action)
	}
	return b.String()
}

// ruleCommands are more than 300 commands: each command with each end.
func ruleCommands() []string {
	commands := []string{
		"echo a", "cat a.txt", "cat b.txt", "printf a", "wc -l a.txt", "sort a.txt", "true x", "ls", "go version", "go env GOPATH", "git status", "git log -1",
		"git --unknown x push", "git push", "npm run x", "x=1 npm run x", "npm_config_a=b npm run x", "CI=1 npm run x", "docker compose -f x down -v",
		"rm missing", "false",
		"cd sub && cat ../a.txt", "echo $(cat a.txt)", "for i in 1 2; do echo $i; done", "timeout 5 echo a", "sh -c 'echo a'", "cat <<< x", "export a=1; echo $a",
	}
	ends := []string{"", " > out.txt", " >> out.txt 2>&1", " 2> /dev/null", " | wc -l", " > .envrc", " > .git/x", " > ../x", " && echo done",
		" > sub/o; cat sub/o", " | sort > out.txt", " &> out.txt"}
	var all []string
	for _, c := range commands {
		for _, end := range ends {
			all = append(all, c+end)
		}
	}
	return all
}

// failing ends a command as one that failed in the box.
const failing = "; echo GOPROXY=off; false"

// TestCheckEqualsRunWithRules checks commands with rules in a check and in a run: for redirections, and
// for second calls of commands that failed in the box.
func TestCheckEqualsRunWithRules(t *testing.T) {
	all := ruleCommands()
	if len(all) < 300 {
		t.Fatalf("only %d commands", len(all))
	}
	pool := newPool(t)
	for name, rules := range ruleSets {
		t.Run(name, func(t *testing.T) {
			f := newScriptRunner(t, pool, sdk.ClientCapabilities{}, "code", rules)
			td, session := f.enter("clean")
			write(t, td.Dir+"/a.txt", "a\n")
			write(t, td.Dir+"/b.txt", "b\n")
			write(t, td.Dir+"/sub/c.txt", "c\n")
			l, err := config.Load(config.Options{Environ: f.cmd.Env})
			if err != nil {
				t.Fatal(err)
			}
			checker, err := app.New(l, slog.New(slog.DiscardHandler)).Checker(td.Dir, string(f.mode))
			if err != nil {
				t.Fatal(err)
			}
			check := func(script string) app.Check {
				input, err := json.Marshal(map[string]string{"command": script})
				if err != nil {
					t.Fatal(err)
				}
				c, err := checker.Check(t.Context(), "bash", input)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			counts := map[executors.Decision]int{}
			for i, script := range all {
				if i%extent(14, 1) != 0 {
					continue
				}
				c := check(script)
				counts[c.Decision]++
				input, _ := json.Marshal(map[string]string{"command": script})
				f.equal(session, "clean", "bash", string(input), string(c.Decision), c.Rule, c.Links)
			}
			twice := 0
			for _, script := range []string{"ls", "cat a.txt", "wc -l a.txt", "git status", "echo a", "sort a.txt", "cat a.txt | wc -l", "go version",
				"cd sub && ls", "true x"} {
				script += failing
				c := check(script)
				input, _ := json.Marshal(map[string]string{"command": script})
				f.equal(session, "clean", "bash", string(input), string(c.Decision), c.Rule, c.Links)
				if c.Again != "" {
					twice++
					f.equal(session, "clean", "bash", string(input), string(c.Again), c.AgainRule, nil)
				}
			}
			if twice == 0 && name == "none" {
				t.Error("no command ran in the box")
			}
			t.Logf("%v", counts)
			if name != "none" && counts[executors.Allow] == 0 || name != "all but push" && counts[executors.Ask] == 0 {
				t.Errorf("too few decisions: %v", counts)
			}
		})
	}
}
