package reports

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// form is a form of report: where its items are, and where each item has its parts. An item is a problem
// of a linter or a failed test.
//
// A path is names with dots between them; "*" is each item of a list. A part
// that an item lacks is looked for in the objects around it. "a|b" is the first of two paths that has a
// value.
type form struct {
	mark  string // a member that only reports of this form have, as JSON
	items string
	file, line, column,
	rule, severity, message string
	notes string                                            // more about an item, each a line
	base  int                                               // the number of the first line and column
	empty string                                            // has problems of another form, so it must be empty
	also  string                                            // paths of values that are shown below the items unless they are zero
	lines func(report any, f *form) (lines []byte, ok bool) // nil means those of a linter
}

// forms are the known forms.
var forms = []form{
	{ // eslint
		mark: `"ruleId"`, items: "*.messages.*", file: "filePath", line: "line", column: "column",
		rule: "ruleId", severity: "severity", message: "message",
	},
	{mark: `"usedDeprecatedRules"`, items: "*.messages.*", file: "filePath", message: "message"}, // eslint without problems
	{ // stylelint
		mark: `"invalidOptionWarnings"`, items: "*.warnings.*", file: "source", line: "line", column: "column",
		rule: "rule", severity: "severity", message: "text", empty: "*.invalidOptionWarnings|*.parseErrors",
	},
	{ // ruff
		mark: `"noqa_row"`, items: "*", file: "filename", line: "location.row", column: "location.column",
		rule: "code|name", message: "message", notes: "fix.message",
	},
	{ // pylint
		mark: `"message-id"`, items: "*", file: "path", line: "line", column: "column", rule: "message-id", message: "message", notes: "symbol",
	},
	{ // pylint, json2
		mark: `"messageId"`, items: "messages.*", file: "path", line: "line", column: "column", rule: "messageId", message: "message",
		notes: "symbol", also: "statistics.score",
	},
	{ // bandit
		mark: `"issue_severity"`, items: "results.*", file: "filename", line: "line_number", column: "col_offset",
		rule: "test_id", message: "issue_text", notes: "issue_severity", empty: "errors",
	},
	{ // mypy: an object a line
		mark: `"hint"`, items: "", file: "file", line: "line", column: "column", rule: "code", severity: "severity", message: "message", notes: "hint",
	},
	{ // pyright
		mark: `"generalDiagnostics"`, items: "generalDiagnostics.*", file: "file", line: "range.start.line", column: "range.start.character",
		rule: "rule", severity: "severity", message: "message", base: 1,
	},
	{ // golangci-lint
		mark: `"FromLinter"`, items: "Issues.*", file: "Pos.Filename", line: "Pos.Line", column: "Pos.Column",
		rule: "FromLinter", severity: "Severity", message: "Text", also: "Report.Error|Report.Warnings.*.Text",
	},
	{ // biome
		mark: `"diagnosticsNotPrinted"`, items: "diagnostics.*", file: "location.path", line: "location.start.line", column: "location.start.column",
		rule: "category", severity: "severity", message: "message", notes: "advices.*.message", also: "summary.diagnosticsNotPrinted",
	},
	{ // rubocop
		mark: `"cop_name"`, items: "files.*.offenses.*", file: "path", line: "location.line", column: "location.column",
		rule: "cop_name", severity: "severity", message: "message",
	},
	{ // SARIF, of many tools
		mark: `"sarif`, items: "runs.*.results.*", file: "locations.0.physicalLocation.artifactLocation.uri",
		line: "locations.0.physicalLocation.region.startLine", column: "locations.0.physicalLocation.region.startColumn",
		rule: "ruleId", severity: "level", message: "message.text", empty: "runs.*.invocations.*.toolExecutionNotifications",
	},
	{mark: `"reason":"compiler-`, lines: cargoLines}, // cargo, an object a line
	{mark: `"reason":"build-`, lines: cargoLines},
	{mark: `"$message_type":"diagnostic"`, lines: rustcLines},                                                    // rustc, an object a line
	{mark: `"assertionResults"`, lines: jestLines, also: "wasInterrupted|snapshot.unmatched|snapshot.unchecked"}, // jest, vitest
	{mark: `"fullTitle"`, lines: mochaLines},                                                                     // mocha
}

// hasForm reports whether JSON may be a report of a known form.
func hasForm(doc []byte) bool {
	for i := range forms {
		if bytes.Contains(doc, []byte(forms[i].mark)) {
			return true
		}
	}
	return false
}

// linesOf returns the lines of a report. ok is false if the report is of no known form.
func linesOf(doc []byte, report any) (lines []byte, ok bool) {
	for i := range forms {
		f := &forms[i]
		if !bytes.Contains(doc, []byte(f.mark)) {
			continue
		}
		write := f.lines
		if write == nil {
			write = lintLines
		}
		if lines, ok = write(report, f); ok {
			for path := range strings.SplitSeq(f.also, "|") {
				each(report, path, nil, func(found []any) bool {
					if value := plain(found[0]); value != "" && value != "0" && value != "false" {
						lines = fmt.Appendf(lines, "%s: %s\n", path[strings.LastIndexByte(path, '.')+1:], value)
					}
					return true
				})
			}
			return lines, true
		}
	}
	return nil, false
}

