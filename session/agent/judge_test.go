package agent

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// TestJudge reads answers of a judge. Its cost is counted even if there is no answer.
func TestJudge(t *testing.T) {
	const usage = "\n" + `{"usage":{"input":5,"output":2}}`
	for name, tt := range map[string]struct {
		script, want, fails string
		cost                int
	}{
		"an answer":  {script: `{"text":"allow"}` + usage, want: "allow", cost: 7},
		"cut off":    {script: `{"text":"al"}` + usage + "\n" + `{"stop":"max_tokens"}`, fails: `stopped with "max_tokens"`, cost: 7},
		"a refusal":  {script: `{"text":"no"}` + "\n" + `{"stop":"refusal"}`, fails: `stopped with "refusal"`},
		"a failure":  {script: `{"error":"overloaded","status":529}`, fails: "529"},
		"too slowly": {script: `{"delay_ms":600000}` + "\n" + `{"text":"allow"}`, fails: errSlow.Error() + " (1m0s)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model, err := local.ParseScript("test", strings.NewReader(tt.script))
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				cost := 0
				j := &Judge{Model: model, Count: func(_ llm.Model, u llm.Usage) { cost += u.Input + u.Output }}
				got, err := j.Judge(ctx, "Judge this.", "a call")
				if got != tt.want || (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("Judge = %q, %v, want %q and an error with %q", got, err, tt.want, tt.fails)
				}
				if cost != tt.cost {
					t.Errorf("%d tokens are counted, want %d", cost, tt.cost)
				}
			})
		})
	}
}
