package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/lazyregexp"
)

// Messages that programs print when a system call is denied, in lower case.
var (
	denials     = []string{"permission denied", "eacces", "cross-device", "access is denied"}
	unreachable = []string{"connection refused", "econnrefused", "network is unreachable", "enetunreach"}
	onSockets   = []string{"connect", "socket", "listen", "bind(", "bind:", "dial tcp", "urlopen", "network"}
)

// maxHinted is how much of the end of an output is searched, in bytes.
const maxHinted = 64 << 10

// Hint returns advice for the model if the output of a failed command suggests
// that the sandbox was the reason, else "".
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
			return "[sandbox: " + file + " may not be read ([tools.file] deny_read): continue without it, or ask the user]"
		}
	}
	off := !s.setup.Network && s.abi >= abiTCP
	if off && (says(unreachable) || (denied || strings.Contains(lower, "operation not permitted")) && says(onSockets)) {
		return "[sandbox: commands have no network ([tools.shell] allow_network = false): continue without it, or ask the user]"
	}
	if !denied {
		return ""
	}
	text := "[sandbox: commands write only in the session's directories, temporary ones and caches"
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last.split) > 0 {
		text += "; directly in " + strings.Join(s.last.split[:min(len(s.last.split), 3)], ", ") +
			" a command cannot read files that it has just created: create them with one command and use them with the next, or work in a subdirectory"
	}
	return text + "]"
}

var inQuotes = lazyregexp.New("['\"`‘“]([^'\"`’”]+)['\"`’”]")

// refused returns the unreadable file that a line about a denial names, empty
// if no line names one.
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
		for _, m := range inQuotes.FindAllStringSubmatch(line, -1) {
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
