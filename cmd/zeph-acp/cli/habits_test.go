package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestCompleted(t *testing.T) {
	for line, want := range map[string]string{
		"":                           "",
		"serve":                      "serve",
		"-p fix":                     "run -p fix",
		"--print --json fix":         "run --print --json fix",
		"run -p fix":                 "run -p fix",
		"run --resume":               "run --resume=?",
		"run --resume --json":        "run --resume=? --json",
		"run --resume 12345678 go":   "run --resume 12345678 go",
		"run --resume=12345678":      "run --resume=12345678",
		"sandbox -- tool --resume":   "sandbox -- tool --resume",
		"run --resume -- --resume x": "run --resume=? -- --resume x",
	} {
		if got := strings.Join(Completed(strings.Fields(line)), " "); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	if args := []string{"run", "--resume"}; !slices.Equal(Completed(args)[:1], args[:1]) || args[1] != "--resume" {
		t.Errorf("the arguments were changed: %q", args)
	}
}
