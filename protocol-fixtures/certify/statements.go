package certify

import "strings"

// The levels of a statement, in the words of the protocol.
const (
	must   = "MUST"
	should = "SHOULD"
)

// statement is a duty of a client.
type statement struct {
	name, level, text string
	v1                bool // version 2 has no such methods
}

var statements = []statement{
	{"json-lines", must, "Each line is one JSON object, and nothing else is written to the agent.", false},
	{"messages", must, "Each line is a request, a notification or an answer of JSON-RPC 2.0.", false},
	{"own-ids", must, "A request has an id that no other open request has: a string, an integer or, in version 1, null.", false},
	{"answer-ids", must, "An answer has the id of its request, in the same type.", false},
	{"answered-once", must, "Each request is answered, and only once.", false},
	{"results", must, "Results and errors have the members and types of the schema.", false},
	{"empty-results", should, "A result without members is an object.", false},
	{"params", must, "Requests and notifications have the members and types of the schema.", false},
	{"initialize-first", must, "initialize is the first request, and comes once.", false},
	{"absolute-paths", must, "Directories are absolute.", false},
	{"known-sessions", must, "Sessions are named by ids that the agent has returned.", false},
	{"advertised", must, "Only methods, content, transports and login methods are used that the agent advertises.", false},
	{"offered-values", must, "Modes and values of options are chosen among the offered ones.", false},
	{"stays", must, "The connection stays open while the agent waits for an answer that needs no person.", false},
	{"unknown-methods", must, "An unknown method gets -32601.", false},
	{"unknown-notifications", must, "An unknown notification is ignored.", false},
	{"unknown-members", should, "Unknown members, kinds of updates and `_meta` are ignored.", false},
	{"malformed-frames", should, "Malformed lines, and answers without a request, do not end the client.", false},
	{"late-frames", should, "Updates after the end of a turn, for an unknown call or an unknown session do not end the client.", false},
	{"permission-options", must, "The selected option of a question is one of its options.", false},
	{"permission-cancelled", must, "After session/cancel each open question is answered with `cancelled`.", false},
	{"permission-crossed", should, "A question that crosses session/cancel is answered with `cancelled`.", false},
	{"capabilities", must, "The methods of declared capabilities exist.", false},
	{"undeclared", should, "A method of a capability that is not declared gets an error.", true},
	{"file-content", must, "fs/read_text_file returns the file, or the lines that are asked for.", true},
	{"file-missing", should, "fs/read_text_file of a missing file gets an error.", true},
	{"file-written", must, "fs/write_text_file creates or replaces the file.", true},
	{"terminal-command", must, "A terminal runs the command with its arguments, environment and directory, and returns its output.", true},
	{"terminal-exit", must, "terminal/wait_for_exit and terminal/output return the exit code.", true},
	{"terminal-limit", must, "Output over outputByteLimit loses its beginning, and is marked as truncated.", true},
	{"terminal-kill", must, "terminal/kill ends the command, and the terminal stays valid.", true},
	{"terminal-release", should, "A released terminal is no longer valid.", true},
	{"form-content", must, "The content of an accepted form fits the requested schema.", false},
}

// capability is one that a client can declare. v2 has only some of them.
type capability struct {
	path string
	v2   bool
}

var capabilities = []capability{
	{"fs.readTextFile", false},
	{"fs.writeTextFile", false},
	{"terminal", false},
	{"_meta.terminal_output", false},
	{"session.configOptions.boolean", false},
	{"session.notices", false},
	{"session.compaction", false},
	{"plan", false},
	{"subagents", false},
	{"elicitation.form", true},
	{"elicitation.url", true},
}

// declares reports whether capabilities have one, by its path.
func declares(all map[string]any, path string) bool {
	var at any = all
	for key := range strings.SplitSeq(path, ".") {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	_, object := at.(map[string]any)
	return object || at == true
}

// supports reports whether a client has a capability: it declares it, or the version demands it.
func supports(all map[string]any, version int, path string) bool {
	if version == 2 {
		for _, c := range capabilities {
			if c.path == path && !c.v2 {
				return true
			}
		}
	}
	return declares(all, path)
}
