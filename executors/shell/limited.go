package shell

import (
	"slices"
	"strings"
	"sync"
)

// limited remembers the read-only commands of one session that needed to write or to
// use the network. If the model calls such a command again, the user is asked.
type limited struct {
	mu       sync.Mutex
	commands []string // the newest last
}

// maxLimited is how many commands limited remembers.
const maxLimited = 32

// note remembers a read-only command that seems to have failed because it could only
// read, and returns the line for the model below its output. It returns "" for any
// other command.
func (l *limited) note(script string, out Output) string {
	if out.ExitCode != nil && *out.ExitCode == 0 || !(out.ReadOnly && out.says(refusals) || out.says(offline)) {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.commands, script) {
		l.commands = append(l.commands, script)
		l.commands = l.commands[max(0, len(l.commands)-maxLimited):]
	}
	return "[read-only: this ran without a question, so it could neither write nor use the network; if it has to, call it again as it is, and the user is asked]"
}

// has reports whether note remembered the command.
func (l *limited) has(script string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.commands, script)
}

// refusals are texts that programs print for EACCES and EPERM, in lower case.
var refusals = []string{"permission denied", "operation not permitted", "eacces", "eperm"}

// offline are texts that go prints when its plain form prevented a download, in
// lower case.
var offline = []string{"goproxy=off", "gotoolchain=local"}

// maxRefused is how much of the end of an output is searched, in bytes.
const maxRefused = 64 << 10

// says reports whether the end of the output has one of the texts.
func (o Output) says(texts []string) bool {
	end := o.Text
	if o.Full != nil {
		end = o.Full.Window(max(0, o.Full.Size()-maxRefused), maxRefused)
	}
	end = strings.ToLower(end[max(0, len(end)-maxRefused):])
	return slices.ContainsFunc(texts, func(what string) bool { return strings.Contains(end, what) })
}
