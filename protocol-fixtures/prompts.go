package fixtures

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Opened is a session that the client of a fixture opens with session/new.
type Opened struct {
	Params  json.RawMessage   // of session/new
	Prompts []json.RawMessage // the content blocks of its prompts, in order
}

// Sessions returns the sessions that the client opens, with their prompts. It is for tests that
// play the prompts in another way than the fixture does: under another configuration, or with
// another client. A name such as "$S" stands for the session that was opened before its first use.
func (f *Fixture) Sessions() []Opened {
	var all []Opened
	known := map[string]int{}
	for _, s := range f.steps {
		var frame struct {
			Method string
			Params struct {
				SessionID string
				Prompt    json.RawMessage
			}
		}
		if s.side != client || s.verbatim || json.Unmarshal(s.send, &frame) != nil {
			continue
		}
		switch name := frame.Params.SessionID; frame.Method {
		case "session/new":
			var params struct{ Params json.RawMessage }
			_ = json.Unmarshal(s.send, &params) // it was read above
			all = append(all, Opened{Params: params.Params})
		case "session/prompt":
			i, ok := known[name]
			if !ok {
				i = min(len(known), len(all)-1)
				known[name] = i
			}
			if i >= 0 && len(frame.Params.Prompt) > 0 {
				all[i].Prompts = append(all[i].Prompts, frame.Params.Prompt)
			}
		}
	}
	return all
}

// endless matches what may go on until it is cancelled.
var endless = lazyregexp.New(`"wait"|sleep \d\d`)

// Cancels reports whether a prompt of the fixture is cancelled, or may go on until then.
func (f *Fixture) Cancels() bool {
	for _, script := range f.Models {
		if endless.MatchString(string(script)) {
			return true
		}
	}
	for _, s := range f.steps {
		if s.side == client && endless.MatchString(string(s.send)) {
			return true
		}
		if m := envelopeOf(s.send).Method; s.side == client && (m == "session/cancel" || m == "$/cancel_request") {
			return true
		}
	}
	return false
}

// Said returns the different lines of the agent's messages that begin with prefix, a list mark
// before it left out, in their order.
func (f *Fixture) Said(prefix string) (lines []string) {
	for _, s := range f.steps {
		if s.side != agent {
			continue
		}
		for _, frame := range s.frames {
			var message struct {
				Params struct {
					Update struct {
						Content struct{ Text string }
					}
				}
			}
			if json.Unmarshal(frame, &message) != nil {
				continue
			}
			for line := range strings.Lines(message.Params.Update.Content.Text) {
				line = strings.TrimPrefix(strings.TrimRight(line, "\n"), "- ")
				if strings.HasPrefix(line, prefix) && !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}
