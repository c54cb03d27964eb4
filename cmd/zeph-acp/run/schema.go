package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/endless"
)

// exitSchema is the exit status if the answer does not fit --output-schema.
const exitSchema = 4

// AnswerSchema is the JSON Schema that an answer must fit.
type AnswerSchema struct {
	name   string // of the schema, in messages
	text   string // compact JSON
	schema *jsonschema.Resolved
	root   map[string]any // the decoded text; nil for the schemas true and false
}

// maxSchema bounds the schema, which is a part of the prompt, in bytes.
const maxSchema = 256 << 10

// readAnswerSchema reads a JSON Schema.
func readAnswerSchema(file string) (*AnswerSchema, error) {
	data, err := cli.ReadBounded(file, maxSchema)
	if err != nil {
		return nil, err
	}
	return NewAnswerSchema("--output-schema", data)
}

// NewAnswerSchema parses a JSON Schema. It refuses schemas whose validation might not end.
func NewAnswerSchema(name string, data []byte) (*AnswerSchema, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(data, &schema); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", executors.PlainJSONError(err))
	}
	s := &AnswerSchema{name: name}
	var err error
	if json.Unmarshal(data, &s.root) == nil {
		if err = endless.Check(s.root); err != nil {
			return nil, fmt.Errorf("the schema %w", err)
		}
	}
	if s.schema, err = schema.Resolve(nil); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	var text bytes.Buffer
	if err := json.Compact(&text, data); err != nil {
		return nil, err
	}
	s.text = text.String()
	return s, nil
}

// instruction returns the text that asks the model for an answer by the schema.
func (s *AnswerSchema) instruction() string {
	return "Your last message must be JSON alone, without words or a code fence around it. It must fit this JSON Schema:\n" + s.text
}

// parse returns the JSON of an answer on one line. The error says why it does not fit.
func (s *AnswerSchema) parse(answer string) ([]byte, error) {
	text := headless.Unfenced(answer)
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if err := endless.CheckValue(s.root, value); err != nil {
		return nil, fmt.Errorf("it %w", err)
	}
	if err := s.schema.Validate(value); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "validating root: "))
	}
	var b bytes.Buffer
	err := json.Compact(&b, []byte(text))
	return b.Bytes(), err
}

// repair returns a function for headless.Turn.Next: it asks the model once more if its answer
// does not fit.
func (s *AnswerSchema) repair(calls *tally) func(acp.StopReason, error) []acp.ContentBlock {
	asked := false
	return func(stop acp.StopReason, err error) []acp.ContentBlock {
		if err != nil || stop != acp.StopEndTurn || asked || !calls.answered() {
			return nil
		}
		if _, err = s.parse(calls.answer(stop)); err == nil {
			return nil
		}
		asked = true
		return []acp.ContentBlock{acp.TextBlock(fmt.Sprintf("Your answer does not fit: %v\n\n%s", err, s.instruction()))}
	}
}

// turnAnswer returns the JSON of the turn's answer, or the error with its exit status.
func (s *AnswerSchema) turnAnswer(calls *tally) ([]byte, error) {
	if !calls.answered() {
		return nil, &cli.ExitError{Code: exitSchema, Cause: fmt.Errorf("no model has answered, so there is no answer for %s", s.name)}
	}
	value, err := s.parse(calls.answer(acp.StopEndTurn))
	if err != nil {
		return nil, &cli.ExitError{Code: exitSchema, Cause: fmt.Errorf("the answer does not fit %s: %w", s.name, err)}
	}
	return value, nil
}
