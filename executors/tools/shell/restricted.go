package shell

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// restrictedCommands remembers the read-only commands of one session that failed because
// they need to write, to use the network, or more memory. If the model calls such a
// command again, the user is asked.
type restrictedCommands struct {
	mu       sync.Mutex
	commands []string // the newest last
}

// maxRestricted is how many commands are remembered.
const maxRestricted = 32

// record remembers a read-only command that seems to have failed because of its limits, and
// returns the line for the model below its output. It returns "" for any other command.
func (l *restrictedCommands) record(script string, out Output) string {
	var note string
	switch {
	case out.ExitCode != nil && *out.ExitCode == 0:
		return ""
	case out.ReadOnly && out.containsAny(refusalMessages):
		note = "it could read only the session's directories and the system's, run no program of the session's, and neither write nor use the network"
		if file := out.refusedFile(); file != "" {
			note += "; " + file + " was refused"
		}
		note += "; if it needs more, "
	case out.containsAny(offlineMessages):
		note = "it could neither write nor use the network; if it needs more, "
	case out.ReadOnly && out.containsAny(memoryMessages):
		note = fmt.Sprintf("each of its programs could use at most %d GiB of memory; make it do less, or ", process.MaxMemoryBytes>>30)
	case out.ReadOnly && out.containsAny(tempMessages):
		note = "its temporary files were limited; make it do less, or "
	case out.ReadOnly && out.containsAny([]string{process.TimeExceeded}):
		note = "its time was limited; make it do less, or "
	default:
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.commands, script) {
		l.commands = append(l.commands, script)
		l.commands = l.commands[max(0, len(l.commands)-maxRestricted):]
	}
	return "[read-only: this ran without a question, so " + note + "call it again unchanged in this conversation to ask the user, or have a rule allow it]"
}

// contains reports whether record remembered the command.
func (l *restrictedCommands) contains(script string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.commands, script)
}

// refusalMessages are texts that programs print for EACCES and EPERM, in lower case.
var refusalMessages = []string{"permission denied", "operation not permitted", "eacces", "eperm"}

// tempMessages are texts about a limit for temporary files, in lower case.
var tempMessages = []string{process.TempExceeded, "file size limit exceeded", "file too large"}

// refusedFile returns the absolute path in the last message about a refusal, "" if there is none.
func (o Output) refusedFile() string {
	lines := strings.Split(o.end(), "\n")
	for _, line := range slices.Backward(lines) {
		lower := strings.ToLower(line)
		if !slices.ContainsFunc(refusalMessages, func(what string) bool { return strings.Contains(lower, what) }) {
			continue
		}
		if m := absolutePath.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

var absolutePath = lazyregexp.New("(?:^|[\\s'\"`‘“(:=])(/[^\\s'\"`’”:;,)]+)")

// offlineMessages are texts that go prints when its plain form prevented a download, in
// lower case.
var offlineMessages = []string{"goproxy=off", "gotoolchain=local"}

// memoryMessages are texts that programs print when they get no more memory, in lower
// case.
var memoryMessages = []string{
	"cannot allocate", "can't allocate", "out of memory", "memory exhausted", "memory allocation of", "not enough memory", "not enough space",
	"insufficient memory", "memoryerror", "bad_alloc",
}

// maxSearched is how much of the end of an output is searched, in bytes.
const maxSearched = 64 << 10

// end returns the end of the output.
func (o Output) end() string {
	end := o.Text
	if o.Full != nil {
		end = o.Full.Window(max(0, o.Full.Size()-maxSearched), maxSearched)
	}
	return end[max(0, len(end)-maxSearched):]
}

// containsAny reports whether the end of the output contains one of the texts.
func (o Output) containsAny(texts []string) bool {
	end := strings.ToLower(o.end())
	return slices.ContainsFunc(texts, func(what string) bool { return strings.Contains(end, what) })
}
