package acp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The log keeps the state of a terminal in _meta, as version 1 of the protocol shows it, and its command as well.
func TestTerminalUpdate(t *testing.T) {
	code, out := 1, "ok\n"
	exit := &TerminalExit{TerminalID: "t", ExitCode: &code}
	for name, tt := range map[string]struct {
		update         TerminalUpdate
		stored, frames string
	}{
		"open": {TerminalUpdate{TerminalID: "t", Opens: true, Command: "make", CWD: "/w"},
			`{"terminal_info":{"terminal_id":"t","cwd":"/w","command":"make"}}`, `{"terminal_info":{"terminal_id":"t","cwd":"/w"}}`},
		"older log": {TerminalUpdate{TerminalID: "t", Opens: true, CWD: "/w"},
			`{"terminal_info":{"terminal_id":"t","cwd":"/w"}}`, `{"terminal_info":{"terminal_id":"t","cwd":"/w"}}`},
		"end": {TerminalUpdate{TerminalID: "t", Exit: exit},
			`{"terminal_exit":{"terminal_id":"t","exit_code":1,"signal":null}}`, `{"terminal_exit":{"terminal_id":"t","exit_code":1,"signal":null}}`},
		"replayed end": {TerminalUpdate{TerminalID: "t", Output: &out, Exit: exit},
			`{"terminal_output":{"terminal_id":"t","data":"ok\n"},"terminal_exit":{"terminal_id":"t","exit_code":1,"signal":null}}`,
			`{"terminal_output":{"terminal_id":"t","data":"ok\n"},"terminal_exit":{"terminal_id":"t","exit_code":1,"signal":null}}`},
	} {
		t.Run(name, func(t *testing.T) {
			stored, err := json.Marshal(tt.update)
			if err != nil || string(stored) != tt.stored {
				t.Errorf("stored as %s, want %s: %v", stored, tt.stored, err)
			}
			var read TerminalUpdate
			if err := json.Unmarshal(stored, &read); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.update, read); diff != "" {
				t.Errorf("read (-want +got)\n%s", diff)
			}
			shown, err := json.Marshal(v1Update(ToolCall{Update: UpdateToolCall, ToolCallID: "c", Terminal: &tt.update}))
			if want := `{"sessionUpdate":"tool_call","toolCallId":"c","_meta":` + tt.frames + `}`; err != nil || string(shown) != want {
				t.Errorf("version 1 shows %s, want %s: %v", shown, want, err)
			}
		})
	}
	for _, u := range []SessionUpdate{
		TerminalChunk{TerminalID: "t", ToolCallID: "c", Data: out}, TerminalUpdate{TerminalID: "t", ToolCallID: "c", Output: &out},
	} {
		shown, err := json.Marshal(v1Update(u))
		want := `{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_output":{"terminal_id":"t","data":"ok\n"}}}`
		if err != nil || string(shown) != want {
			t.Errorf("version 1 shows %s, want %s: %v", shown, want, err)
		}
	}
}
