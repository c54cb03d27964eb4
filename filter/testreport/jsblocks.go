package testreport

import "bytes"

// inBlock handles a line of a failure or of the output of tests. It leaves the
// block at the first line that belongs to neither.
func (j *jsTests) inBlock(l, inner []byte, indent int) bool {
	switch j.in {
	case jsBullet:
		if j.inBullet(l, inner, indent) {
			return true
		}
		j.leave()
	case jsRepeat:
		if indent >= 2 && !begins(inner, "● ") && jsSign(inner) == noSign {
			return true
		}
		j.leave()
	case jsConsole:
		if indent >= 4 && !begins(inner, "● ") {
			j.console(l, inner)
			return true
		}
		j.leave()
	case jsStdout:
		j.prints(l)
		return true
	case jsBlock:
		switch {
		case begins(l, "⎯⎯"), begins(l, " FAIL  "), begins(l, " Test Files  "), begins(l, " Snapshots "):
			j.leave()
		case j.frame(l, inner):
			return true
		default:
			j.failureLine(l, jsReason(l))
			return true
		}
	case jsNumber:
		if indent >= 3 && !jsNumbered(l, inner) && !(j.tests && !j.begun && indent < 4) {
			j.failureLine(l, jsReason(inner))
			return true
		}
		j.leave()
	case jsTree:
		if j.inTree(l, inner, indent) {
			return true
		}
		j.leave()
	case jsCause:
		if indent >= 2 {
			j.failureLine(l, jsReason(inner))
			return true
		}
		j.leave()
	case jsAva:
		switch {
		case string(inner) == "─":
			j.leave()
			j.keep(l)
			return true
		case indent == 2 && j.avaName(inner):
			j.fail(inner, l)
		default:
			j.failureLine(l, jsReason(inner))
		}
		return true
	}
	return false
}

// inBullet handles a line below jest's " ● suite › test". It reports false for the
// first line after the failure.
func (j *jsTests) inBullet(l, inner []byte, indent int) bool {
	if string(inner) == "Jest failed to parse a file. This happens e.g. when your code or its dependencies use non-standard JavaScript syntax, or when Jest is not configured to support such syntax." {
		j.hints = true
	}
	if j.hints {
		if j.hints = string(inner) != "Details:" && indent >= 4; j.hints || indent >= 4 {
			return true
		}
	}
	if j.frame(l, inner) {
		return true
	}
	if indent >= 4 || indent >= 2 && !begins(inner, "● ") && jsSign(inner) == noSign {
		j.failureLine(l, false)
		return true
	}
	return false
}

// inTree handles a line that is indented deeper than the failed test above it. It
// reports false for other lines.
func (j *jsTests) inTree(l, inner []byte, indent int) bool {
	if indent <= j.deep || jsSign(inner) != noSign || jsNumbered(l, inner) || begins(inner, "▶ ") {
		return false
	}
	if begins(inner, "→ ") {
		j.keep(l)
		return true
	}
	if !j.open {
		j.markReported(testKey(j.test))
		j.fail(j.test, nil)
	}
	j.failureLine(l, jsReason(inner))
	return true
}

// avaName reports whether a line is the name of a failed test.
func (j *jsTests) avaName(inner []byte) bool {
	for _, name := range j.names {
		if rest, ok := bytes.CutPrefix(name, inner); ok && (len(rest) == 0 || rest[0] == ' ') {
			return true
		}
	}
	return false
}

// frame handles a line of a code frame and keeps only the marked one. Vitest
// marks it by a caret below.
func (j *jsTests) frame(l, inner []byte) bool {
	if codeContext(inner) {
		j.context = append(j.context[:0], l...)
		return true
	}
	if len(j.context) > 0 && inner[0] == '|' && contains(inner, "^") {
		j.failureLine(j.context, false)
	}
	j.context = j.context[:0]
	return false
}
