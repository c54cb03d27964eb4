package executors

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"
)

// Func is one tool of a Registry, bound to its input type. Make it with [Bind].
type Func struct {
	Tool
	prepare func(ctx context.Context, call *Call) (Card, error)
	execute func(ctx context.Context, call *Call) (Result, error)
}

// Bind returns a Func for a tool whose input is the struct In. It generates the
// schema from In: the json tag names a member, omitempty makes it optional, the
// jsonschema tag describes it. An input that does not decode into In fails before
// prepare or execute is called.
func Bind[In any](t Tool,
	prepare func(ctx context.Context, call *Call, in *In) (Card, error),
	execute func(ctx context.Context, call *Call, in *In) (Result, error),
) *Func {
	t.Schema = schemaOf(reflect.TypeFor[In]())
	return &Func{
		Tool: t,
		prepare: func(ctx context.Context, call *Call) (Card, error) {
			in := new(In)
			if err := decode(call, in); err != nil {
				return Card{}, err
			}
			return prepare(ctx, call, in)
		},
		execute: func(ctx context.Context, call *Call) (Result, error) {
			in := new(In)
			if err := decode(call, in); err != nil {
				return FailWith(err), nil
			}
			return execute(ctx, call, in)
		},
	}
}

// Registry is an Executor made of Funcs. A package of tools returns one. It must
// not change after it was made.
type Registry []*Func

// Limited sets the limit of all tools of a new registry; see [Tool.MaxOutput].
func (r Registry) Limited(chars int) Registry {
	for _, f := range r {
		f.MaxOutput = chars
	}
	return r
}

// Tools lists the tools in order.
func (r Registry) Tools() []Tool {
	tools := make([]Tool, len(r))
	for i, f := range r {
		tools[i] = f.Tool
	}
	return tools
}

// Prepare calls the tool's prepare function.
func (r Registry) Prepare(ctx context.Context, call *Call) (Card, error) {
	f, err := r.find(call.Tool)
	if err != nil {
		return Card{}, err
	}
	return f.prepare(ctx, call)
}

// Execute calls the tool's execute function.
func (r Registry) Execute(ctx context.Context, call *Call) (Result, error) {
	f, err := r.find(call.Tool)
	if err != nil {
		return FailWith(err), nil
	}
	return f.execute(ctx, call)
}

func (r Registry) find(name string) (*Func, error) {
	i := r.index(name)
	if i < 0 {
		return nil, NotFound(r.Tools(), name)
	}
	return r[i], nil
}

// index returns the index of the tool of that name, or -1.
func (r Registry) index(name string) int {
	for i := range r {
		if r[i].Name == name {
			return i
		}
	}
	return -1
}

// generatedSchemas caches the results of schemaOf: reflection is too slow to repeat
// for each session.
var generatedSchemas sync.Map // reflect.Type -> json.RawMessage

// schemaOf generates the JSON Schema of t: an object without references and without
// keywords that a model does not need.
func schemaOf(t reflect.Type) json.RawMessage {
	if s, ok := generatedSchemas.Load(t); ok {
		return s.(json.RawMessage)
	}
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true}
	s := r.ReflectFromType(t)
	s.Version = ""
	raw := encodeSchema(s)
	generatedSchemas.Store(t, raw)
	return raw
}

// encodeSchema returns the JSON of a schema, and stores its form for models, which [Tool.Offered]
// returns. The library encodes a schema with a keyword that objectOf does not support.
func encodeSchema(s *jsonschema.Schema) json.RawMessage {
	if o, ok := objectOf(s); ok {
		raw := o.append(nil)
		offeredSchemas.Store(string(raw), json.RawMessage(o.offered().append(nil)))
		return raw
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("schema: %v", err)) // a bug: no schema can describe this struct
	}
	return raw
}

// decode parses the call's input into the struct that in points to. Errors name the
// member.
func decode(call *Call, in any) error {
	err := json.Unmarshal(call.Input, in)
	switch e := err.(type) {
	case nil:
		return nil
	case *json.UnmarshalTypeError:
		return Failuref(TypeMismatch, "%s: %s", call.Tool, wrongType(e, "input"))
	default:
		return Failuref(InvalidParameters, "%s: input is not a JSON object: %v", call.Tool, err)
	}
}

// PlainJSONError returns an error that says which member has the wrong type, without the
// names of Go's types. For an error that only repeats the text of a json.UnmarshalTypeError, it
// says no more than that a value has the wrong type. Other errors are returned unchanged.
func PlainJSONError(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return errors.New(wrongType(e, "the value"))
	}
	if doing, _, ok := strings.Cut(err.Error(), "json: cannot unmarshal"); ok {
		return errors.New(doing + "a value has the wrong type")
	}
	return err
}

// wrongType describes a value of the wrong type; whole is the name of a value that is not a member.
func wrongType(e *json.UnmarshalTypeError, whole string) string {
	names := strings.Split(e.Field, ".")
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == "" || name == "schemaWithoutMethods" // a struct that jsonschema embeds
	})
	want, got := jsonType(e.Type), typeOfValue(e.Value)
	text := cmp.Or(strings.Join(names, "."), whole) + " must be " + want
	if got != want {
		text += ", got " + got
	}
	return text
}

// typeOfValue returns the type of the value of an UnmarshalTypeError. In the errors of the MCP
// SDK's decoder, Value is the beginning of the value or, for strings, the wanted type.
func typeOfValue(value string) string {
	switch {
	case strings.HasPrefix(value, `"`):
		return "string"
	case strings.HasPrefix(value, "["):
		return "array"
	case strings.HasPrefix(value, "{"):
		return "object"
	case strings.HasPrefix(value, "true"), strings.HasPrefix(value, "false"):
		return "bool"
	case value != "" && strings.ContainsRune("-0123456789", rune(value[0])):
		return "number"
	}
	return value
}

// jsonType returns the name of a Go type in JSON Schema.
func jsonType(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	}
	if strings.HasPrefix(t.Kind().String(), "float") {
		return "number"
	}
	return "integer"
}
