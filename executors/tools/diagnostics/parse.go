package diagnostics

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Severity is the severity of a diagnostic.
type Severity string

// The severities. Further ones of the tools are mapped to these.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Diagnostic is one finding of a tool.
type Diagnostic struct {
	File     string   `json:"file,omitempty"` // relative to the cwd if inside, else absolute; empty if it is about no file
	Line     int      `json:"line,omitempty"` // 1-based; 0 means unknown
	Column   int      `json:"col,omitempty"`  // 1-based, as the tool counts; 0 means unknown
	Severity Severity `json:"severity"`
	Code     string   `json:"code,omitempty"` // the tool's code: "E0308", "no-undef"
	Message  string   `json:"message"`        // one line
}

// appendToLast appends a line to the message of the last diagnostic. A message that
// already exceeds the limit for display stays unchanged.
func appendToLast(found []Diagnostic, line string) {
	if len(found) == 0 {
		return
	}
	if d := &found[len(found)-1]; len(d.Message) < maxMessage*utf8.UTFMax {
		d.Message += " " + strings.TrimSpace(line)
	}
}

// number parses digits that a pattern matched.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// severity maps the compilers' words for severities.
func severity(word string) Severity {
	switch word = strings.ToLower(word); {
	case strings.HasPrefix(word, "error"), strings.HasPrefix(word, "fatal"):
		return Error
	case strings.HasPrefix(word, "warn"):
		return Warning
	}
	return Note
}

// eachElement decodes the complete elements of the first JSON array in text. The end
// of the array may be missing, and other output may surround it.
func eachElement[T any](text string, each func(T)) {
	tries := 64 // each may parse the whole text
	for line, rest := "", text; rest != "" && tries > 0; {
		at := rest
		if line, rest, _ = strings.Cut(rest, "\n"); !strings.HasPrefix(strings.TrimSpace(line), "[") {
			continue
		}
		tries--
		dec := json.NewDecoder(strings.NewReader(at))
		if _, err := dec.Token(); err != nil {
			continue
		}
		decoded := false
		for dec.More() {
			var v T
			if err := dec.Decode(&v); err != nil {
				break
			}
			decoded = true
			each(v)
		}
		if decoded {
			return
		}
	}
}
