package testreport

import (
	"bytes"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// ruledTitle returns the title in "==== title ====".
func ruledTitle(l []byte, sign string) (title []byte, ok bool) {
	if len(l) < 5 || !begins(l, sign) || !ends(l, sign) {
		return nil, false
	}
	title = bytes.Trim(l, sign)
	if len(title) < 3 || title[0] != ' ' || title[len(title)-1] != ' ' {
		return nil, false
	}
	return title[1 : len(title)-1], true
}

// isPytestBar matches " tests/test_x.py ✓✓s  24% ██▍", which pytest-sugar writes.
func isPytestBar(l []byte) bool {
	bar := bytes.TrimRight(l, " ")
	r, _ := utf8.DecodeLastRune(bar)
	return l[0] == ' ' && r >= '█' && r <= '▏' && ends(bytes.TrimRight(bar, " █▉▊▋▌▍▎▏"), "%")
}

// isPytestTotal matches "1 failed, 2 passed in 0.12s".
func isPytestTotal(l []byte) bool {
	if len(l) == 0 || l[0] != 'n' && (l[0] < '0' || l[0] > '9') {
		return false
	}
	at := bytes.LastIndex(l, []byte(" in "))
	if at < 0 || at+5 >= len(l) || l[at+4] < '0' || l[at+4] > '9' {
		return false
	}
	if begins(l, "no tests ran") {
		return true
	}
	_, n := leadingNumber(l)
	return n > 0 && text.HasAnyPrefix(
		l[n:], " passed", " failed", " error", " skipped", " xfailed", " xpassed", " warning", " deselected",
		" rerun", " subtest",
	)
}

var pytestWords = []string{
	"PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS", "RERUN", "SUBPASS", "SUBFAIL", "SUBPASSED",
	"SUBFAILED", "SUBSKIPPED",
}

// parsePytestResult parses "x.py::test PASSED [ 10%]" and "[gw0] [ 10%] PASSED
// x.py::test".
func parsePytestResult(l []byte) (name, word []byte, ok bool) {
	if begins(l, "[gw") {
		at := bytes.Index(l, []byte("] "))
		if at < 0 {
			return nil, nil, false
		}
		rest := bytes.TrimLeft(l[at+2:], " ")
		if begins(rest, "[") {
			if at = bytes.IndexByte(rest, ']'); at < 0 {
				return nil, nil, false
			}
			rest = bytes.TrimLeft(rest[at+1:], " ")
		}
		word, name, _ = bytes.Cut(rest, []byte(" "))
		name = bytes.TrimSpace(name)
		return name, word, isPytestWord(word) && len(name) > 0
	}
	if len(l) == 0 || l[0] <= ' ' {
		return nil, nil, false
	}
	rest := l
	if ends(rest, "]") {
		if at := bytes.LastIndexByte(rest, '['); at > 0 && (ends(rest, "%]") || bytes.IndexByte(rest[at:], '/') > 0) {
			rest = rest[:at]
		}
	}
	rest = bytes.TrimRight(rest, " ")
	if ends(rest, ")") { // a reason
		if at := bytes.LastIndex(rest, []byte(" (")); at > 0 {
			if i := bytes.Index(rest, []byte(" SKIPPED (")); i > 0 {
				at = i + len(" SKIPPED")
			} else if i := bytes.Index(rest, []byte(" XFAIL (")); i > 0 {
				at = i + len(" XFAIL")
			}
			rest = rest[:at]
		}
	}
	at := bytes.LastIndexByte(rest, ' ')
	if at < 0 {
		return nil, nil, false
	}
	name, word = bytes.TrimRight(rest[:at], " "), rest[at+1:]
	return name, word, isPytestWord(word) && (contains(name, "::") || ends(name, ".py"))
}

func isPytestWord(w []byte) bool {
	if begins(w, "SUB") {
		if at := bytes.IndexAny(w, "(["); at > 0 {
			w = w[:at]
		}
	}
	if len(w) < 5 || w[0] < 'A' || w[0] > 'X' {
		return false
	}
	for _, word := range pytestWords {
		if string(w) == word {
			return true
		}
	}
	return false
}

// parsePytestSigns matches "tests/test_x.py ..F.s [ 10%]" and "..F.s".
func parsePytestSigns(l []byte) (failed, ok bool) {
	if ends(l, "%]") {
		if at := bytes.LastIndexByte(l, '['); at > 0 {
			l = bytes.TrimRight(l[:at], " ")
		}
		ok = true
	}
	name, signs, two := bytes.Cut(l, []byte(" "))
	if !two {
		signs = name
	} else if !ends(name, ".py") && !ends(name, ".txt") && !ends(name, ".rst") && !ends(name, ".md") {
		return false, false
	}
	if len(signs) == 0 {
		return false, false
	}
	plain := 0
	for _, c := range signs {
		switch c {
		case '.', 's':
			plain++
		case 'x', 'X', 'R', ',', 'u':
		case 'F', 'E':
			failed = true
		default:
			return false, false
		}
	}
	return failed, ok || two || plain > 0 && bytes.IndexByte(signs, '.') >= 0 || failed && len(signs) == 1
}

// isPytestID matches "tests/test_x.py::test[1]", a test that begins.
func isPytestID(l []byte) bool {
	at := bytes.Index(l, []byte(".py::"))
	if at < 1 || l[0] <= ' ' {
		return false
	}
	name := bytes.TrimRight(l, " ")
	if cut := bytes.IndexByte(name, '['); cut > 0 && name[len(name)-1] == ']' {
		name = name[:cut]
	}
	return bytes.IndexByte(name, ' ') < 0 && name[len(name)-1] != ':'
}

func claimsPytest(l []byte) bool {
	if l[0] == '=' {
		title, ok := ruledTitle(l, "=")
		return ok && (string(title) == "test session starts" || string(title) == "short test summary info" || isPytestTotal(title))
	}
	switch {
	case begins(l, sugarStart), begins(l, "---------- coverage: platform "):
		return true
	case isPytestTotal(l):
		return true
	case ends(l, "%]"):
		if _, ok := parsePytestSigns(l); ok {
			return true
		}
	}
	_, _, ok := parsePytestResult(l)
	return ok
}
