package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// Script replays the answers of a model from JSONL. It is the deterministic model of
// tests and fixtures. One line is one event, an object with one of these:
//
//	{"text": "…"}                                a piece of the answer
//	{"thought": "…"}                             a piece of the reasoning
//	{"tool": "bash", "input": {…}, "id": "c1"}   a tool call; input is {} and id is made up by default
//	{"usage": {"input": 9, "output": 1, "cache_read": 0, "cache_write": 0}}
//	{"delay_ms": 50}                             nothing for that long
//	{"wait": "cancel"}                           nothing until the turn is cancelled
//	{"error": "overloaded", "status": 529}       the provider fails; status is 0 by default
//	{"error": "busy", "again": true}             and may work later; "retry_after_ms": 50 asks to wait that long
//	{"stop": "max_tokens"}                       or end, tools, refusal
//
// {"tool": {"name": …, "input": …, "id": …}} and {"error": {"message": …, "status": …}}
// are the same, and so are the stops end_turn and tool_use.
//
// A blank line ends a model call; wait, error and stop must be its last event.
// A call without any of them stops with tools if it has a tool call, else with
// end. Each Stream takes the next model call, in the order in which they begin;
// every session has its own Script.
type Script struct {
	// As configured; Provider is "script" by default.
	Provider      string
	ContextWindow int
	NoImages      bool      // the model accepts no images
	Price         llm.Price // the zero value means unknown
	// Sleep waits for a delay; nil means to wait in real time.
	Sleep func(ctx context.Context, d time.Duration) error

	name  string
	calls [][]step

	mu   sync.Mutex
	next int // index into calls
}

// step is one line of a script: an event, a failure or a pause.
type step struct {
	event llm.Event
	fail  *llm.Error
	delay time.Duration
	wait  bool
}

// LoadScript reads the script in a file.
func LoadScript(path string) (*Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	defer f.Close()
	return ParseScript(path, f)
}

// ParseScript parses a script; its errors have the form "name:line: …".
func ParseScript(name string, r io.Reader) (*Script, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", name, err)
	}
	s := &Script{name: name}
	var call []step
	n, tools := 0, 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			s.add(call)
			call = nil
			continue
		}
		if len(call) > 0 && call[len(call)-1].ends() {
			return nil, fmt.Errorf("%s:%d: nothing can follow wait, error or stop; a blank line begins the next model call", name, n)
		}
		st, err := parseStep(line, &tools)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		call = append(call, st)
	}
	s.add(call)
	return s, nil
}

// add appends a model call, unless it is empty, and completes it with a stop.
func (s *Script) add(call []step) {
	if len(call) == 0 {
		return
	}
	if !call[len(call)-1].ends() {
		stop := llm.StopEnd
		if slices.ContainsFunc(call, func(st step) bool { return st.event.Call != nil }) {
			stop = llm.StopTools
		}
		call = append(call, step{event: llm.Event{Stop: stop}})
	}
	s.calls = append(s.calls, call)
}

func (st step) ends() bool { return st.wait || st.fail != nil || st.event.Stop != "" }

