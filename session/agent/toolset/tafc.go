package toolset

import (
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// thoughtAbout describes the parameter for thoughts to the model.
const thoughtAbout = "Fill this in first: think step by step about the values of the other parameters and their reasons. It is discarded."

// thinking adds a parameter for thoughts to complex tools.
type thinking struct {
	threshold float64
	schemas   map[string]json.RawMessage // by the schema without the parameter
}

// addToAll returns the tools in the form of tool.
func (t *thinking) addToAll(tools []llm.Tool) []llm.Tool {
	out := make([]llm.Tool, len(tools))
	for i, tool := range tools {
		out[i] = t.addTo(tool)
	}
	return out
}

// addTo returns the tool in the form for a model that may think in its call. The
// same tool always has the same bytes.
func (t *thinking) addTo(tool llm.Tool) llm.Tool {
	if s, ok := t.schemas[string(tool.Schema)]; ok {
		tool.Schema = s
		return tool
	}
	schema := tool.Schema
	if complexity(schema) >= t.threshold {
		schema = withThoughts(schema)
	}
	if t.schemas == nil {
		t.schemas = map[string]json.RawMessage{}
	}
	t.schemas[string(tool.Schema)] = schema
	tool.Schema = schema
	return tool
}

// withThoughts adds the parameter to a schema. It is optional, since a call
// without thoughts is valid.
func withThoughts(schema json.RawMessage) json.RawMessage {
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
	properties[thoughtPrefix] = think
	if root["properties"], err = json.Marshal(properties); err != nil {
		return schema
	}
	out, err := json.Marshal(root)
	if err != nil {
		return schema
	}
	return out
}

// The values at which each part of a schema's complexity reaches its maximum,
// and its weight. A flat tool with three parameters scores about 0.2, one with
// a list of objects or with alternatives more than 0.6.
const (
	maxRequired = 6
	maxDepth    = 3
	maxEnum     = 10
	maxParams   = 10

	requiredWeight     = 0.30
	depthWeight        = 0.30
	enumWeight         = 0.20
	paramsWeight       = 0.20
	alternativesWeight = 0.30
)

// complexity scores how hard a JSON Schema is to fill in, from 0 to 1:
//
//	0.30 · required parameters, at any depth, of 6
//	+ 0.30 · levels of objects and arrays in the parameters, of 3
//	+ 0.20 · values of enums in all, of 10
//	+ 0.20 · parameters, at any depth, of 10
//	+ 0.30 if there are alternatives: anyOf, oneOf or allOf
//
// Each share is at most 1, and so is the sum. Parameters and enums count twice
// inside an array, four times inside an array in an array, and so on: a model
// fills them in once per element. Input that is not a schema scores 0.
func complexity(schema json.RawMessage) float64 {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return 0
	}
	var c counts
	c.add(root, 0, 1)
	score := requiredWeight*ratio(c.required, maxRequired) + depthWeight*ratio(c.depth, maxDepth) +
		enumWeight*ratio(c.enum, maxEnum) + paramsWeight*ratio(c.params, maxParams)
	if c.alternatives {
		score += alternativesWeight
	}
	return min(score, 1)
}

// mostComplex returns the tool with the highest complexity and its score.
func mostComplex(tools []executors.Tool) (name string, score float64) {
	for _, tool := range tools {
		if c := complexity(tool.Schema); c > score || name == "" {
			name, score = tool.Name, c
		}
	}
	return name, score
}

func ratio(n, limit int) float64 { return float64(min(n, limit)) / float64(limit) }

// counts are the parts of a schema.
type counts struct {
	required, depth, enum, params int
	alternatives                  bool
}

// maxNesting is the depth to which a schema is examined; no model fills in a
// deeper one.
const maxNesting = 32

// perElement is the factor by which a part of an array's element counts more
// than a part outside of the array.
const perElement = 2

// maxTimes limits how often a part counts; all shares reach their maximum
// earlier.
const maxTimes = 16

// add counts a schema at a depth of level objects and arrays; its parts
// count times.
func (c *counts) add(v any, level, times int) {
	s, ok := v.(map[string]any)
	if !ok || level > maxNesting {
		return
	}
	required, _ := s["required"].([]any)
	enum, _ := s["enum"].([]any)
	c.required += times * len(required)
	c.enum += times * len(enum)
	properties, _ := s["properties"].(map[string]any)
	if level > 0 && (properties != nil || s["items"] != nil || s["type"] == "object" || s["type"] == "array") {
		c.depth = max(c.depth, level)
	}
	c.params += times * len(properties)
	for _, p := range properties {
		c.add(p, level+1, times)
	}
	c.add(s["items"], level+1, min(times*perElement, maxTimes))
	c.add(s["additionalProperties"], level+1, times)
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := s[key].([]any)
		for _, alternative := range list {
			c.alternatives = true
			c.add(alternative, level, times)
		}
	}
	for _, key := range []string{"$defs", "definitions"} {
		defs, _ := s[key].(map[string]any)
		for _, def := range defs {
			c.add(def, level+1, times)
		}
	}
}
