package executors

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/google/jsonschema-go/jsonschema" // draft 2020-12; already a dependency of the MCP SDK, with no cost at start
)

// Validate is the link that corrects the input of calls by the tool's schema.
// It refuses calls that do not fit the schema, or whose tool does not exist. So
// later links judge a complete card, and the input that they judge is the one
// that runs.
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

// check corrects the call's input, or returns the reason why it cannot run.
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

// Fits returns an error that says why an input does not fit the tool's schema,
// even after correction; nil if it fits.
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
		return raw, nil, inputFailure(tool, schema.Schema(), input, err)
	}
	return fixed, notes, nil
}

// schema resolves each schema once. Resolving it for every call would cost more
// than most tools.
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
