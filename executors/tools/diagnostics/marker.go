package diagnostics

import (
	"encoding/json"
	"strings"
)

// rustWorkspace reports whether the text of a Cargo.toml declares a workspace.
func rustWorkspace(text string) bool { return section(text, "[workspace]") != "" }

// esLintInPackage reports whether the text of a package.json configures ESLint.
func esLintInPackage(text string) bool {
	var p struct {
		ESLintConfig json.RawMessage `json:"eslintConfig"`
	}
	return json.Unmarshal([]byte(text), &p) == nil && p.ESLintConfig != nil
}

// onlyReferences reports whether a tsconfig.json has no files itself and only
// refers to other projects, so that tsc finds nothing in it unless it builds.
func onlyReferences(text string) bool {
	var c struct {
		Files      *[]json.RawMessage `json:"files"`
		Include    json.RawMessage    `json:"include"`
		References []json.RawMessage  `json:"references"`
	}
	if json.Unmarshal(plainJSON(text), &c) != nil || len(c.References) == 0 {
		return false
	}
	return c.Files != nil && len(*c.Files) == 0 && c.Include == nil
}

// plainJSON removes comments and trailing commas from JSON.
func plainJSON(text string) []byte {
	text = strings.TrimPrefix(text, "\ufeff")
	out := make([]byte, 0, len(text))
	comma := -1 // position in out of a comma followed only by space
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			out, comma, i = append(out, text[i:end]...), -1, end-1
			continue
		case strings.HasPrefix(text[i:], "//"):
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				return out
			}
			i += end
			c = '\n'
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return out
			}
			i += end + 3
			c = ' '
		}
		switch c {
		case ',':
			comma = len(out)
		case ' ', '\t', '\r', '\n':
		case ']', '}':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		default:
			comma = -1
		}
		out = append(out, c)
	}
	return out
}

// section returns a section of an INI or TOML file with its header, "" if there is
// none.
func section(text, header string) string {
	inside, found := false, []string(nil)
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "[") {
			name, _, _ := strings.Cut(trimmed, "]")
			inside = name+"]" == header
		}
		if inside {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}
