package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// protocolPage lists what the agent promises about the protocol.
const protocolPage = "../docs/protocol.md"

// A statement of the page is a numbered line. The line below it names its proofs,
// fixtures and tests, or says why it is not proved yet.
var (
	statementLine = regexp.MustCompile(`(?m)^(\d+)\. .+\n   (.+)$`)
	proofName     = regexp.MustCompile("`([^`]+)`")
)

// The numbers of statements begin a fixture's name, 063-064-load.txtar, and are in a
// test's, TestStatement063_064Load.
var (
	provenByFixture = regexp.MustCompile(`^(\d{3}-)+`)
	provenByTest    = regexp.MustCompile(`(?m)^func (TestStatement(\d{3}(?:_\d{3})*)\w*)\(`)
	number          = regexp.MustCompile(`\d{3}`)
)

// TestEveryStatementHasAProof compares the page with the names of the fixtures and
// tests: each statement lists exactly the proofs that carry its number.
func TestEveryStatementHasAProof(t *testing.T) {
	page, err := os.ReadFile(protocolPage)
	if err != nil {
		t.Fatal(err)
	}
	proofs := proofsByNumber(t)
	statements := statementLine.FindAllStringSubmatch(string(page), -1)
	if len(statements) < 100 {
		t.Fatalf("%s has %d statements", protocolPage, len(statements))
	}
	for i, s := range statements {
		if s[1] != fmt.Sprint(i+1) {
			t.Fatalf("statement %s stands where %d should", s[1], i+1)
		}
		var listed []string
		for _, m := range proofName.FindAllStringSubmatch(s[2], -1) {
			listed = append(listed, m[1])
		}
		slices.Sort(listed)
		if want := proofs[i+1]; !slices.Equal(listed, want) {
			t.Errorf("statement %d lists %q as its proofs, and %q carry its number", i+1, listed, want)
		}
		if listed == nil && !strings.HasPrefix(s[2], "*Not proved yet: ") {
			t.Errorf("statement %d has neither a proof nor a reason", i+1)
		}
		delete(proofs, i+1)
	}
	for n, names := range proofs {
		t.Errorf("there is no statement %d: %s", n, names)
	}
}

// proofsByNumber returns the names of fixtures and tests, sorted, by the numbers that
// they carry.
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
	for _, file := range append(glob(t, "*_test.go"), glob(t, "../cmd/zeph-acp/*_test.go")...) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range provenByTest.FindAllSubmatch(source, -1) {
			note(string(m[2]), string(m[1]))
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
