package diagnostics

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// goLine matches a line of the go command or of a compiler that it runs.
var goLine = lazyregexp.New(`^(?:go: |vet: )?(\S.*?):(\d+):(?:(\d+):)? (.*)$`)

// parseGo parses the output of go build and go vet -json. The JSON is on stdout, or
// in older versions on stderr between other lines.
func parseGo(stdout, stderr string) []Diagnostic {
	var found []Diagnostic
	for _, text := range []string{stdout, stderr} {
		whole := true // false after the first invalid JSON; then no more JSON is parsed
		for text != "" {
			if whole && strings.HasPrefix(text, "{") {
				var vetted []Diagnostic
				if vetted, text, whole = parseVet(text); whole {
					found = append(found, vetted...)
					continue
				}
			}
			line, rest, _ := strings.Cut(text, "\n")
			text = rest
			line = strings.TrimSuffix(line, "\r")
			if strings.HasPrefix(line, "\t") {
				appendToLast(found, line)
				continue
			}
			m := goLine.FindStringSubmatch(line)
			// "pkg: dial tcp 10.0.0.1" is not a file, nor is a URL, though a number follows.
			if m == nil || strings.HasPrefix(line, "#") || strings.Contains(m[1], ": ") || strings.Contains(m[1], "://") {
				continue
			}
			found = append(found, Diagnostic{File: m[1], Line: number(m[2]), Column: number(m[3]), Severity: goSeverity(m[4]),
				Message: m[4]})
		}
	}
	return found
}

// goSeverity returns error, since all messages of the go command stop the build,
// except those that a C compiler calls a warning or a note.
func goSeverity(message string) Severity {
	switch {
	case strings.HasPrefix(message, "warning: "):
		return Warning
	case strings.HasPrefix(message, "note: "):
		return Note
	}
	return Error
}

// parseVet parses one JSON object at the beginning of text. It maps packages to
// analyzers to findings.
func parseVet(text string) (found []Diagnostic, rest string, ok bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	var packages map[string]map[string]json.RawMessage
	if dec.Decode(&packages) != nil {
		return nil, text, false
	}
	for _, analyzers := range packages {
		for name, raw := range analyzers {
			var list []struct {
				Position string `json:"posn"`
				Message  string `json:"message"`
			}
			if json.Unmarshal(raw, &list) != nil { // {"error": …}: the analyzer failed
				continue
			}
			for _, v := range list {
				d := Diagnostic{Severity: Warning, Code: name, Message: v.Message}
				d.File, d.Line, d.Column = position(v.Position)
				found = append(found, d)
			}
		}
	}
	slices.SortFunc(found, compareLocation)
	return found, text[dec.InputOffset():], true
}

// position splits FILE:LINE:COLUMN.
func position(s string) (file string, line, column int) {
	if m := goLine.FindStringSubmatch(s + ": "); m != nil {
		return m[1], number(m[2]), number(m[3])
	}
	return s, 0, 0
}
