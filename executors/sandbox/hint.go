package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Messages that programs print when a system call is denied, in lower case.
var (
	denialMessages      = []string{"permission denied", "eacces", "cross-device", "access is denied"}
	unreachableMessages = []string{"connection refused", "econnrefused", "network is unreachable", "enetunreach"}
	socketMessages      = []string{"connect", "socket", "listen", "bind(", "bind:", "dial tcp", "urlopen", "network"}
)

// maxSearched is how much of the end of an output is searched, in bytes.
const maxSearched = 64 << 10

// hint returns advice for the model if the output of a failed command suggests
// that the sandbox was the reason, else "".
func (s *Sandbox) hint(output string) string {
	if !s.On() {
		return ""
	}
	output = output[max(0, len(output)-maxSearched):]
	lower := strings.ToLower(output)
	containsAny := func(messages []string) bool {
		return slices.ContainsFunc(messages, func(message string) bool { return strings.Contains(lower, message) })
	}
	denied := containsAny(denialMessages)
	if denied {
		if file := s.refusedFileIn(output); file != "" {
			return "[sandbox: " + file + " may not be read ([tools.file] deny_read): continue without it, or ask the user]"
		}
	}
	noNetwork := !s.session.Network && s.abi >= abiTCP
	socketDenied := (denied || strings.Contains(lower, "operation not permitted")) && containsAny(socketMessages)
	if noNetwork && (socketDenied || containsAny(unreachableMessages)) {
		return "[sandbox: commands have no network ([tools.shell] allow_network = false): continue without it, or ask the user]"
	}
	if !denied {
		return ""
	}
	text := "[sandbox: commands write only in the session's directories, temporary ones and caches"
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lastPlan.createUnreadable) > 0 {
		text += "; directly in " + strings.Join(s.lastPlan.createUnreadable[:min(len(s.lastPlan.createUnreadable), 3)], ", ") +
			" a command cannot read files that it has just created: create them with one command and use them with the next, or work in a subdirectory"
	}
	return text + "]"
}

var inQuotes = lazyregexp.New("['\"`‘“]([^'\"`’”]+)['\"`’”]")

// refusedFileIn returns the unreadable file that a line about a denial names, empty
// if no line names one.
func (s *Sandbox) refusedFileIn(output string) string {
	if s.session.Refuses == nil {
		return ""
	}
	for line := range strings.Lines(output) {
		lower := strings.ToLower(line)
		if !slices.ContainsFunc(denialMessages, func(what string) bool { return strings.Contains(lower, what) }) {
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
			if s.session.Refuses(filepath.Clean(abs)) {
				return name
			}
		}
	}
	return ""
}
