package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// handleBlockLine handles a line of a failure or of the output of tests. It leaves the
// block at the first line that belongs to neither.
func (j *jsTests) handleBlockLine(l, inner []byte, indent int) bool {
	switch j.part {
	case jsBullet:
		if j.handleBulletLine(l, inner, indent) {
			return true
		}
		j.leavePart()
	case jsRepeat:
		if indent >= 2 && !begins(inner, "● ") && signOf(inner) == noSign {
			return true
		}
		j.leavePart()
	case jsConsole:
		if indent >= 4 && !begins(inner, "● ") {
			j.handleConsole(l, inner)
			return true
		}
		j.leavePart()
	case jsStdout:
		if endsStdout(l, inner) {
			j.leavePart()
			return false
		}
		j.addPrinted(l)
		return true
	case jsBlock:
		switch {
		case begins(l, "⎯⎯"), begins(l, " FAIL  "), begins(l, " Test Files  "), begins(l, " Snapshots "):
			j.leavePart()
		case j.handleFrame(l, inner):
			return true
		default:
			j.addFailureLine(l, isJSReason(l))
			return true
		}
	case jsNumber:
		if indent >= 3 && !isNumbered(l, inner) && !(j.testSeen && !j.inReasons && indent < 4) {
			j.addFailureLine(l, isJSReason(inner))
			return true
		}
		j.leavePart()
	case jsTree:
		if !isPlaywrightStart(inner) && j.handleTreeLine(l, inner, indent) {
			return true
		}
		j.leavePart()
	case jsCause:
		if indent >= 2 {
			j.addFailureLine(l, isJSReason(inner))
			return true
		}
		j.leavePart()
	case jsAva:
		j.handleAvaLine(l, inner, indent)
		return true
	}
	return false
}

// endsStdout reports whether a line ends the output of a test. Some programs remove
// the blank line before it.
func endsStdout(l, inner []byte) bool {
	switch {
	case text.HasAnyPrefix(l, "stdout | ", "stderr | ", "⎯⎯", " FAIL  ", " Test Files  "):
		return true
	case len(l) != len(inner)+1:
		return false
	}
	return (signOf(inner) != noSign || begins(inner, "❯ ")) && (contains(inner, " test)") || contains(inner, " tests)") || contains(inner, " tests | "))
}

// handleAvaLine handles a line between ava's two lines of "─", or the second of them.
func (j *jsTests) handleAvaLine(l, inner []byte, indent int) {
	switch {
	case string(inner) == "─":
		j.leavePart()
		j.keep(l)
	case indent == 2 && j.isAvaName(inner):
		j.beginFailure(inner, l)
	default:
		j.addFailureLine(l, isJSReason(inner))
	}
}

// jestParseAdvice is the line before jest's general advice about code that it cannot parse.
const jestParseAdvice = "Jest failed to parse a file. This happens e.g. when your code or its dependencies use non-standard " +
	"JavaScript syntax, or when Jest is not configured to support such syntax."

// handleBulletLine handles a line below jest's " ● suite › test". It reports false for the
// first line after the failure.
func (j *jsTests) handleBulletLine(l, inner []byte, indent int) bool {
	if string(inner) == jestParseAdvice {
		j.inHints = true
	}
	if j.inHints {
		if j.inHints = string(inner) != "Details:" && indent >= 4; j.inHints || indent >= 4 {
			return true
		}
	}
	if j.handleFrame(l, inner) {
		return true
	}
	if indent >= 4 || indent >= 2 && !begins(inner, "● ") && signOf(inner) == noSign {
		j.addFailureLine(l, notReason)
		return true
	}
	return false
}

// handleTreeLine handles a line that is indented deeper than the failed test above it. It
// reports false for other lines.
func (j *jsTests) handleTreeLine(l, inner []byte, indent int) bool {
	if indent <= j.failedIndent || signOf(inner) != noSign || isNumbered(l, inner) || begins(inner, "▶ ") {
		return false
	}
	if begins(inner, "→ ") {
		j.keep(l)
		return true
	}
	if !j.failureOpen {
		j.markReported(testKey(j.failedName))
		j.beginFailure(j.failedName, nil)
	}
	j.addFailureLine(l, isJSReason(inner))
	return true
}

// isAvaName reports whether a line is the name of a failed test.
func (j *jsTests) isAvaName(inner []byte) bool {
	for _, name := range j.avaFailures {
		if rest, ok := bytes.CutPrefix(name, inner); ok && (len(rest) == 0 || rest[0] == ' ') {
			return true
		}
	}
	return false
}

// handleFrame handles a line of a code frame and keeps only the marked one. Vitest
// marks it by a caret below.
func (j *jsTests) handleFrame(l, inner []byte) bool {
	if isCodeContext(inner) {
		j.frameLine = append(j.frameLine[:0], l...)
		return true
	}
	if len(j.frameLine) > 0 && inner[0] == '|' && contains(inner, "^") {
		j.addFailureLine(j.frameLine, notReason)
	}
	j.frameLine = j.frameLine[:0]
	return false
}
