package executors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema" // draft 2020-12; already a dependency of the MCP SDK, with no cost at start

	"github.com/zeph-acp/zeph-acp/filter/text/endless"
)

// Validate is the link that corrects the input of calls by the tool's schema.
// It refuses calls that do not fit the schema, or whose tool does not exist. So
// later links check a complete card, and the input that they check is the one
// that runs.
func Validate(next Executor) Executor { return newValidator(next) }

func newValidator(next Executor) *validator {
	return &validator{Executor: next, resolved: map[string]resolved{}}
}

type validator struct {
	Executor

	mu       sync.Mutex
	resolved map[string]resolved // by the schema's text
}

// resolved is a schema that values can be checked against.
type resolved struct {
	*jsonschema.Resolved
	branching map[string]any // the decoded schema; nil if the size of a value bounds its check
}

func (v *validator) Prepare(ctx context.Context, call *Call) (Card, error) {
	if err := v.check(call); err != nil {
		return Card{}, err
	}
	return v.Executor.Prepare(ctx, call)
}

func (v *validator) Execute(ctx context.Context, call *Call) (Result, error) {
	var res Result
	err := v.check(call)
	if err != nil {
		res, err = FailWith(err), nil
	} else {
		res, err = v.Executor.Execute(ctx, call)
	}
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
	if call.fitting.matches(call) { // Prepare has checked it
		return nil
	}
	input, notes, err := v.fit(call.Spec, call.Input)
	if err != nil {
		return err
	}
	call.Input, call.Notes = input, append(call.Notes, notes...)
	call.fitting = fitting{call.Spec.Schema, string(input)}
	return nil
}

// fitting is an input that fits a schema. The zero value fits none.
type fitting struct {
	schema json.RawMessage
	input  string // a copy
}

// matches reports whether it is the input of a call to a tool with that schema.
func (f fitting) matches(call *Call) bool {
	return f.schema != nil && f.input == string(call.Input) && bytes.Equal(f.schema, call.Spec.Schema)
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
	if schema.branching != nil {
		if err := endless.CheckValue(schema.branching, input); err != nil {
			return raw, nil, Failuref(InvalidParameters, "%s: the input %v", tool.Name, err).
				Hint("Split it into several calls, or nest it less.")
		}
	}
	if err := schema.Validate(input); err != nil {
		c := newCorrector(schema.Schema())
		c.keepUnknown = true
		if whole, err := c.object(raw); err == nil {
			input = whole
		}
		return raw, nil, inputFailure(tool, schema.Schema(), input, err)
	}
	return fixed, notes, nil
}

// schema resolves each schema once. Resolving it for every call would cost more
// than most tools.
func (v *validator) schema(raw json.RawMessage) (resolved, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r, ok := v.resolved[string(raw)]; ok {
		return r, nil
	}
	r, err := resolve(raw)
	if err == nil {
		v.resolved[string(raw)] = r
	}
	return r, err
}

// branchingKeywords are the keywords by which several schemas may apply to one value.
var branchingKeywords = [][]byte{
	[]byte(`"$ref"`), []byte(`"$dynamicRef"`), []byte(`"allOf"`), []byte(`"anyOf"`), []byte(`"oneOf"`), []byte(`"not"`),
	[]byte(`"if"`), []byte(`"dependentSchemas"`), []byte(`"dependencies"`), []byte(`"patternProperties"`),
}

// resolve prepares a schema for checks of values. It refuses one whose check may not end.
func resolve(raw json.RawMessage) (r resolved, err error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return r, PlainJSONError(err)
	}
	branches := slices.ContainsFunc(branchingKeywords, func(key []byte) bool { return bytes.Contains(raw, key) })
	if branches && json.Unmarshal(raw, &r.branching) == nil {
		if err := endless.Check(r.branching); err != nil {
			return r, fmt.Errorf("it %w", err)
		}
	}
	r.Resolved, err = s.Resolve(nil)
	return r, err
}
