package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// statements is how many the conformance checklist has that the names of
// fixtures and tests refer to.
const statements = 136

// exempt are the statements that nobody has to prove yet, with the reason.
var exempt = map[int]string{
	58:  "MCP servers are validated, and not started yet",
	60:  "MCP servers are validated, and not started yet",
	61:  "MCP servers are validated, and not started yet",
	104: "there are no sub-agents yet",
}

// The numbers stand at the beginning of a fixture's name, 063-064-load.txtar, and
// of a test's, TestStatement063_064Load.
var (
	provenByFixture = regexp.MustCompile(`^(\d{3}-)+`)
	provenByTest    = regexp.MustCompile(`(?m)^func TestStatement(\d{3}(?:_\d{3})*)\D`)
	number          = regexp.MustCompile(`\d{3}`)
)

// TestEveryStatementHasAProof fails for a statement of the checklist that no
// fixture and no test names, and for a number that is none.
func TestEveryStatementHasAProof(t *testing.T) {
	proofs := map[int][]string{}
	note := func(numbers, proof string) {
		for _, digits := range number.FindAllString(numbers, -1) {
			n, _ := strconv.Atoi(digits)
			proofs[n] = append(proofs[n], proof)
		}
	}
	for _, file := range glob(t, "../protocol-fixtures/*.txtar") {
		name := filepath.Base(file)
		note(provenByFixture.FindString(name), name)
	}
	for _, file := range append(glob(t, "*_test.go"), glob(t, "../cmd/zeph-acp/*_test.go")...) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range provenByTest.FindAllSubmatch(source, -1) {
			note(string(m[1]), file)
		}
	}
	var missing []string
	for n := 1; n <= statements; n++ {
		switch reason := exempt[n]; {
		case reason != "" && proofs[n] != nil:
			t.Errorf("statement %d is proven by %s: it is not exempt any more (%s)", n, proofs[n], reason)
		case reason == "" && proofs[n] == nil:
			missing = append(missing, fmt.Sprint(n))
		}
		delete(proofs, n)
	}
	if missing != nil {
		t.Errorf("nobody proves the statements %s", strings.Join(missing, ", "))
	}
	for n, names := range proofs {
		t.Errorf("there is no statement %d: %s", n, names)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || files == nil {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	return files
}
