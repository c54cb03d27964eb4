package executors

import "testing"

// People see a sentence; the block is for models.
func TestForUser(t *testing.T) {
	rejected := Failuref(PolicyBlocked, "not allowed: the user rejected it").ForUser("You rejected this.").Result()
	late := Failuref(Timeout, "stopped after %s", "1s").Result()
	late.Text, late.Notes = "so far\n", []string{"[exit 1]"}
	rules := Failuref(ConfirmationRequired, "it needs permission").ForUser("This needs your permission:").Result()
	rules.Below("\n[[rule]]")
	for name, tt := range map[string]struct {
		result Result
		want   string
	}{
		"a sentence of its own": {rejected, "You rejected this."},
		"its error":             {Failf(PermanentFailure, "no such file: a.txt"), "No such file: a.txt."},
		"a name":                {Failf(PermanentFailure, "sub is a directory, not a file"), "sub is a directory, not a file."},
		"a path":                {Failf(PolicyBlocked, "../a is outside"), "../a is outside."},
		"output below":          {late, "Stopped after 1s.\nso far\n[exit 1]"},
		"rules below":           {rules, "This needs your permission:\n\n[[rule]]"},
		"what a command wrote":  {Result{Text: "[tool_error]\nno block", Failed: true}, "[tool_error]\nno block"},
		"no failure":            {Result{Text: late.ForModel()}, late.ForModel()},
		"an ordinary exit code": {Result{Text: "a\n[exit 1]", Failed: true}, "a\n[exit 1]"},
		"several lines":         {Failf(ServerError, "a\nsuggestion: b\nc"), "A suggestion: b c."},
	} {
		if got := tt.result.ForPeople(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