// lintLines returns a line of each problem, with its notes below.
func lintLines(report any, f *form) (lines []byte, ok bool) {
	for path := range strings.SplitSeq(f.empty, "|") {
		others := false
		each(report, path, nil, func(found []any) bool { others = path != "" && !isEmpty(found[0]); return !others })
		if others {
			return nil, false
		}
	}
	var w problemWriter
	whole := each(report, f.items, nil, func(item []any) bool {
		p := problem{
			file: part(item, f.file), line: part(item, f.line), column: part(item, f.column),
			rule: part(item, f.rule), severity: part(item, f.severity), message: part(item, f.message),
		}
		p.line, p.column = plus(p.line, f.base), plus(p.column, f.base)
		if f.notes != "" {
			each(item[0], f.notes, nil, func(note []any) bool {
				p.message += "\n" + plain(note[0])
				return true
			})
		}
		w.write(p)
		return p.file != "" && p.message != ""
	})
	if len(w.lines) == 0 {
		return []byte("0 problems\n"), whole
	}
	return w.lines, whole
}

// problem is a problem that a linter found. The first line of its message is the message itself.
type problem struct{ file, line, column, rule, severity, message string }

// problemWriter writes problems in one of the forms that linters write.
type problemWriter struct {
	lines []byte
	above string // the file above the last line
}

// write writes a problem: "1:2 error message rule" below the name of its file, or
// "a.py:1:2: message [rule]".
func (w *problemWriter) write(p problem) {
	first, rest, _ := strings.Cut(strings.TrimSpace(p.message), "\n")
	severity := cmp.Or(severityNumbers[p.severity], strings.ToLower(p.severity))
	mark := severityMarks[severity]
	if mark != "" && rest == "" && p.line != "" && p.column != "" && strings.Contains(p.file, "/") && !strings.Contains(p.file, " ") {
		if p.file != w.above {
			w.above = p.file
			w.lines = fmt.Appendf(w.lines, "\n%s\n", p.file)
		}
		w.lines = fmt.Appendf(w.lines, "  %s:%s  %s  %s", p.line, p.column, severity, first)
		if p.rule != "" {
			w.lines = append(append(w.lines, "  "...), p.rule...)
		}
		w.lines = append(w.lines, '\n')
		return
	}
	w.above = ""
	w.lines = append(w.lines, p.file...)
	for _, number := range []string{p.line, p.column} {
		if number != "" {
			w.lines = append(append(w.lines, ':'), number...)
		}
	}
	w.lines = append(append(w.lines, ": "...), first...)
	if rule := strings.Trim(mark+"/"+p.rule, "/"); rule != "" {
		w.lines = fmt.Appendf(w.lines, " [%s]", rule)
	}
	w.lines = append(w.lines, '\n')
	if rest != "" {
		w.lines = append(append(append(w.lines, "    "...), strings.ReplaceAll(rest, "\n", "\n    ")...), '\n')
	}
}

// severityNumbers are the severities of eslint. severityMarks are severities as it writes them before a
// rule.
var (
	severityNumbers = map[string]string{"1": "warning", "2": "error"}
	severityMarks   = map[string]string{"error": "Error", "warning": "Warning", "info": "info", "information": "info", "note": "note"}
)

// each calls do for each value at a path, with the objects around it: the value itself first. It stops
// and returns false if do does, or if the path leads nowhere.
func each(value any, path string, around []any, do func(found []any) bool) bool {
	if path == "" {
		return do(append([]any{value}, around...))
	}
	name, rest, _ := strings.Cut(path, ".")
	around = append([]any{value}, around...)
	switch v := value.(type) {
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i < len(v) {
			return each(v[i], rest, around, do)
		}
		for _, item := range v {
			if name != "*" || !each(item, rest, around, do) {
				return false
			}
		}
		return true
	case map[string]any:
		inner, ok := v[name]
		return ok && each(inner, rest, around, do)
	}
	return false
}

// part returns the first text at a path in an item or in the objects around it.
func part(item []any, path string) string {
	for p := range strings.SplitSeq(path, "|") {
		for _, v := range item {
			if t := plain(at(v, p)); t != "" {
				return t
			}
		}
	}
	return ""
}

// at returns the first value at a path, or nil.
func at(value any, path string) (first any) {
	each(value, path, nil, func(found []any) bool { first = found[0]; return false })
	return first
}

// plain returns a plain value as text, and "" for other values.
func plain(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

func plus(number string, n int) string {
	if i, err := strconv.Atoi(number); err == nil && n > 0 {
		return strconv.Itoa(i + n)
	}
	return number
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return plain(value) == ""
}
