package imports

import (
	"os"
	"strings"
	"testing"
)

// TestDeep checks that settings which would overflow the stack of the parser are refused, and no others.
func TestDeep(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, maxNesting)
	for text, want := range map[string]bool{
		deep:                           true,
		"// \"\n" + deep:               true,
		"/* \" */" + deep:              true,
		`["\"", "\\", /**/` + deep:     true,
		strings.Repeat("[]", 1<<15):    false,
		"// " + deep:                   false,
		"/* " + deep:                   false,
		`"` + strings.Repeat("[", 1e5): false,
		`"\`:                           false,
		"/":                            false,
	} {
		if isDeep([]byte(text)) != want {
			t.Errorf("%.20q: not %t", text, want)
		}
	}
	i := importer{}
	var into any
	file := t.TempDir() + "/settings.json"
	if err := os.WriteFile(file, []byte(strings.Repeat("[", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if i.readJSON(file, &into) {
		t.Error("it was read")
	}
}
