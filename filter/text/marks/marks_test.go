package marks

import "testing"

// A line with a mark gets its value back where it is otherwise unchanged. Any other line with a mark
// is named.
func TestRestore(t *testing.T) {
	const (
		old    = "# a\nuser = rosa\npassword = one-Q7x\nkey = 12345\npassword = two-Q7x\nend\n"
		masked = "# a\nuser = rosa\npassword = [REDACTED]\nkey = *****\npassword = [REDACTED]\nend\n"
	)
	for name, tt := range map[string]struct {
		text, want string
		line       int
	}{
		"nothing changed": {masked, old, 0},
		"another line": {"# b\nuser = rosa\npassword = [REDACTED]\nkey = *****\npassword = [REDACTED]\nend\n",
			"# b\nuser = rosa\npassword = one-Q7x\nkey = 12345\npassword = two-Q7x\nend\n", 0},
		"one removed": {"# a\nuser = rosa\nkey = *****\npassword = [REDACTED]\nend\n", "# a\nuser = rosa\nkey = 12345\npassword = two-Q7x\nend\n", 0},
		"one more line": {"# a\nx\nuser = rosa\npassword = [REDACTED]\ny\nkey = *****\npassword = [REDACTED]\nend\nz\n",
			"# a\nx\nuser = rosa\npassword = one-Q7x\ny\nkey = 12345\npassword = two-Q7x\nend\nz\n", 0},
		"windows line endings": {"# b\r\nkey = *****\r\n", "# b\r\nkey = 12345\r\n", 0},
		"ambiguous":            {"# b\npassword = [REDACTED]\n", "", 2},
		"the line changed":     {"# a\nuser = rosa\npass = [REDACTED]\n", "", 3},
		"a new value":          {"# a\npassword = new\n", "# a\npassword = new\n", 0},
		"stars of its own":     {"# ****\n", "# ****\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got, line := Restore(old, masked, tt.text); got != tt.want || line != tt.line {
				t.Errorf("line %d, want %d\n got %q\nwant %q", line, tt.line, got, tt.want)
			}
		})
	}
	if got, line := Restore("see [REDACTED:aws key]\n", "see [REDACTED:aws key]\n",
		"so\nsee [REDACTED:aws key]\n"); line != 0 || got != "so\nsee [REDACTED:aws key]\n" {
		t.Errorf("the file's own mark: line %d, %q", line, got)
	}
	if _, line := Restore("", "", "a\n[REDACTED:aws key]\n"); line != 2 {
		t.Errorf("in a new file: line %d", line)
	}
}
