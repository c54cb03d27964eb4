package acp

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestExitStatus decodes the ways in which clients report how a command ended. node-pty has
// both an exit code and the number of a signal.
func TestExitStatus(t *testing.T) {
	for status, want := range map[string]string{
		`{"exitCode":0}`:                        "0 -",
		`{"exitCode":2.0,"signal":null}`:        "2 -",
		`{"exitCode":0,"signal":"0"}`:           "0 -",
		`{"exitCode":1,"signal":0}`:             "1 -",
		`{"exitCode":0,"signal":""}`:            "0 -",
		`{"exitCode":0,"signal":"15"}`:          "- signal 15",
		`{"exitCode":0,"signal":9}`:             "- signal 9",
		`{"exitCode":null,"signal":9.0}`:        "- signal 9",
		`{"exitCode":null,"signal":"SIGKILL"}`:  "- SIGKILL",
		`{"exitCode":0,"signal":"SIGTERM"}`:     "- SIGTERM",
		`{"exitCode":137,"signal":"SIGKILL"}`:   "137 SIGKILL",
		`{"exitCode":0,"signal":"None"}`:        "0 None",
		`{"exitCode":0,"signal":{"name":"x"}}`:  "0 -",
		`{"exitCode":null,"signal":null,"x":1}`: "- -",
		`{}`:                                    "- -",
	} {
		var s ExitStatus
		if err := json.Unmarshal([]byte(status), &s); err != nil {
			t.Errorf("%s: %v", status, err)
		}
		code, signal := "-", "-"
		if s.ExitCode != nil {
			code = fmt.Sprint(*s.ExitCode)
		}
		if s.Signal != nil {
			signal = *s.Signal
		}
		if got := code + " " + signal; got != want || s.Known() != (want != "- -") {
			t.Errorf("%s = %s, want %s", status, got, want)
		}
	}
}

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
