package executors

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/google/jsonschema-go/jsonschema" // draft 2020-12; comes with the MCP SDK and costs nothing at start
)

// Validate is the link that refuses calls whose tool does not exist or whose
// input does not fit the tool's schema, so that no gate behind it judges an
// empty card.
func Validate(next Executor) Executor {
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
	return v.Executor.Execute(ctx, call)
}

func (v *validator) check(call *Call) error {
	tools := v.Tools()
	tool, ok := Find(tools, call.Tool)
	if !ok {
		return NotFound(tools, call.Tool)
	}
	return v.fits(tool, call.Input)
}

// Fits tells why an input does not fit the tool's schema; nil if it does.
func Fits(tool Tool, input json.RawMessage) error {
	v := &validator{resolved: map[string]*jsonschema.Resolved{}}
	return v.fits(tool, input)
}

func (v *validator) fits(tool Tool, raw json.RawMessage) error {
	var input map[string]any
	if err := json.Unmarshal(raw, &input); err != nil || input == nil {
		return Failuref(InvalidParameters, "%s: the input must be a JSON object, got %.80s", tool.Name, raw)
	}
	schema, err := v.schema(tool.Schema)
	if err != nil {
		return Failuref(PermanentFailure, "%s: the tool's schema is broken: %v", tool.Name, err)
	}
	if err := schema.Validate(input); err != nil {
		return unfit(tool, schema.Schema(), input, err)
	}
	return nil
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