// scriptLine is one line of a script as written.
type scriptLine struct {
	Text    string          `json:"text"`
	Thought string          `json:"thought"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	ID      string          `json:"id"`
	Usage   *struct {
		Input      int `json:"input"`
		Output     int `json:"output"`
		CacheRead  int `json:"cache_read"`
		CacheWrite int `json:"cache_write"`
	} `json:"usage"`
	DelayMS *int           `json:"delay_ms"`
	Wait    string         `json:"wait"`
	Error   string         `json:"error"`
	Status  int            `json:"status"`
	Again   bool           `json:"again"`
	AfterMS int            `json:"retry_after_ms"`
	Stop    llm.StopReason `json:"stop"`
}

// parseStep parses one line; tools counts the tool calls so far.
func parseStep(text []byte, tools *int) (step, error) {
	text, err := flatten(text)
	if err != nil {
		return step{}, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var l scriptLine
	if err := dec.Decode(&l); err != nil {
		return step{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return step{}, errors.New("want one JSON object on a line")
	}
	switch l.Stop { // also the words of the client protocol and of providers
	case "end_turn":
		l.Stop = llm.StopEnd
	case "tool_use":
		l.Stop = llm.StopTools
	}
	if err := l.check(); err != nil {
		return step{}, err
	}
	st := step{event: llm.Event{Text: l.Text, Thought: l.Thought, Stop: l.Stop}, wait: l.Wait != ""}
	switch {
	case l.Tool != "":
		*tools++
		if l.Input == nil {
			l.Input = json.RawMessage("{}")
		}
		st.event.Call = &llm.ToolCall{ID: cmp.Or(l.ID, fmt.Sprintf("call_%d", *tools)), Name: l.Tool, Input: l.Input}
	case l.Usage != nil:
		u := l.Usage
		st.event.Usage = &llm.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	case l.DelayMS != nil:
		st.delay = time.Duration(*l.DelayMS) * time.Millisecond
	case l.Error != "":
		st.fail = &llm.Error{
			Status: l.Status, Message: l.Error, Auth: wire.IsAuth(l.Status), TooLong: wire.IsTooLong(l.Status, "", l.Error),
			Retryable: l.Again, RetryAfter: time.Duration(l.AfterMS) * time.Millisecond,
		}
	}
	return st, nil
}

// flatten rewrites {"tool": {"name": …, "input": …}} and {"error": {"message": …,
// "status": …}} into the form of scriptLine.
func flatten(text []byte) ([]byte, error) {
	var l map[string]json.RawMessage
	if json.Unmarshal(text, &l) != nil {
		return text, nil // the decoder reports the mistake
	}
	for member, name := range map[string]string{"tool": "name", "error": "message"} {
		var inner map[string]json.RawMessage
		if json.Unmarshal(l[member], &inner) != nil || inner == nil {
			continue
		}
		l[member] = inner[name]
		delete(inner, name)
		for k, v := range inner {
			if _, ok := l[k]; ok {
				return nil, fmt.Errorf("%s is given twice", k)
			}
			l[k] = v
		}
		return json.Marshal(l)
	}
	return text, nil
}

// check returns an error unless the line is one event with the members that belong to it.
func (l scriptLine) check() error {
	kinds := 0
	for _, set := range []bool{
		l.Text != "", l.Thought != "", l.Tool != "", l.Usage != nil, l.DelayMS != nil, l.Wait != "", l.Error != "", l.Stop != "",
	} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New("want exactly one of text, thought, tool, usage, delay_ms, wait, error and stop, not empty")
	case l.Tool == "" && (l.Input != nil || l.ID != ""):
		return errors.New("input and id belong to a tool")
	case l.Error == "" && (l.Status != 0 || l.Again || l.AfterMS != 0):
		return errors.New("status, again and retry_after_ms belong to an error")
	case l.AfterMS < 0, l.AfterMS > 0 && !l.Again:
		return errors.New("retry_after_ms must not be negative, and needs again")
	case l.DelayMS != nil && *l.DelayMS < 0:
		return errors.New("delay_ms must not be negative")
	case l.Wait != "" && l.Wait != "cancel":
		return fmt.Errorf(`wait must be "cancel", not %q`, l.Wait)
	}
	switch l.Stop {
	case "", llm.StopEnd, llm.StopTools, llm.StopMaxTokens, llm.StopRefusal:
		return nil
	}
	return fmt.Errorf("stop must be end, tools, max_tokens or refusal, not %q", l.Stop)
}

// Name returns "script:FILE".
func (s *Script) Name() string { return s.provider() + ":" + s.name }

// Window returns the configured window.
func (s *Script) Window() int { return s.ContextWindow }

// AcceptsImages is true unless NoImages is set.
func (s *Script) AcceptsImages() bool { return !s.NoImages }

// Prices returns the configured prices.
func (s *Script) Prices() llm.Price { return s.Price }

func (s *Script) provider() string { return cmp.Or(s.Provider, "script") }

// Stream replays the next model call. It fails when no call is left.
func (s *Script) Stream(ctx context.Context, _ llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if ctx.Err() != nil { // a cancelled turn consumes no model call
			yield(llm.Event{}, context.Cause(ctx))
			return
		}
		steps, err := s.nextCall()
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		for _, st := range steps {
			if err := s.pause(ctx, st); err != nil {
				yield(llm.Event{}, err)
				return
			}
			if st.event != (llm.Event{}) && !yield(cloneEvent(st.event), nil) {
				return
			}
		}
	}
}

// nextCall returns the next model call.
func (s *Script) nextCall() ([]step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == len(s.calls) {
		return nil, &llm.Error{Provider: s.provider(), Message: fmt.Sprintf("%s has no model call left after %d", s.name, len(s.calls)),
			Hint: "add one to the script"}
	}
	s.next++
	return s.calls[s.next-1], nil
}

// pause waits or fails as the step says, before its event.
func (s *Script) pause(ctx context.Context, st step) error {
	switch {
	case st.wait:
		<-ctx.Done()
	case st.delay > 0 && s.Sleep != nil:
		if err := s.Sleep(ctx, st.delay); err != nil && ctx.Err() == nil {
			return err
		}
	case st.delay > 0:
		t := time.NewTimer(st.delay)
		defer t.Stop()
		select {
		case <-ctx.Done():
		case <-t.C:
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case st.fail != nil:
		fail := *st.fail
		fail.Provider = s.provider()
		return &fail
	}
	return nil
}

// cloneEvent copies an event, so that its receiver cannot change the script.
func cloneEvent(e llm.Event) llm.Event {
	if e.Call != nil {
		c := *e.Call
		c.Input = bytes.Clone(c.Input)
		e.Call = &c
	}
	if e.Usage != nil {
		u := *e.Usage
		e.Usage = &u
	}
	return e
}
