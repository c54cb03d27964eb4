// Package fixtures reads, plays and records transcripts of the protocol.
//
// A fixture is a txtar file: a preamble in prose, the server's files (config.toml,
// files below w/, model.jsonl), and frames.jsonl, the frames of client and agent in
// the order of the wire. [Parse] reads a fixture. [Play] plays the client's part
// against a server and compares the agent's frames. [Rewrite] updates the agent's
// part, and [Recorder] creates a fixture from a live connection. protocol-fixtures/README.md
// describes the format.
//
// A fixture that plays contains every frame of the agent. A missing or extra frame,
// one in the wrong place, and an extra member are differences. The package starts no
// server and does not depend on the server that it plays against.
package fixtures

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/tools/txtar"
)

// Fixture is a parsed fixture. "/w" stands for the workspace in its Config, its
// Models and its frames.
type Fixture struct {
	Name     string            // of the file, without directory and .txtar
	Preamble string            // the purpose of the fixture
	Config   []byte            // config.toml; nil if there is none
	Models   map[string][]byte // scripts of models, by name: model.jsonl and others that end in .jsonl
	Files    map[string][]byte // of the workspace, by slash-separated path in it
	Skills   map[string][]byte // of the user's skills, likewise

	steps   []step
	archive *txtar.Archive
}

// The sides of the wire.
const (
	client = "client"
	agent  = "agent"
)

// step is one line of frames.jsonl.
type step struct {
	line        int    // in frames.jsonl, 1-based
	text        string // as written
	side        string
	frames      []json.RawMessage // agent: one frame, or several in any order; nil if not recorded yet
	send        []byte            // client: the frame
	verbatim    bool              // client: send is sent unchanged
	blankBefore bool              // a blank line precedes it
}

// Parse reads a fixture. Its errors name file and line.
func Parse(file string, data []byte) (*Fixture, error) {
	ar := txtar.Parse(data)
	f := &Fixture{
		Name: strings.TrimSuffix(filepath.Base(file), ".txtar"), Preamble: strings.TrimSpace(string(ar.Comment)),
		Models: map[string][]byte{}, Files: map[string][]byte{}, Skills: map[string][]byte{}, archive: ar,
	}
	if f.Preamble == "" {
		return nil, fmt.Errorf("%s: no preamble: say what is checked, and why", file)
	}
	seen := map[string]bool{}
	for _, part := range ar.Files {
		if seen[part.Name] {
			return nil, fmt.Errorf("%s: %s is there twice", file, part.Name)
		}
		seen[part.Name] = true
		var err error
		switch name, inside := strings.CutPrefix(part.Name, "w/"); {
		case inside && path.Clean(name) == name && filepath.IsLocal(name):
			f.Files[name] = part.Data
		case strings.HasPrefix(part.Name, "skills/") && path.Clean(part.Name) == part.Name && filepath.IsLocal(part.Name):
			f.Skills[strings.TrimPrefix(part.Name, "skills/")] = part.Data
		case part.Name == "config.toml":
			f.Config = part.Data
		case part.Name == "frames.jsonl":
			f.steps, err = parseSteps(part.Data)
		case strings.HasSuffix(part.Name, ".jsonl") && path.Base(part.Name) == part.Name:
			f.Models[part.Name] = part.Data
		default:
			err = errors.New("unknown name: want config.toml, frames.jsonl, a model such as model.jsonl, or a file below w/ or skills/")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, part.Name, err)
		}
	}
	if len(f.steps) == 0 {
		return nil, fmt.Errorf("%s: no frames.jsonl, or nothing in it", file)
	}
	return f, nil
}

// parseSteps parses frames.jsonl.
func parseSteps(data []byte) ([]step, error) {
	var steps []step
	n, spaced := 0, false
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			spaced = true
			continue
		}
		s, err := parseStep(line)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
		s.line, s.text, s.blankBefore = n, string(line), spaced
		steps, spaced = append(steps, s), false
	}
	return steps, nil
}

// parseStep parses one line of frames.jsonl.
func parseStep(line []byte) (step, error) {
	var l struct {
		Client json.RawMessage `json:"client"`
		Bytes  []byte          `json:"client_base64"`
		Agent  json.RawMessage `json:"agent"`
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil || dec.More() {
		return step{}, fmt.Errorf(`want {"client": FRAME} or {"agent": FRAME}: %w`, err)
	}
	switch {
	case l.Bytes != nil:
		return step{side: client, send: l.Bytes, verbatim: true}, nil
	case len(l.Client) > 0 && l.Client[0] == '"':
		var text string
		err := json.Unmarshal(l.Client, &text)
		return step{side: client, send: []byte(text), verbatim: true}, err
	case len(l.Client) > 0 && l.Client[0] == '{':
		return step{side: client, send: l.Client}, nil
	case l.Client != nil:
		return step{}, errors.New("client: want a frame, or a string that is sent as it is")
	case string(l.Agent) == "null":
		return step{side: agent}, nil
	case len(l.Agent) > 0 && l.Agent[0] == '[':
		s := step{side: agent}
		err := json.Unmarshal(l.Agent, &s.frames)
		return s, err
	case len(l.Agent) > 0 && l.Agent[0] == '{':
		return step{side: agent, frames: []json.RawMessage{l.Agent}}, nil
	}
	return step{}, errors.New("agent: want a frame, or an array of frames that come in any order")
}

// asksFor2 reports whether the configuration serves version 2 of the protocol.
func (f *Fixture) asksFor2() bool {
	var c struct {
		ACP struct {
			Protocol string `toml:"protocol"`
		} `toml:"acp"`
	}
	return toml.Unmarshal(f.Config, &c) == nil && (c.ACP.Protocol == "auto" || c.ACP.Protocol == "v2")
}

// Speaks2 reports whether the agent answered with version 2 of the protocol when the fixture was
// recorded.
func (f *Fixture) Speaks2() bool {
	for _, s := range f.steps {
		for _, frame := range s.frames {
			var e struct {
				Result struct {
					Version json.RawMessage `json:"protocolVersion"`
				} `json:"result"`
			}
			if json.Unmarshal(frame, &e) == nil && string(e.Result.Version) == "2" {
				return true
			}
		}
	}
	return false
}

// initializes reports whether the fixture sends initialize itself.
func (f *Fixture) initializes() bool {
	for _, s := range f.steps {
		if s.side == client && envelopeOf(s.send).Method == "initialize" {
			return true
		}
	}
	return false
}

// formatVerbatim formats the bytes of a frame as a line of frames.jsonl.
func formatVerbatim(side string, frame []byte) string {
	text := compactJSON(string(frame))
	if back := ""; json.Unmarshal([]byte(text), &back) != nil || back != string(frame) {
		return fmt.Sprintf("{%q: %q}", side+"_base64", base64.StdEncoding.EncodeToString(frame))
	}
	return formatLine(side, text)
}

// formatLine formats a frame as a line of frames.jsonl.
func formatLine(side, text string) string {
	return fmt.Sprintf("%-10s %s}", fmt.Sprintf("{%q:", side), text)
}
