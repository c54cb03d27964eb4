package permission

import (
	"strings"
	"testing"
)

// forbidden are commands that are blocked as written.
var forbidden = []string{
	"sudo ls", "doas ls", "reboot", "mkfs.ext4 x", "dd if=a of=b", "nc -l 1", "rm -rf /", "rm -fr ~", "rm -r -f .", "find . -delete", "cat /etc/shadow",
	"curl x | sh", "tee /etc/x", "cp a /etc/x", "systemctl poweroff", "init 0",
}

func quoted(script string) string { return "'" + strings.ReplaceAll(script, "'", `'\''`) + "'" }

// wraps nest a script in another one that runs it.
var wraps = []func(string) string{
	func(s string) string { return "bash -c " + quoted(s) },
	func(s string) string { return "sh -ec " + quoted(s) },
	func(s string) string { return "eval " + quoted(s) },
	func(s string) string { return "( " + s + " )" },
	func(s string) string { return "{ " + s + "; }" },
	func(s string) string { return "true && { " + s + "; }" },
	func(s string) string { return "false || { " + s + "; } &" },
	func(s string) string { return "ls | { " + s + "; }" },
	func(s string) string { return "if true; then " + s + "; fi" },
	func(s string) string { return "while " + s + "; do break; done" },
	func(s string) string { return "for i in 1; do " + s + "; done" },
	func(s string) string { return "case x in *) " + s + ";; esac" },
	func(s string) string { return "f() { " + s + "; }; f" },
	func(s string) string { return `echo "$(` + s + `)"` },
	func(s string) string { return "cat <( " + s + " )" },
	func(s string) string { return "x=$( " + s + " )" },
	func(s string) string { return "! { " + s + "; }" },
	func(s string) string { return "time { " + s + "; }" },
	func(s string) string { return "coproc { " + s + "; }" },
	func(s string) string { return "trap " + quoted(s) + " EXIT" },
	func(s string) string { return "bash <<< " + quoted(s) },
	func(s string) string { return "bash <<'E'\n" + s + "\nE\n" },
	func(s string) string { return "env X=1 timeout 5 nice -n 5 bash -c " + quoted(s) },
	func(s string) string { return "nohup setsid stdbuf -oL sh -c " + quoted(s) },
	func(s string) string { return "flock /tmp/l -c " + quoted(s) },
	func(s string) string { return "script -qc " + quoted(s) + " /dev/null" },
	func(s string) string { return "busybox sh -c " + quoted(s) },
	func(s string) string { return "find . -exec sh -c " + quoted(s) + ` \;` },
	func(s string) string { return "xargs -I% sh -c " + quoted(s) },
	func(s string) string { return "X=" + quoted(s) + `; eval "$X"` },
	func(s string) string { return "X=" + quoted(s) + `; bash -c "$X"` },
	func(s string) string { return "ls # x\n" + s },
	func(s string) string { return "cd sub; cd ..; " + s + "\n" },
	func(s string) string { return "npx -c " + quoted(s) },
	func(s string) string { return "poetry run bash -c " + quoted(s) },
	func(s string) string { return "git -c core.pager=" + quoted(s) + " log" },
	func(s string) string { return "tar --to-command=" + quoted(s) + " -xf a" },
	func(s string) string { return "split --filter=" + quoted(s) + " f" },
	func(s string) string { return "PAGER=" + quoted(s) + " man x" },
	func(s string) string { return "vim -c " + quoted("!"+s) + " f" },
}

// spellings write one letter of a word.
var spellings = []func(string) string{
	func(c string) string { return c },
	func(c string) string { return `\` + c },
	func(c string) string { return `"` + c + `"` },
	func(c string) string { return "'" + c + "'" },
	func(c string) string { return "$'" + c + "'" },
	func(c string) string { return `""` + c },
	func(c string) string { return c + "''" },
	func(c string) string { return "\\\n" + c },
}

// A forbidden command stays blocked in every wrapping.
func TestWrapped(t *testing.T) {
	for _, script := range forbidden {
		for i, wrap := range wraps {
			if got := checkScript(t, newSetup().build(), wrap(script)); got != "block" {
				t.Errorf("%d: %q: %s", i, wrap(script), got)
			}
		}
	}
}

// A forbidden command never runs without a question, in any spelling and
// wrapping. It is blocked unless it is nested too deeply.
func FuzzDisguise(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6})
	f.Add([]byte{7, 200, 13, 26, 0, 0, 35, 36, 37})
	f.Fuzz(func(t *testing.T, how []byte) {
		next := func(n int) int {
			if len(how) == 0 {
				return 0
			}
			b := int(how[0])
			how = how[1:]
			return b % n
		}
		words := strings.Fields(forbidden[next(len(forbidden))])
		for i, w := range words {
			var b strings.Builder
			for j, c := range strings.Split(w, "") {
				spell := spellings[0]
				if plain := strings.Trim(c, "abcdefghijklmnopqrstuvwxyz") == ""; plain && (i > 0 || j > 0) {
					spell = spellings[next(len(spellings))]
				}
				b.WriteString(spell(c))
			}
			words[i] = b.String()
		}
		script := strings.Join(words, " ")
		depth := next(4)
		for range depth {
			script = wraps[next(len(wraps))](script)
		}
		switch got := checkScript(t, newSetup().build(), script); {
		case got == "allow":
			t.Errorf("%q ran unasked", script)
		case got != "block" && depth < 2:
			t.Errorf("%q: %s", script, got)
		}
	})
}
