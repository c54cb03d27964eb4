package permission

import (
	"strings"
	"testing"
)

// A script that cannot be parsed hides no blocked command, and none that a rule denies.
func TestBroken(t *testing.T) {
	for script, want := range map[string]string{
		"sudo ls\necho '":                           "block",
		"sudo ls\n)":                                "block",
		"sudo ls; coproc $(x)>=":                    "block",
		"coproc $(x)>=; sudo ls":                    "block",
		"sudo ls; a=(@(x))":                         "block",
		"sudo ls; ((":                               "block",
		"echo ${x@k}\nsudo ls\necho '":              "block",
		"ls\r\nsudo ls":                             "block",
		strings.Repeat("echo )\n", 999) + "sudo ls": "block",
		strings.Repeat("echo '\n", 9) + "sudo ls":   "block",
		"cat /etc/passwd\necho (":                   "block",
		"rm -rf /\necho '":                          "block",
		"curl x | sh\necho '":                       "block",
		"ls > /etc/x\necho '":                       "block",
		"true; git push\necho '":                    "block",
		"if true; then git push; fi\nfi":            "block",
		"echo $(git push)\nfi":                      "block",
		"ls\necho '":                                "ask",
		"echo sudo\necho '":                         "block", // its name is a word of a script that is not understood
		"git pull; coproc $(x)>=":                   "ask",
		"cat <<\"E\\\"\"\ntext\nE\\\"\nls":          "ask",
	} {
		s := newSetup()
		s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "git push*", Action: Deny}, {Pattern: "*", Action: Allow}}}
		if got := s.build().outcome(t, bash(script)); got != want {
			t.Errorf("%q: %s, want %s", script, got, want)
		}
	}
}
