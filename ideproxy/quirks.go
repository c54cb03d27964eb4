package ideproxy

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
)

// quirks describes a client's behaviour beyond its capabilities. The zero value
// describes an unknown client.
type quirks struct {
	arguments arguments
	// readsDiskOnly means that the client reads files only from the disk, so that
	// it need not be asked about a missing file.
	readsDiskOnly bool
	ours          bool // the client of this program
	// dropsEnd means that a terminal keeps the beginning of an output over the limit,
	// not the end.
	dropsEnd bool
	// endInOutput means that terminal/wait_for_exit returns no exit status, perhaps while
	// the command still runs. terminal/output has the status.
	endInOutput bool
	why         string // one line for people: why commands do not run in its terminals
	// showsCall means that a question shows the kind and the content of its call, so that the title need not say what
	// will happen.
	showsCall bool
	// firstDiff means that a question shows a diff only if it is the first content of the call, and then shows no title.
	firstDiff bool
	// plainCommands means that the title of a call of kind execute is not read as Markdown.
	plainCommands bool
	// followsLast means that the client opens a buffer for each location of a call, and jumps to the last one. Its lines
	// begin at 0.
	followsLast bool
	// titlesTerminals means that the header of a terminal in a call is the title of the next update after it.
	titlesTerminals bool
}

// arguments is the way in which terminal/create passes arguments on. bash -c SCRIPT has
// two arguments; if they are joined, another command runs.
type arguments int

const (
	argumentsUnknown arguments = iota // a probe decides
	argumentsKept                     // unchanged
	argumentsUnsafe                   // joined, or not proved to arrive unchanged
)

// clients are the clients whose source was read, by clientInfo.name. An entry
// applies from the version since on.
var clients = []struct {
	name, since string
	quirks
	source string
}{
	{
		name:   "vscode-acp-client",
		quirks: quirks{arguments: argumentsUnsafe, why: "this editor joins the arguments of a command and lets a shell split them again"},
		source: "https://github.com/formulahendry/vscode-acp/blob/main/src/handlers/TerminalHandler.ts", // spawn with shell: true
	},
	{
		name: "zed", since: "1.0.0", quirks: quirks{
			arguments: argumentsKept, dropsEnd: true, showsCall: true, plainCommands: true, followsLast: true, titlesTerminals: true,
		},
		source: "https://github.com/zed-industries/zed/pull/42651 and crates/acp_thread/src/terminal.rs", // earlier versions joined arguments
	},
	{
		name:   "acpx",
		quirks: quirks{arguments: argumentsKept, readsDiskOnly: true}, // it also prints an error for each file that it cannot read
		source: "https://github.com/openclaw/acpx/tree/main/src/acp",
	},
	{
		name: "toad", quirks: quirks{arguments: argumentsKept},
		source: "https://github.com/batrachianai/toad/blob/main/src/toad/widgets/terminal_tool.py", // shlex.join
	},
	{
		name: "CodeCompanion.nvim", quirks: quirks{firstDiff: true},
		source: "https://github.com/olimorris/codecompanion.nvim/blob/main/lua/codecompanion/interactions/chat/acp/request_permission.lua",
	},
	{name: "zeph-acp-run", quirks: quirks{arguments: argumentsKept, ours: true}, source: "cmd/zeph-acp/headless"},
	{name: "zeph-acp-replay", quirks: quirks{arguments: argumentsKept}, source: "protocol-fixtures"},
}

// quirksOf returns the quirks of the client.
func quirksOf(client acp.Implementation) quirks {
	for _, c := range clients {
		if strings.EqualFold(c.name, client.Name) && !older(client.Version, c.since) {
			return c.quirks
		}
	}
	return quirks{}
}

// Ours reports whether the client is zeph-acp run. It implements terminals itself, so the
// limits of an editor do not apply.
func Ours(client *acp.Client) bool { return quirksOf(client.Info()).ours }

// noun returns the words for the client in messages.
func noun(client *acp.Client) string {
	if Ours(client) {
		return "zeph-acp"
	}
	return "the editor"
}

// HasTerminals reports whether the client has terminals that may be usable for
// commands.
func HasTerminals(client *acp.Client) bool {
	return client.Capabilities().Terminal && quirksOf(client.Info()).arguments != argumentsUnsafe
}

// older reports whether a version, numbers between dots, comes before since. An
// unreadable version is older than any.
func older(version, since string) bool {
	for since != "" {
		var have, want string
		have, version, _ = strings.Cut(version, ".")
		want, since, _ = strings.Cut(since, ".")
		if a, b := versionNumber(have), versionNumber(want); a != b {
			return a < b
		}
	}
	return false
}

// versionNumber parses the digits at the beginning of s, a part of a version: 0 for an
// empty part, -1 for one without digits.
func versionNumber(s string) int {
	if s == "" {
		return 0
	}
	n := -1
	for _, r := range strings.TrimPrefix(s, "v") {
		if r < '0' || r > '9' || n > 1<<20 {
			break
		}
		n = max(n, 0)*10 + int(r-'0')
	}
	return n
}
