package files

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// editorConfig is what a .editorconfig says of character sets: https://spec.editorconfig.org. The library
// editorconfig-core-go opens the files itself, outside the roots too, and compiles regexes when a process starts.
type editorConfig struct {
	root     bool // no file above counts
	sections []editorSection
}

// editorSection is a section with a charset.
type editorSection struct {
	name    *regexp.Regexp // of paths from the directory of the file
	charset string
}

// maxSectionName is the limit of the specification, in characters.
const maxSectionName = 1024

// parseEditorConfig parses a .editorconfig. Lines and sections that are wrong count for nothing.
func parseEditorConfig(text string) editorConfig {
	var c editorConfig
	var section *regexp.Regexp
	preamble, numbers := true, maxNumbers
	for line := range strings.Lines(strings.TrimPrefix(text, executors.ByteOrderMark)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "["); ok {
			name, _, closed := cutLast(name, "]")
			preamble, section = false, nil
			if closed && len(name) <= maxSectionName {
				section, _ = regexp.Compile(sectionRegexp(name, &numbers)) // an odd range of characters matches nothing
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.ToLower(strings.TrimSpace(value))
		switch {
		case !ok:
		case preamble && key == "root":
			c.root = value == "true"
		case section != nil && key == "charset":
			c.sections = append(c.sections, editorSection{section, value})
		}
	}
	return c
}

// charset returns the charset of a path from the directory of the file; the last section that matches decides.
func (c editorConfig) charset(path string) string {
	for i := len(c.sections) - 1; i >= 0; i-- {
		if c.sections[i].name.MatchString(path) {
			return c.sections[i].charset
		}
	}
	return ""
}

// sectionRegexp returns the glob of a section as a regex. A glob without a slash matches names in any directory.
// numbers is how many numbers of ranges may still be written.
func sectionRegexp(glob string, numbers *int) string {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	if rest, anchored := strings.CutPrefix(glob, "/"); anchored {
		glob = rest
	} else if !strings.Contains(glob, "/") {
		b.WriteString(`(?:.*/)?`)
	}
	writeGlob(&b, glob, numbers)
	return b.String() + `\z`
}

// writeGlob writes a part of a glob as a regex.
func writeGlob(b *strings.Builder, glob string, numbers *int) {
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '*':
			if strings.HasPrefix(glob[i:], "**") {
				b.WriteString(`.*`)
				i++
			} else {
				b.WriteString(`[^/]*`)
			}
		case '?':
			b.WriteString(`[^/]`)
		case '[':
			end := strings.IndexByte(glob[i:], ']')
			if end < 2 || strings.Contains(glob[i:i+end], "/") {
				b.WriteString(`\[`)
				continue
			}
			class := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`).Replace(glob[i+1 : i+end])
			if rest, not := strings.CutPrefix(class, "!"); not {
				class = "^" + rest
			}
			b.WriteString("[" + class + "]")
			i += end
		case '{':
			parts, end := braceParts(glob[i:], numbers)
			if end == 0 {
				b.WriteString(`\{`)
				continue
			}
			b.WriteString(`(?:`)
			for n, part := range parts {
				if n > 0 {
					b.WriteByte('|')
				}
				writeGlob(b, part, numbers)
			}
			b.WriteString(`)`)
			i += end
		case '\\':
			if i+1 < len(glob) {
				i++
			}
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
}

// maxNumbers bounds the numbers of all ranges, such as {1..9}, in a file.
const maxNumbers = 10_000

// braceParts returns the alternatives of a glob that begins with a brace, and the index of the closing one. end is 0 if the braces
// stand for themselves.
func braceParts(glob string, numbers *int) (parts []string, end int) {
	depth, from := 0, 1
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 1 {
				parts = append(parts, glob[from:i])
				from = i + 1
			}
		case '}':
			if depth--; depth > 0 {
				continue
			}
			if parts = append(parts, glob[from:i]); len(parts) > 1 {
				return parts, i
			}
			if parts = numberRange(parts[0], numbers); parts != nil {
				return parts, i
			}
			return nil, 0
		}
	}
	return nil, 0
}

// numberRange returns the numbers of a range such as 1..9, nil if it is not a range or has more numbers than may still be written.
func numberRange(text string, numbers *int) []string {
	low, high, _ := strings.Cut(text, "..")
	from, err := strconv.ParseInt(low, 10, 32)
	to, err2 := strconv.ParseInt(high, 10, 32)
	if err != nil || err2 != nil {
		return nil
	}
	from, to = min(from, to), max(from, to)
	if to-from >= int64(*numbers) {
		return nil
	}
	*numbers -= int(to - from + 1)
	var out []string
	for n := from; n <= to; n++ {
		out = append(out, strconv.FormatInt(n, 10))
	}
	return out
}
