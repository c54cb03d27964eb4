package acp

import (
	"encoding/json"
	"testing"
)

// TestPermissionOutcome decodes responses of clients. A member in another letter case is
// ignored, so that it cannot replace the real one.
func TestPermissionOutcome(t *testing.T) {
	for response, want := range map[string]PermissionOutcome{
		`{"outcome":{"outcome":"selected","optionId":"allow_once"}}`:                                         {"selected", "allow_once", ""},
		`{"outcome":{"outcome":"cancelled"},"_meta":null}`:                                                   {"cancelled", "", ""},
		`{"outcome":{"outcome":"selected","optionId":"no"},"_meta":{"zeph-acp/reason":"later"}}`:             {"selected", "no", "later"},
		`{"outcome":{"outcome":"selected","optionId":"no"},"_meta":{"zeph-acp/reason":7,"x":{}}}`:            {"selected", "no", ""},
		`{"outcome":{"outcome":"selected","optionId":"no","OptionId":"allow_once","optionid":"allow_once"}}`: {"selected", "no", ""},
		`{"outcome":{"outcome":"cancelled"},"Outcome":{"outcome":"selected","optionId":"allow_once"}}`:       {"cancelled", "", ""},
		`{"OUTCOME":{"outcome":"selected","optionId":"allow_once"}}`:                                         {},
		`{"outcome":{"Outcome":"selected","optionID":"allow_once"}}`:                                         {},
		`{"outcome":{"optionId":"allow_once"}}`:                                                              {"", "allow_once", ""},
		`{"outcome":null}`:                                                                                   {},
		`7`:                                                                                                  {}, `["outcome"]`: {}, `{"outcome":"allow_once"}`: {},
		`{}`: {},
	} {
		var got PermissionOutcome
		if err := json.Unmarshal([]byte(response), &got); err != nil || got != want {
			t.Errorf("%s = %+v, %v, want %+v", response, got, err, want)
		}
	}
	for _, wrong := range []string{`{"outcome":{"outcome":1}}`, `{"outcome":{"outcome":"selected","optionId":["allow_once"]}}`} {
		if err := json.Unmarshal([]byte(wrong), new(PermissionOutcome)); err == nil {
			t.Errorf("no error for %s", wrong)
		}
	}
}
