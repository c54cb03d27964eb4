package integration

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// version2From is the first number of a statement about version 2.
const version2From = 201

// protocolPages list the numbered statements about the protocol.
const protocolPages = "../docs/reference/statements*.md"

// A statement is a numbered line. The line below it names its proofs, which are
// fixtures and tests, or says why it is not proved yet.
var (
	statementLine = regexp.MustCompile(`(?m)^(\d+)\. .+\n   (.+)$`)
	proofName     = regexp.MustCompile("`([^`]+)`")
)

// The numbers of statements begin the name of a fixture (063-064-load.txtar). The comment of a
// test ends with them ("Statements 63, 64.").
var (
	provenByFixture = regexp.MustCompile(`^(\d{3}-)+`)
	provenByTest    = regexp.MustCompile(`(?m)^// Statements? (\d+(?:, \d+)*)\.\nfunc (Test\w+)\(`)
	number          = regexp.MustCompile(`\d+`)
)

// TestEveryStatementHasAProof compares the pages with the fixtures and tests: each statement lists
// exactly the proofs that have its number.
func TestEveryStatementHasAProof(t *testing.T) {
	proofs := proofsByNumber(t)
	statements := protocolStatements(t)
	if len(statements) < 100 {
		t.Fatalf("%s have %d statements", protocolPages, len(statements))
	}
	next := 1
	for _, s := range statements {
		if s.number != next && s.number != version2From {
			t.Fatalf("statement %d is listed where %d belongs", s.number, next)
		}
		next = s.number + 1
		var listed []string
		for _, m := range proofName.FindAllStringSubmatch(s.proofs, -1) {
			listed = append(listed, m[1])
		}
		slices.Sort(listed)
		if want := proofs[s.number]; !slices.Equal(listed, want) {
			t.Errorf("statement %d lists the proofs %q, want %q", s.number, listed, want)
		}
		if listed == nil && !strings.HasPrefix(s.proofs, "*Not proved yet: ") {
			t.Errorf("statement %d has neither a proof nor a reason", s.number)
		}
		delete(proofs, s.number)
	}
	for n, names := range proofs {
		t.Errorf("there is no statement %d: %s", n, names)
	}
}

// statement is one numbered statement of the protocol pages.
type statement struct {
	number int
	proofs string // the line below
}

// protocolStatements returns the statements of all protocol pages, by number.
func protocolStatements(t *testing.T) []statement {
	t.Helper()
	var all []statement
	for _, page := range glob(t, protocolPages) {
		for _, m := range statementLine.FindAllStringSubmatch(read(t, page), -1) {
			n, _ := strconv.Atoi(m[1])
			all = append(all, statement{n, m[2]})
		}
	}
	slices.SortFunc(all, func(a, b statement) int { return a.number - b.number })
	return all
}

// proofsByNumber returns the sorted names of fixtures and tests by statement number.
func proofsByNumber(t *testing.T) map[int][]string {
	t.Helper()
	proofs := map[int][]string{}
	note := func(numbers, proof string) {
		for _, digits := range number.FindAllString(numbers, -1) {
			n, _ := strconv.Atoi(digits)
			proofs[n] = append(proofs[n], proof)
		}
	}
	for _, file := range glob(t, "../protocol-fixtures/*.txtar") {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		note(provenByFixture.FindString(name), name)
	}
	for _, file := range slices.Concat(glob(t, "*_test.go"), glob(t, "../cmd/zeph-acp/*_test.go"), glob(t, "../acp/*_test.go"), glob(t, "../session/*_test.go")) {
		for _, m := range provenByTest.FindAllStringSubmatch(read(t, file), -1) {
			note(m[1], m[2])
		}
	}
	for _, names := range proofs {
		slices.Sort(names)
	}
	return proofs
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || files == nil {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	return files
}
