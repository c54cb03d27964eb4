package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestStatus(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		code   int
		stderr string
	}{
		"no error":  {nil, 0, ""},
		"failure":   {errors.New("opening x: gone\n"), 1, "zeph-acp: opening x: gone\n"},
		"two lines": {errors.New("a\nb"), 1, "zeph-acp: a b\n"},
		"usage":     {Usagef("want %s", "x"), 2, "zeph-acp: want x\n"},
		"said":      {&ExitError{Code: 3}, 3, ""},
		"wrapped":   {fmt.Errorf("run: %w", &ExitError{3, errors.New("refused")}), 3, "zeph-acp: run: refused\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if code := PrintError(tt.err, &b); code != tt.code || b.String() != tt.stderr {
				t.Errorf("status %d, %q; want %d, %q", code, b.String(), tt.code, tt.stderr)
			}
		})
	}
}
