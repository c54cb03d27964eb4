package findings

import "testing"

// TestFindingsWrap checks that findings fit a terminal, and that the lines of their texts stay.
func TestFindingsWrap(t *testing.T) {
	answer := []byte(`{"findings":[{"file":"a.go","line":5,"severity":"error","title":"Zero","text":"The caller cannot tell it from a result.\n\n\treturn err"}]}`)
	got, err := Format(answer, -1, false, 30)
	want := "a.go:5: error: Zero\n  | The caller cannot tell it\n  | from a result.\n  | \n  | \treturn err\n\n1 finding: 1 error\n"
	if string(got) != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
