package toolset

import (
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// thoughtAbout is what the model is told of the parameter that it thinks in.
const thoughtAbout = "Fill this first: think step by step about what the other parameters must be, and why. Nobody reads it."

// thinking gives complex tools the parameter.
type thinking struct {
	threshold float64
	schemas   map[string]json.RawMessage // by the schema without it
}

func (t *thinking) all(tools []llm.Tool) []llm.Tool {
	out := make([]llm.Tool, len(tools))
	for i, tool := range tools {
		out[i] = t.tool(tool)
	}
	return out
}

// tool gives the tool as a model that may think in its call gets it. The same
// tool always has the same bytes.
func (t *thinking) tool(tool llm.Tool) llm.Tool {
	if s, ok := t.schemas[string(tool.Schema)]; ok {
		tool.Schema = s
		return tool
	}
	schema := tool.Schema
	if Complexity(schema) >= t.threshold {
		schema = augmented(schema)
	}
	if t.schemas == nil {
		t.schemas = map[string]json.RawMessage{}
	}
	t.schemas[string(tool.Schema)] = schema
	tool.Schema = schema
	return tool
}

// augmented adds the parameter to a schema. It is not required: a call without
// thoughts is as good.
func augmented(schema json.RawMessage) json.RawMessage {
	var root, properties map[string]json.RawMessage
	if json.Unmarshal(schema, &root) != nil || root == nil {
		return schema
	}
	if root["properties"] != nil && json.Unmarshal(root["properties"], &properties) != nil {
		return schema
	}
	if properties == nil {
		properties = map[string]json.RawMessage{}
	}
	think, err := json.Marshal(map[string]string{"type": "string", "description": thoughtAbout})
	if err != nil {
		return schema
	}
	properties[Prefix] = think
	if root["properties"], err = json.Marshal(properties); err != nil {
		return schema
	}
	out, err := json.Marshal(root)
	if err != nil {
		return schema
	}
	return out
}

// Where each part of a schema's complexity is at its most, and what it then
// counts. A flat tool with three parameters has about 0.2, one that takes a list
// of objects with choices in them 0.5, one with alternatives on top of it more
// than 0.6.
const (
	mostRequired, requiredWeight = 6, 0.30
	mostDepth, depthWeight       = 3, 0.30
	mostEnum, enumWeight         = 10, 0.20
	mostParams, paramsWeight     = 10, 0.20
	alternativesWeight           = 0.30
)

// Complexity scores how hard it is to fill a JSON Schema in, from 0 to 1:
//
//	0.30 · required parameters, at any depth, of 6
//	+ 0.30 · levels of objects and arrays in the parameters, of 3
//	+ 0.20 · values of enums in all, of 10
//	+ 0.20 · parameters, at any depth, of 10
//	+ 0.30 if there are alternatives: anyOf, oneOf or allOf
//
// where each share counts up to 1, and so does the sum. What is no schema has 0.
func Complexity(schema json.RawMessage) float64 {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return 0
	}
	var c counts
	c.schema(root, 0)
	score := requiredWeight*share(c.required, mostRequired) + depthWeight*share(c.depth, mostDepth) +
		enumWeight*share(c.enum, mostEnum) + paramsWeight*share(c.params, mostParams)
	if c.alternatives {
		score += alternativesWeight
	}
	return min(score, 1)
}

func share(n, most int) float64 { return float64(min(n, most)) / float64(most) }

// counts is what a schema has.
type counts struct {
	required, depth, enum, params int
	alternatives                  bool
}

// maxNesting is how deep a schema is looked into; no model fills in a deeper one.
const maxNesting = 32

// schema counts one schema that lies in so many levels of objects and arrays.
func (c *counts) schema(v any, level int) {
	s, ok := v.(map[string]any)
	if !ok || level > maxNesting {
		return
	}
	required, _ := s["required"].([]any)
	enum, _ := s["enum"].([]any)
	c.required += len(required)
	c.enum += len(enum)
	properties, _ := s["properties"].(map[string]any)
	if level > 0 && (properties != nil || s["items"] != nil || s["type"] == "object" || s["type"] == "array") {
		c.depth = max(c.depth, level)
	}
	c.params += len(properties)
	for _, p := range properties {
		c.schema(p, level+1)
	}
	c.schema(s["items"], level+1)
	c.schema(s["additionalProperties"], level+1)
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := s[key].([]any)
		for _, alternative := range list {
			c.alternatives = true
			c.schema(alternative, level)
		}
	}
	for _, key := range []string{"$defs", "definitions"} {
		defs, _ := s[key].(map[string]any)
		for _, def := range defs {
			c.schema(def, level+1)
		}
	}
}
