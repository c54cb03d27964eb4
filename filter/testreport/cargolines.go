package testreport

import (
	"bytes"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// shortenLinkerCommand removes the middle of the command line of a linker.
func shortenLinkerCommand(l []byte) []byte {
	const side = 600
	if len(l) <= 4*side || !contains(l, "note: ") {
		return l
	}
	head, tail := bytes.ToValidUTF8(l[:side], nil), bytes.ToValidUTF8(l[len(l)-side:], nil)
	return fmt.Appendf(nil, "%s ... (%s omitted) ... %s", head, quantity.Count(len(l)-2*side, "byte"), tail)
}

// cargoTotals adds up the totals of binaries whose tests all passed.
type cargoTotals struct {
	binaries int
	counts   [5]int // tests, in the order of cargoCountSuffixes
}

// cargoCountSuffixes follow the numbers in the total of a binary.
var cargoCountSuffixes = [5]string{" passed", " failed", " ignored", " measured", " filtered out"}

func (s *cargoTotals) add(l []byte) {
	s.binaries++
	for _, part := range bytes.Split(l[len("test result: ok. "):], []byte("; ")) {
		v, n := leadingNumber(part)
		for i, suffix := range cargoCountSuffixes {
			if n > 0 && begins(part[n:], suffix) {
				s.counts[i] += v
			}
		}
	}
}

func (s *cargoTotals) line() []byte {
	b := []byte("test result: ok. ")
	for i, suffix := range cargoCountSuffixes {
		if i > 0 {
			b = append(b, "; "...)
		}
		b = fmt.Appendf(b, "%d%s", s.counts[i], suffix)
	}
	return fmt.Appendf(b, " (%s)", quantity.Count(s.binaries, "run"))
}

// isTestDots reports whether a line consists of signs for tests: "..F. 88/240".
func isTestDots(l []byte) bool {
	n := 0
	for n < len(l) && (l[n] == '.' || l[n] == 'F' || l[n] == 'i') {
		n++
	}
	if n == 0 || bytes.IndexByte(l[:n], '.') < 0 && len(l) == n && n < 2 {
		return false
	}
	rest := l[n:]
	if len(rest) == 0 {
		return bytes.IndexByte(l, '.') >= 0
	}
	if rest[0] != ' ' {
		return false
	}
	_, a := leadingNumber(rest[1:])
	if a == 0 || 1+a >= len(rest) || rest[1+a] != '/' {
		return false
	}
	_, b := leadingNumber(rest[2+a:])
	return b > 0 && 2+a+b == len(rest)
}

func claimsCargo(l []byte) bool {
	switch l[0] {
	case 't':
		return begins(l, "test ") && (ends(l, " ... ok") || ends(l, " ... FAILED") || ends(l, " ... ignored")) || begins(l, "test result: ")
	case 'r':
		return isRunningTests(l)
	case ' ':
		return isCargoStatus(l) || parseNextestStatus(l) != ""
	case 'e':
		return begins(l, "error: could not compile ") || begins(l, "error: test failed, to rerun pass")
	}
	return false
}

// isRunningTests matches "running 12 tests".
func isRunningTests(l []byte) bool {
	if !begins(l, "running ") {
		return false
	}
	_, n := leadingNumber(l[len("running "):])
	return n > 0 && (ends(l, " tests") || ends(l, " test"))
}

var cargoVerbs = newPrefixes(
	"Compiling ", "Downloading ", "Downloaded ", "Updating ", "Fetching ", "Fresh ", "Packaging ",
	"Verifying ", "Archiving ", "Locking ", "Adding ", "Removing ", "Checking ", "Documenting ",
	"Running ", "Doc-tests ", "Loaded ", "Blocking ", "Unpacking ", "Finished ", "Building ", "Dirty ",
	"Scraping ", "Executable ", "Migrating ", "Installing ", "Installed ", "Ignored ", "Upgrading ",
	"Downgrading ", "Patching ", "Waiting ", "Credential ",
)

// isCargoStatus matches " Compiling x v1.0.0".
func isCargoStatus(l []byte) bool {
	inner := bytes.TrimLeft(l, " ")
	verb := bytes.IndexByte(inner, ' ')
	return verb > 0 && len(l)-len(inner)+verb == 12 && cargoVerbs.match(inner)
}
