package reports

import (
	"fmt"
	"strings"
)

// jestLines returns what jest writes about the failed tests of each file, and its totals.
func jestLines(report any, _ *form) (lines []byte, ok bool) {
	ok = each(report, "testResults.*", nil, func(suite []any) bool {
		file, message := plain(at(suite[0], "name")), plain(at(suite[0], "message"))
		if plain(at(suite[0], "status")) != "failed" {
			return file != ""
		}
		lines = fmt.Appendf(lines, "FAIL %s\n", file)
		if strings.Contains(message, "● ") { // jest's own text
			lines = append(append(lines, strings.TrimRight(message, "\n")...), "\n\n"...)
			return file != ""
		}
		if message != "" {
			lines = appendFailure(lines, "Test suite failed to run", message)
		}
		return file != "" && each(suite[0], "assertionResults.*", nil, func(test []any) bool {
			if plain(at(test[0], "status")) != "failed" {
				return true
			}
			var title []string
			each(test[0], "ancestorTitles.*", nil, func(t []any) bool { title = append(title, plain(t[0])); return true })
			var reasons []string
			each(test[0], "failureMessages.*", nil, func(r []any) bool { reasons = append(reasons, plain(r[0])); return true })
			lines = appendFailure(lines, strings.Join(append(title, plain(at(test[0], "title"))), " › "), strings.Join(reasons, "\n\n"))
			return true
		})
	})
	count := func(of string) (total string) {
		var parts []string
		for _, state := range []string{"Failed", "Pending", "Todo", "Passed", "Total"} {
			if n := plain(at(report, "num"+state+of)); n != "" && (n != "0" || state == "Total") {
				parts = append(parts, n+" "+strings.ToLower(state))
			}
		}
		return strings.Join(parts, ", ")
	}
	suites, tests := count("TestSuites"), count("Tests")
	return fmt.Appendf(lines, "Test Suites: %s\nTests:       %s\n", suites, tests), ok && suites != "" && tests != ""
}

// mochaLines returns the failed tests as jest writes them, by file, and mocha's totals.
func mochaLines(report any, _ *form) (lines []byte, ok bool) {
	file := ""
	ok = each(report, "failures.*", nil, func(test []any) bool {
		t := test[0]
		if f := plain(at(t, "file")); f != file {
			file = f
			lines = fmt.Appendf(lines, "FAIL %s\n", f)
		}
		title, reason := plain(at(t, "fullTitle")), plain(at(t, "err.stack"))
		if message := plain(at(t, "err.message")); !strings.Contains(reason, strings.TrimSpace(message)) {
			reason = message + "\n" + reason
		}
		for _, side := range []string{"expected", "actual"} { // what the message may leave out
			if value := plain(at(t, "err."+side)); value != "" && !strings.Contains(reason, value) {
				reason += "\n" + side + ": " + value
			}
		}
		lines = appendFailure(lines, title, reason)
		return title != "" && reason != ""
	})
	passes, failures := plain(at(report, "stats.passes")), plain(at(report, "stats.failures"))
	if !ok || passes == "" || failures == "" {
		return nil, false
	}
	lines = fmt.Appendf(lines, "  %s passing\n", passes)
	if pending := plain(at(report, "stats.pending")); pending != "0" {
		lines = fmt.Appendf(lines, "  %s pending\n", pending)
	}
	if failures != "0" {
		lines = fmt.Appendf(lines, "  %s failing\n", failures)
	}
	return lines, true
}

// appendFailure appends a failed test with its reason below.
func appendFailure(lines []byte, title, reason string) []byte {
	lines = fmt.Appendf(lines, "  ● %s\n\n", title)
	for l := range strings.SplitSeq(strings.TrimSpace(reason), "\n") {
		if l != "" {
			l = "    " + l
		}
		lines = append(append(lines, l...), '\n')
	}
	return append(lines, '\n')
}
