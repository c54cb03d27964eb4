package agent

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A call with another spelling of the tool's name, or with an input that is nearly JSON, runs. Its history has
// the corrected form, and its result says so.
func TestCorrectedForm(t *testing.T) {
	const called = "[the tool is called look, not "
	const corrected = "[the arguments were corrected to valid JSON: they had "
	for name, tt := range map[string]struct{ tool, input, wantTool, wantInput, result string }{
		"right":     {"look", `{"path":"/w/a"}`, "look", `{"path":"/w/a"}`, "look of /w/a as attempt 1"},
		"namespace": {"functions.look", `{"path":"/w/a"}`, "look", `{"path":"/w/a"}`, "look of /w/a as attempt 1\n" + called + "functions.look]"},
		"token": {"look<|channel|>commentary", `{"path":"/w/a"}`, "look", `{"path":"/w/a"}`,
			"look of /w/a as attempt 1\n" + called + "look<|channel|>commentary]"},
		"nearly JSON": {"look", `"{'path': '/w/a',}"`, "look", `{"path":"/w/a"}`,
			"look of /w/a as attempt 1\n" + corrected + "single quotation marks, a trailing comma]"},
		"both": {" Look", `"{\"path\": \"/w/a\""`, "look", `{"path":"/w/a"}`, "look of /w/a as attempt 1\n" + called + "Look]\n" + corrected + "a missing }]"},
		"not JSON": {"look", `"{\"path\": \"/w/a"`, "look", `"{\"path\": \"/w/a"`,
			"[tool_error]\ncategory: invalid_parameters\nerror: look: the input must be a JSON object, got \"{\\\"path\\\": \\\"/w/a\"\nsuggestion: "},
		"unknown": {"speak", `{"path":"/w/a"}`, "speak", `{"path":"/w/a"}`, "[tool_error]\ncategory: tool_not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			script, err := json.Marshal(map[string]any{"tool": tt.tool, "input": json.RawMessage(tt.input)})
			if err != nil {
				t.Fatal(err)
			}
			a, _ := strictAgent(t, string(script)+"\n\n"+`{"text":"done"}`, "", c)
			history, _, err := c.turn(t.Context(), t, a, nil, text("hi"))
			if err != nil {
				t.Fatal(err)
			}
			call, result := history[1].Blocks[0].Call, history[2].Blocks[0].Result.Text
			if call.Name != tt.wantTool || string(call.Input) != tt.wantInput {
				t.Errorf("the history has %s %s, want %s %s", call.Name, call.Input, tt.wantTool, tt.wantInput)
			}
			if len(result) > len(tt.result) {
				result = result[:len(tt.result)]
			}
			if diff := cmp.Diff(tt.result, result); diff != "" {
				t.Errorf("result (-want +got)\n%s", diff)
			}
		})
	}
}
