package fixtures

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// Conn is the connection to a new server.
type Conn struct {
	In        io.WriteCloser // its stdin; closed by Play and Rewrite
	Out       io.Reader      // its stdout; read to its end
	Workspace Workspace
	// Trace, if not nil, gets every line of both sides, unchanged.
	// An error from it fails the play.
	Trace func(side string, line []byte) error
}

// patience limits the wait for a frame. Only a failing fixture waits so long.
const patience = 10 * time.Second

// initialize is the first frame of a client with all capabilities.
const initialize = `{"jsonrpc":"2.0","id":"initialize","method":"initialize","params":{"protocolVersion":1,` +
	`"clientInfo":{"name":"zeph-acp-replay","version":"1"},"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,` +
	`"auth":{"terminal":true},"elicitation":{"form":{},"url":{}},"session":{"configOptions":{"boolean":{}},"notices":{},"compaction":{}},` +
	`"_meta":{"terminal_output":true}}}}`

// initialize2 is the same for version 2.
const initialize2 = `{"jsonrpc":"2.0","id":"initialize","method":"initialize","params":{"protocolVersion":2,` +
	`"info":{"name":"zeph-acp-replay","version":"1"},"capabilities":{"auth":{"terminal":{}},"elicitation":{"form":{},"url":{}}}}}`

// Play plays a fixture. It sends the client's lines as soon as all of the agent's lines
// before them have arrived; consecutive lines go out in one write. The error is the
// first difference.
//
// The agent writes its frames in the fixture's order, with two exceptions: between
// two lines of the client, frames of different sessions may change places, and the
// frames of an array may have any order. After the last line the input is closed,
// and no frame may follow.
func Play(f *Fixture, c Conn) error {
	p := newPlayer(c)
	err := p.play(f)
	return cmp.Or(err, p.end())
}

// play sends and expects the lines of a fixture.
func (p *player) play(f *Fixture) error {
	if !f.initializes() {
		if err := p.initialize(f); err != nil {
			return err
		}
	}
	for _, run := range runs(f.steps) {
		take := p.expect
		if run[0].side == client {
			take = p.send
		}
		if at, err := take(run); err != nil {
			return fmt.Errorf("%s: frames.jsonl:%d: %w", f.Name, at.line, err)
		}
	}
	return nil
}

// runs groups consecutive lines of one side.
func runs(steps []step) [][]step {
	var all [][]step
	for len(steps) > 0 {
		n := 1
		for n < len(steps) && steps[n].side == steps[0].side {
			n++
		}
		all, steps = append(all, steps[:n]), steps[n:]
	}
	return all
}

// player is one connection.
type player struct {
	Conn
	lines          chan []byte // of the agent; closed at the end
	readErr        error       // set before lines is closed
	bindings       Bindings
	clientRequests map[string]string // the session of each request of the client, by id
	agentRequests  map[string]string // the session of each request of the agent, by id
}

// newPlayer returns a player that reads the agent's lines in the background.
func newPlayer(c Conn) *player {
	p := &player{
		Conn: c, lines: make(chan []byte), bindings: Bindings{},
		clientRequests: map[string]string{}, agentRequests: map[string]string{},
	}
	go func() {
		defer close(p.lines)
		r := bufio.NewReader(c.Out)
		for {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				p.lines <- bytes.TrimSuffix(line, []byte("\n"))
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					p.readErr = err
				}
				return
			}
		}
	}()
	return p
}

// end closes the input and reads until the agent ends. It fails if the agent writes more
// lines.
func (p *player) end() error {
	err := p.In.Close()
	var more [][]byte
	for line := range p.lines {
		if p.Trace != nil {
			err = errors.Join(err, p.Trace(agent, line))
		}
		more = append(more, line)
	}
	if len(more) > 0 {
		return fmt.Errorf("after the last line the agent wrote\n\t%s", p.Workspace.Written(string(bytes.Join(more, []byte("\n\t")))))
	}
	return errors.Join(err, p.readErr)
}

// initialize sends initialize, for a fixture that does not send it itself.
func (p *player) initialize(f *Fixture) error {
	hello := initialize
	if f.asksFor2() {
		hello = initialize2
	}
	if err := p.write([]byte(hello + "\n")); err != nil {
		return err
	}
	line, err := p.read(patience)
	if err == nil && envelopeOf(line).Result == nil {
		err = fmt.Errorf("got %s", line)
	}
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	return nil
}

// send writes lines of the client. Its error names the line.
func (p *player) send(steps []step) (step, error) {
	var text []byte
	for _, s := range steps {
		line := s.send
		if !s.verbatim {
			var err error
			if line, err = p.bindings.fill(line); err != nil {
				return s, err
			}
			line = mapStrings(line, func(_, s string) string { return compactJSON(p.Workspace.Real(s)) })
		}
		text = append(append(text, line...), '\n')
	}
	return steps[0], p.write(text)
}

