package aws

import (
	"maps"
	"strings"
)

// section holds the keys of one section of a file, in lower case.
type section map[string]string

// parseINI parses a file of AWS's tools: sections, keys with values, and comments. Indented lines below a key are settings of
// services, which are skipped. It never fails, since AWS's tools skip what they do not know, too.
// https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
func parseINI(data []byte) map[string]section {
	sections := map[string]section{}
	var current section
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(strings.TrimPrefix(line, "\ufeff"), "\r\n")
		switch text := strings.TrimSpace(line); {
		case text == "", text[0] == '#', text[0] == ';', line[0] == ' ', line[0] == '\t':
		case text[0] == '[':
			name, _, ok := strings.Cut(text[1:], "]")
			if current = nil; ok {
				name = strings.Join(strings.Fields(name), " ")
				if sections[name] == nil {
					sections[name] = section{}
				}
				current = sections[name]
			}
		default:
			if key, value, ok := strings.Cut(text, "="); ok && current != nil {
				current[strings.ToLower(strings.TrimSpace(key))] = trimComment(value)
			}
		}
	}
	return sections
}

// trimComment returns a value without the comment after it.
func trimComment(value string) string {
	for _, mark := range []string{" #", " ;", "\t#", "\t;"} {
		value, _, _ = strings.Cut(value, mark)
	}
	return strings.TrimSpace(value)
}

// add adds the sections of a file. In the configuration, profiles other than "default" have the word "profile" before their name.
func (f files) add(sections map[string]section, configuration bool) {
	for name, s := range sections {
		kind, rest, ok := strings.Cut(name, " ")
		rest = strings.Trim(rest, `"'`)
		switch {
		case configuration && ok && kind == "sso-session":
			f.sessions[rest] = s
			continue
		case configuration && ok && kind == "profile":
			name = rest
		case configuration && name != "default":
			continue
		}
		if f.profiles[name] == nil {
			f.profiles[name] = section{}
		}
		maps.Copy(f.profiles[name], s)
	}
}
