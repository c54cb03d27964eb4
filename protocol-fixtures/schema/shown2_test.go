package schema

import (
	"strings"
	"testing"
)

// The last update of each list is checked, after the ones before it.
func TestRulesOfVersion2(t *testing.T) {
	const call = `{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"edit","status":"pending","content":[{"type":"diff"}]}`
	const done = `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`
	const terminal = `{"sessionUpdate":"terminal_update","terminalId":"t"}`
	const ended = `{"sessionUpdate":"terminal_update","terminalId":"t","exitStatus":{}}`
	const offer = `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","capabilities":{"cancel":{}}}`
	const empty = `{"sessionUpdate":"state_update","state":"idle","background":[]}`
	const listed = `{"sessionUpdate":"state_update","state":"idle","background":[{"type":"terminal","terminalId":"t"}]}`
	for name, tt := range map[string]struct {
		updates []string
		fault   string // part of it; empty means none
	}{
		"call":              {[]string{call, done}, ""},
		"unknown kind":      {[]string{`{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"dance"}`}, "unknown kind"},
		"cleared":           {[]string{call, `{"sessionUpdate":"tool_call_update","toolCallId":"c","title":null}`}, "title is cleared"},
		"empty list":        {[]string{call, `{"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[]}`}, "locations is cleared"},
		"lost change":       {[]string{call, `{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"content"}]}`}, "diff of its content is gone"},
		"two ends":          {[]string{call, done, done}, "completed after completed"},
		"pending again":     {[]string{call, call}, "pending again"},
		"part":              {[]string{call, `{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c"}`}, "as a whole"},
		"offer at the end":  {[]string{call, offer}, "offers a cancel"},
		"unknown terminal":  {[]string{`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"terminal","terminalId":"t"}]}`}, "terminal t"},
		"unknown session":   {[]string{`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"session","sessionId":"s/a"}]}`}, "session s/a"},
		"listed":            {[]string{terminal, listed}, ""},
		"listed unknown":    {[]string{listed}, "was not announced"},
		"list left out":     {[]string{terminal, listed, `{"sessionUpdate":"state_update","state":"idle"}`}, "without the work"},
		"listed no more":    {[]string{terminal, listed, empty}, "has not ended"},
		"listed until end":  {[]string{terminal, listed, ended, empty}, ""},
		"listed though end": {[]string{terminal, ended, listed}, "has ended"},
	} {
		var s shown2
		var err error
		for i, u := range tt.updates {
			if err = s.update([]byte(`{"sessionId":"s","update":` + u + `}`)); err != nil && i < len(tt.updates)-1 {
				t.Errorf("%s: update %d: %v", name, i, err)
			}
		}
		if tt.fault == "" && err != nil || tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)) {
			t.Errorf("%s: %v, want %q", name, err, tt.fault)
		}
	}
}
