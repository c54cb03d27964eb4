package fixtures

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// Recorder writes the frames of a connection as a fixture, to be shortened by hand. The
// working directory of the first session becomes /w. UUIDs of the agent and models get
// names as with [Rewrite], so that the recording can be played. Its methods may be
// called concurrently.
type Recorder struct {
	mu        sync.Mutex
	w         io.Writer
	err       error
	started   bool
	names     *names
	workspace Workspace
}

// NewRecorder writes to w, one write per frame. It writes nothing before the first
// frame.
func NewRecorder(w io.Writer) *Recorder {
	return &Recorder{w: w, names: newNames(hasProvider)}
}

// hasProvider distinguishes PROVIDER:MODEL from the built-in provider: a replay has
// only the models of model.jsonl.
func hasProvider(model string) bool { return strings.Contains(model, ":") }

const recordedPreamble = `Recorded from a live connection. Cut it to the point, and say here what is
checked and why. Write model.jsonl by what the agent says below.

-- frames.jsonl --
`

// Trace writes one line of the wire; side is "client" or "agent".
func (r *Recorder) Trace(side string, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := r.line(side, line)
	if !r.started {
		text, r.started = recordedPreamble+text, true
	}
	if _, err := io.WriteString(r.w, text+"\n"); err != nil && r.err == nil {
		r.err = fmt.Errorf("record: %w", err)
	}
}

// Err returns the first error of a write.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// maskSecrets removes the values from the environment and the headers of MCP servers, which
// may hold keys. It reports whether there were any.
func (n *node) maskSecrets() (found bool) {
	servers := n.at("params").at("mcpServers")
	if servers == nil {
		return false
	}
	for _, server := range servers.items {
		for _, list := range []*node{server.at("env"), server.at("headers")} {
			if list == nil {
				continue
			}
			for _, entry := range list.items {
				if value := entry.at("value"); value != nil {
					*value, found = node{raw: `"xxxxx"`}, true
				}
			}
		}
	}
	return found
}

// line returns a line of the wire in the form of a fixture.
func (r *Recorder) line(side string, line []byte) string {
	if side == client && r.workspace == "" {
		r.workspace = Workspace(envelopeOf(line).Params.CWD)
	}
	n, err := parseNode(line)
	if err != nil || n.open != '{' {
		return formatVerbatim(side, line)
	}
	if side == client && n.maskSecrets() {
		line = []byte(n.String())
	}
	ambiguous := false
	n.strings("", func(_, s string) string {
		ambiguous = ambiguous || nameWhole.MatchString(s)
		return compactJSON(r.workspace.Written(s))
	})
	if side == agent {
		n.loosen(r.names, nil)
	}
	n.strings("", func(key, s string) string {
		if side == client && r.names.byValue[s] == "" {
			return compactJSON(s) // the client's own ids get no name
		}
		return r.names.replace(key, s)
	})
	if ambiguous && side == client { // it would look like a name
		return formatVerbatim(side, line)
	}
	return formatLine(side, strings.TrimSpace(n.String()))
}
