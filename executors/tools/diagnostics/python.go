package diagnostics

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// parseRuff parses the output of ruff check with --output-format json.
func parseRuff(stdout, _ string) []Diagnostic {
	type violation struct {
		Code     string `json:"code"` // null for bad syntax in older versions
		Filename string `json:"filename"`
		Severity string `json:"severity"` // missing in older versions
		Message  string `json:"message"`
		Location struct {
			Row    int `json:"row"`
			Column int `json:"column"`
		} `json:"location"`
	}
	var found []Diagnostic
	eachElement(stdout, func(v violation) {
		d := Diagnostic{File: v.Filename, Line: v.Location.Row, Column: v.Location.Column, Severity: Error, Code: v.Code,
			Message: v.Message}
		if v.Severity != "" {
			d.Severity = severity(v.Severity)
		}
		found = append(found, d)
	})
	return found
}

var mypyLine = lazyregexp.New(`^(.+?):(?:(\d+):(?:(\d+):)?)? (error|warning|note): (.*?)(?:  \[([a-z0-9-]+)\])?$`)

// parseMypy parses the output of mypy.
func parseMypy(stdout, stderr string) []Diagnostic {
	var found []Diagnostic
	for line := range strings.Lines(stdout + "\n" + stderr) {
		m := mypyLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || m[1] == "mypy" { // a usage message
			continue
		}
		found = append(found, Diagnostic{File: m[1], Line: number(m[2]), Column: number(m[3]), Severity: severity(m[4]),
			Code: m[6], Message: m[5]})
	}
	return found
}
