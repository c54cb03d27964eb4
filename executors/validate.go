package executors

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/google/jsonschema-go/jsonschema" // draft 2020-12; comes with the MCP SDK and costs nothing at start
)

// Validate is the link that corrects the input of calls by the tool's schema and
// refuses calls that do not fit it, or whose tool does not exist. So every link
// after it judges a whole card, and the input that is judged is the one that runs.
func Validate(next Executor) Executor { return newValidator(next) }

func newValidator(next Executor) *validator {
	return &validator{Executor: next, resolved: map[string]*jsonschema.Resolved{}}
}

type validator struct {
	Executor

	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved // by the schema's text
}

func (v *validator) Prepare(ctx context.Context, call *Call) (Card, error) {
	if err := v.check(call); err != nil {
		return Card{}, err
	}
	return v.Executor.Prepare(ctx, call)
}

func (v *validator) Execute(ctx context.Context, call *Call) (Result, error) {
	if err := v.check(call); err != nil {
		return FailWith(err), nil
	}
	res, err := v.Executor.Execute(ctx, call)
	for _, note := range call.Notes {
		res.Below(note)
	}
	return res, err
}

// check corrects the call's input, or returns why it cannot run.
func (v *validator) check(call *Call) error {
	if call.Spec.Name == "" {
		return NotFound(v.Tools(), call.Tool)
	}
	input, notes, err := v.fit(call.Spec, call.Input)
	if err != nil {
		return err
	}
	call.Input, call.Notes = input, append(call.Notes, notes...)
	return nil
}

// Fits returns why an input does not fit the tool's schema, even once corrected;
// nil if it does.
func Fits(tool Tool, input json.RawMessage) error {
	_, _, err := newValidator(nil).fit(tool, input)
	return err
}

// fit returns the input as the tool's schema requires it, with notes for the model.
func (v *validator) fit(tool Tool, raw json.RawMessage) (json.RawMessage, []string, error) {
	schema, err := v.schema(tool.Schema)
	if err != nil {
		return raw, nil, Failuref(PermanentFailure, "%s: the tool's schema is broken: %v", tool.Name, err)
	}
	fixed, notes, err := correct(schema.Schema(), raw)
	switch {
	case errors.Is(err, errTwice):
		return raw, nil, Failuref(InvalidParameters, "%s: %v", tool.Name, err)
	case err != nil:
		return raw, nil, Failuref(InvalidParameters, "%s: %v, got %.80s", tool.Name, errNoObject, raw)
	}
	var input map[string]any
	if err := json.Unmarshal(fixed, &input); err != nil { // a number that is out of range
		return raw, nil, Failuref(InvalidParameters, "%s: %v", tool.Name, err)
	}
	if err := schema.Validate(input); err != nil {
		if whole, err := newCorrector(schema.Schema(), true).object(raw); err == nil {
			input = whole
		}
		return raw, nil, unfit(tool, schema.Schema(), input, err)
	}
	return fixed, notes, nil
}

// schema resolves a schema once: doing it for every call would cost more than
// most tools.
func (v *validator) schema(raw json.RawMessage) (*jsonschema.Resolved, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r, ok := v.resolved[string(raw)]; ok {
		return r, nil
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	r, err := s.Resolve(nil)
	if err == nil {
		v.resolved[string(raw)] = r
	}
	return r, err
}
