package toolset

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

const (
	flat    = `{"type":"object","properties":{"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"}},"required":["path","old","new"]}`
	nested  = `{"type":"object","properties":{"entries":{"type":"array","items":{"type":"object","properties":{"content":{"type":"string"},"priority":{"enum":["high","medium","low"]},"status":{"enum":["pending","in_progress","completed"]}},"required":["content"]}}},"required":["entries"]}`
	complex = `{"type":"object","required":["project","summary","fields"],"properties":{"project":{"type":"string"},"summary":{"type":"string"},
		"fields":{"type":"object","required":["type"],"properties":{"type":{"enum":["bug","task","story"]},"assignee":{"oneOf":[{"type":"string"},{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}]}}}}}`
)

func TestComplexity(t *testing.T) {
	for name, tt := range map[string]struct {
		schema string
		want   float64
	}{
		"nothing":         {``, 0},
		"no schema":       {`[1]`, 0},
		"no parameters":   {`{"type":"object"}`, 0},
		"one":             {`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`, 0.3/6 + 0.2/10},
		"three, all flat": {flat, 0.15 + 0.06},
		"a list of words": {`{"type":"object","properties":{"all":{"type":"array","items":{"type":"string"}}}}`, 0.1 + 0.02},
		"a plan":          {nested, 0.3*3/6 + 0.3*2/3 + 0.2 + 0.2*7/10},
		"lists in lists":  {`{"properties":{"a":{"items":{"items":{"required":["x"],"properties":{"x":{"enum":[1,2]}}}}}}}`, 0.3*4/6 + 0.3 + 0.2*8/10 + 0.2*5/10},
		"an issue":        {complex, 0.3*5/6 + 0.3*2/3 + 0.2*3/10 + 0.2*6/10 + 0.3},
		"alternatives":    {`{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, 0.1 + 0.3},
		"definitions":     {`{"$defs":{"x":{"type":"object","properties":{"a":{},"b":{}}}},"properties":{"x":{"$ref":"#/$defs/x"}}}`, 0.1 + 0.06},
		"a long enum":     {`{"properties":{"x":{"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13]}}}`, 0.2 + 0.02},
		"all at its most": {`{"required":["a","b","c","d","e","f"],"oneOf":[],"properties":{"a":{"enum":[1,2,3,4,5,6,7,8,9,0],"anyOf":[{}]},"b":{"items":{"items":{"items":{}}}},"c":{},"d":{},"e":{},"f":{},"g":{},"h":{},"i":{},"j":{}}}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := complexity(json.RawMessage(tt.schema)); math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestThinking(t *testing.T) {
	th := thinking{threshold: 0.6}
	for range 2 { // the same bytes each time
		got := th.addToAll([]llm.Tool{{Name: "flat", Schema: json.RawMessage(flat)}, {Name: "complex", Schema: json.RawMessage(complex)},
			{Name: "broken", Schema: json.RawMessage(`[]`)}})
		if string(got[0].Schema) != flat || string(got[2].Schema) != `[]` {
			t.Errorf("%v", got)
		}
		const want = `{"properties":{"_tafc_think":{"description":"Fill this in first: think step by step about the values of the other parameters and their reasons. It is discarded.","type":"string"},"fields":{"type":"object","required":["type"],"properties":{"type":{"enum":["bug","task","story"]},"assignee":{"oneOf":[{"type":"string"},{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}]}}},"project":{"type":"string"},"summary":{"type":"string"}},"required":["project","summary","fields"],"type":"object"}`
		if string(got[1].Schema) != want {
			t.Errorf("%s", got[1].Schema)
		}
	}
	all := thinking{threshold: 0}
	if got := string(all.addTo(llm.Tool{Schema: json.RawMessage(`{"type":"object"}`)}).Schema); len(got) < 100 {
		t.Errorf("a threshold of 0 leaves out %s", got)
	}
}

func TestThreshold(t *testing.T) {
	for _, tt := range []struct {
		given, want float64
		warns       bool
	}{{0.6, 0.6, false}, {0, 0, false}, {1, 1, false}, {-1, 0, true}, {1.5, 1, true}, {math.NaN(), 0.6, true}, {math.Inf(1), 0.6, true},
		{math.Inf(-1), 0.6, true}} {
		got, notes := TAFC{Enabled: true, ComplexityThreshold: tt.given}.threshold()
		if got != tt.want || (len(notes) > 0) != tt.warns {
			t.Errorf("%v: %v, %q", tt.given, got, notes)
		}
		if _, notes := (TAFC{ComplexityThreshold: tt.given}).threshold(); notes != nil {
			t.Errorf("%v is told of, though all is off", tt.given)
		}
	}
}
