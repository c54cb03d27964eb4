package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/endless"
)

// exitForm is the exit status if the answer does not fit --output-schema.
const exitForm = 4

// form is the form that an answer must have.
type form struct {
	name   string // for messages
	text   string // of the schema
	schema *jsonschema.Resolved
	root   map[string]any // the decoded schema; nil for true and false
}

// maxSchema bounds the schema, which is a part of the prompt, in bytes.
const maxSchema = 256 << 10

// readForm reads a JSON Schema.
func readForm(file string) (*form, error) {
	data, err := readBounded(file, maxSchema)
	if err != nil {
		return nil, err
	}
	return newForm("--output-schema", data)
}

func newForm(name string, data []byte) (*form, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(data, &schema); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	f := &form{name: name}
	var err error
	if json.Unmarshal(data, &f.root) == nil {
		if err = endless.Check(f.root); err != nil {
			return nil, fmt.Errorf("the schema %w", err)
		}
	}
	if f.schema, err = schema.Resolve(nil); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	var text bytes.Buffer
	if err := json.Compact(&text, data); err != nil {
		return nil, err
	}
	f.text = text.String()
	return f, nil
}

// request returns the text that asks the model for the form.
func (f *form) request() string {
	return "Your last message must be JSON alone, without words or a code fence around it. It must fit this JSON Schema:\n" + f.text
}

// value returns the JSON of an answer on one line. The error says why it does not fit.
func (f *form) value(answer string) ([]byte, error) {
	text := unfenced(answer)
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if err := endless.CheckValue(f.root, value); err != nil {
		return nil, fmt.Errorf("it %w", err)
	}
	if err := f.schema.Validate(value); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "validating root: "))
	}
	var b bytes.Buffer
	err := json.Compact(&b, []byte(text))
	return b.Bytes(), err
}

// unfenced returns the text in the last code fence of an answer, or else the answer.
func unfenced(answer string) string {
	answer = strings.TrimSpace(answer)
	before, ok := strings.CutSuffix(answer, "\n```")
	if !ok {
		return answer
	}
	i := strings.LastIndex("\n"+before, "\n```")
	if i < 0 {
		return answer
	}
	_, inside, _ := strings.Cut(before[i:], "\n")
	return strings.TrimSpace(inside)
}

// repair returns a function that asks the model once more if its answer does not fit.
func (f *form) repair(calls *tally) func(acp.StopReason, error) []acp.ContentBlock {
	asked := false
	return func(stop acp.StopReason, err error) []acp.ContentBlock {
		if err != nil || stop != acp.StopEndTurn || asked || !calls.answered() {
			return nil
		}
		if _, err = f.value(calls.answer(stop)); err == nil {
			return nil
		}
		asked = true
		return []acp.ContentBlock{acp.TextBlock(fmt.Sprintf("Your answer does not fit: %v\n\n%s", err, f.request()))}
	}
}

// end returns the JSON of the turn's answer, or the error with its exit status.
func (f *form) end(calls *tally) ([]byte, error) {
	if !calls.answered() {
		return nil, &exit{exitForm, fmt.Errorf("no model has answered, so there is no answer for %s", f.name)}
	}
	value, err := f.value(calls.answer(acp.StopEndTurn))
	if err != nil {
		return nil, &exit{exitForm, fmt.Errorf("the answer does not fit %s: %w", f.name, err)}
	}
	return value, nil
}