// write sends lines, and remembers the sessions of the requests in them.
func (p *player) write(text []byte) error {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if e := envelopeOf(line); e.Method != "" && e.ID != nil {
			p.clientRequests[string(plainjson.Canonical(e.ID))] = e.Params.SessionID
		}
		if p.Trace != nil {
			if err := p.Trace(client, line); err != nil {
				return err
			}
		}
	}
	_, err := p.In.Write(text)
	return err
}

// errSilent is the error of read if no line arrived in time.
var errSilent = errors.New("the agent writes nothing")

// read returns the next line of the agent, with /w for the workspace.
func (p *player) read(wait time.Duration) ([]byte, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case line, ok := <-p.lines:
		if !ok {
			return nil, errors.Join(errors.New("the agent ended the connection"), p.readErr)
		}
		if p.Trace != nil {
			if err := p.Trace(agent, line); err != nil {
				return nil, fmt.Errorf("%w\n\tin   %s", err, line)
			}
		}
		line = mapStrings(line, func(_, s string) string { return compactJSON(p.Workspace.Written(s)) })
		if e := envelopeOf(line); e.Method != "" && e.ID != nil {
			p.agentRequests[string(plainjson.Canonical(e.ID))] = e.Params.SessionID
		}
		return line, nil
	case <-timer.C:
		return nil, errSilent
	}
}

// expect reads the frames of the agent's lines. Its error names the line.
func (p *player) expect(steps []step) (step, error) {
	pending := make([]step, 0, len(steps))
	for _, s := range steps {
		if len(s.frames) == 0 {
			return s, errors.New("not recorded yet: run with -update")
		}
		s.frames = append([]json.RawMessage(nil), s.frames...)
		pending = append(pending, s)
	}
	for len(pending) > 0 {
		got, err := p.read(patience)
		if err != nil {
			return pending[0], fmt.Errorf("%w\n\twant %s", err, pending[0].text)
		}
		i := p.stepFor(pending, got)
		if i < 0 {
			return pending[len(pending)-1], fmt.Errorf("unexpected frame\n\tgot  %s", got)
		}
		if err := p.matchFrame(&pending[i], got); err != nil {
			return pending[i], fmt.Errorf("%w\n\tin   %s", err, got)
		}
		if len(pending[i].frames) == 0 {
			pending = append(pending[:i], pending[i+1:]...)
		}
	}
	return step{}, nil
}

// stepFor returns the index of the line that a frame must match: the first one that does
// not belong to another session. -1 means that there is none.
func (p *player) stepFor(pending []step, got []byte) int {
	session := p.session(got)
	for i, s := range pending {
		if len(s.frames) > 1 || session == "" {
			return i
		}
		if want := p.session(s.frames[0]); want == "" || want == session {
			return i
		}
	}
	return -1
}

// session returns the session of an agent's frame; "" if it has none, or its name is
// not bound yet. Such a frame keeps its place.
func (p *player) session(frame []byte) string {
	filled, _ := p.bindings.fill(frame) // names that this frame binds stay
	e := envelopeOf(filled)
	switch {
	case e.Method == "":
		return p.clientRequests[string(plainjson.Canonical(e.ID))]
	case e.Method == "$/cancel_request":
		return p.agentRequests[string(plainjson.Canonical(e.Params.RequestID))]
	case strings.HasPrefix(e.Params.SessionID, "$"):
		return ""
	}
	return e.Params.SessionID
}

// matchFrame removes the matching frame from a line.
func (p *player) matchFrame(s *step, got []byte) error {
	var first *Difference
	for i, want := range s.frames {
		d := Match(want, got, p.bindings)
		if d == nil {
			s.frames = append(s.frames[:i], s.frames[i+1:]...)
			return nil
		}
		if first == nil {
			first = d
		}
	}
	if n := len(s.frames); n > 1 {
		return fmt.Errorf("none of the %d frames of this line; of the first it differs\n%w", n, first)
	}
	return first
}

// envelope holds the members of a frame that a player needs.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Params struct {
		SessionID string          `json:"sessionId"`
		RequestID json.RawMessage `json:"requestId"`
		CWD       string          `json:"cwd"`
		Update    struct {
			Kind       string `json:"sessionUpdate"`
			ToolCallID string `json:"toolCallId"`
			Status     string `json:"status"`
		} `json:"update"`
	} `json:"params"`
}

// envelopeOf reads the members that a line has. The line may be anything.
func envelopeOf(line []byte) envelope {
	var e envelope
	_ = json.Unmarshal(line, &e)
	return e
}
