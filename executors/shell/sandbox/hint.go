package sandbox

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Texts that programs print when they are refused something, in lower case.
var (
	denials     = []string{"permission denied", "eacces", "cross-device", "access is denied"}
	unreachable = []string{"connection refused", "econnrefused", "network is unreachable", "enetunreach"}
	onSockets   = []string{"connect", "socket", "listen", "bind(", "bind:", "dial tcp", "urlopen", "network"}
)

// maxHinted is how much of the end of an output is searched, in bytes.
const maxHinted = 64 << 10

// Hint returns advice for the model if the output of a failed command looks as if
// the sandbox was the reason, else "".
func (s *Sandbox) Hint(output string) string {
	if !s.On() {
		return ""
	}
	output = output[max(0, len(output)-maxHinted):]
	lower := strings.ToLower(output)
	says := func(some []string) bool {
		return slices.ContainsFunc(some, func(what string) bool { return strings.Contains(lower, what) })
	}
	denied := says(denials)
	if denied {
		if file := s.refused(output); file != "" {
			return "[sandbox: " + file + " may not be read ([tools.file] deny_read): go on without it, or ask the user]"
		}
	}
	off := !s.setup.Network && s.abi >= abiTCP
	if off && (says(unreachable) || (denied || strings.Contains(lower, "operation not permitted")) && says(onSockets)) {
		return "[sandbox: commands get no network ([tools.shell] allow_network = false): go on without it, or ask the user]"
	}
	if !denied {
		return ""
	}
	text := "[sandbox: commands write only in the session's directories, temporary ones and caches"
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last.split) > 0 {
		text += "; directly in " + strings.Join(s.last.split[:min(len(s.last.split), 3)], ", ") +
			" they cannot read what they just made there: make it with one command and use it with the next, or work in a subdirectory"
	}
	return text + "]"
}

var inQuotes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("['\"`‘“]([^'\"`’”]+)['\"`’”]") })

// refused returns the file that may not be read of those that the lines about a
// refusal name, empty if they name none.
func (s *Sandbox) refused(output string) string {
	if s.setup.Refuses == nil {
		return ""
	}
	for line := range strings.Lines(output) {
		lower := strings.ToLower(line)
		if !slices.ContainsFunc(denials, func(what string) bool { return strings.Contains(lower, what) }) {
			continue
		}
		var names []string
		for _, m := range inQuotes().FindAllStringSubmatch(line, -1) {
			names = append(names, m[1])
		}
		for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n:,;()'\"`", r) }) {
			names = append(names, word)
		}
		for _, name := range names {
			abs := name
			if !filepath.IsAbs(abs) {
				abs = filepath.Join(s.roots[0], name)
			}
			if s.setup.Refuses(filepath.Clean(abs)) {
				return name
			}
		}
	}
	return ""
}
