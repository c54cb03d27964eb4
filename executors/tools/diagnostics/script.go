package diagnostics

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

var (
	tscPlace = lazyregexp.New(`^(.+?)\((\d+),(\d+)\): (error|warning|message|suggestion) (TS\d+): (.*)$`)
	tscLine  = lazyregexp.New(`^(error|warning|message) (TS\d+): (.*)$`)
)

// parseTSC parses the output of tsc with --pretty false. Indented lines continue
// the message before them.
func parseTSC(stdout, stderr string) []Diagnostic {
	var found []Diagnostic
	for line := range strings.Lines(stdout + "\n" + stderr) {
		line = strings.TrimRight(line, "\r\n")
		if m := tscPlace.FindStringSubmatch(line); m != nil {
			found = append(found, Diagnostic{File: m[1], Line: number(m[2]), Column: number(m[3]), Severity: severity(m[4]),
				Code: m[5], Message: m[6]})
		} else if m := tscLine.FindStringSubmatch(line); m != nil {
			found = append(found, Diagnostic{Severity: severity(m[1]), Code: m[2], Message: m[3]})
		} else if strings.HasPrefix(line, "  ") {
			appendToLast(found, line)
		}
	}
	return found
}

// parseESLint parses the output of ESLint with -f json:
// https://eslint.org/docs/latest/use/formatters/#json
func parseESLint(stdout, _ string) []Diagnostic {
	type result struct {
		FilePath string `json:"filePath"`
		Messages []struct {
			RuleID   string `json:"ruleId"` // null if the file cannot be parsed
			Severity int    `json:"severity"`
			Fatal    bool   `json:"fatal"`
			Message  string `json:"message"`
			Line     int    `json:"line"`
			Column   int    `json:"column"`
		} `json:"messages"`
	}
	var found []Diagnostic
	eachElement(stdout, func(r result) {
		for _, m := range r.Messages {
			d := Diagnostic{File: r.FilePath, Line: m.Line, Column: m.Column, Severity: Warning, Code: m.RuleID, Message: m.Message}
			if m.Severity == 2 || m.Fatal {
				d.Severity = Error
			}
			found = append(found, d)
		}
	})
	return found
}
