package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

func claimsGo(l []byte) bool {
	switch l[0] {
	case '=':
		return text.HasAnyPrefix(l, "=== RUN   ", "=== CONT  ", "=== PAUSE ", "=== NAME  ")
	case '-', ' ':
		r, _ := parseGoResult(l)
		return r != 0
	case 'o':
		return begins(l, "ok  \t")
	case 'F':
		return begins(l, "FAIL\t")
	case '?':
		return begins(l, "?   \t") && ends(l, "[no test files]")
	case '{':
		return isGoJSON(l)
	}
	return false
}

func isGoJSON(l []byte) bool {
	return ends(l, "}") && (begins(l, `{"Time":"`) || begins(l, `{"ImportPath":"`) || begins(l, `{"Action":"`)) && contains(l, `"Action":"`)
}

// parseGoResult parses " --- FAIL: TestX/y (0.00s)". kind is 'P', 'F', 'S', 'B' or
// 0.
func parseGoResult(l []byte) (kind byte, name []byte) {
	rest := bytes.TrimLeft(l, " ")
	if len(rest) < 10 || !begins(rest, "--- ") {
		return 0, nil
	}
	rest = rest[4:]
	switch {
	case begins(rest, "PASS: "):
		kind, rest = 'P', rest[6:]
	case begins(rest, "FAIL: "):
		kind, rest = 'F', rest[6:]
	case begins(rest, "SKIP: "):
		kind, rest = 'S', rest[6:]
	case begins(rest, "BENCH: "):
		kind, rest = 'B', rest[7:]
	default:
		return 0, nil
	}
	if at := bytes.LastIndex(rest, []byte(" (")); at >= 0 {
		rest = rest[:at]
	}
	return kind, rest
}

// isGoBuild matches "# example.test/pkg [example.test/pkg.test]".
func isGoBuild(l []byte) bool {
	rest, ok := bytes.CutPrefix(l, []byte("# "))
	if !ok || len(rest) == 0 {
		return false
	}
	name, tag, tagged := bytes.Cut(rest, []byte(" "))
	return (tagged && begins(tag, "[") && ends(tag, "]") || !tagged && bytes.IndexByte(name, '/') > 0) && bytes.IndexByte(tag, ' ') < 0
}
