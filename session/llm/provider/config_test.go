package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
)

func TestValidateFailures(t *testing.T) {
	cfg := Config{
		Providers: []Provider{{Name: "work", Type: TypeClaude}, {Type: TypeDirect}},
		Fallback:  []string{"work", "work:x", "claude:y", "", "nobody", "work:", "direct"},
		Retry:     backoff.Limits{MaxAttempts: 11, BaseMS: 2, MaxMS: 1, BudgetSecs: -1},
	}
	want := map[string]string{
		"fallback[3]":        "must be PROVIDER or PROVIDER:MODEL, is empty",
		"fallback[4]":        `no provider "nobody" for model "nobody"; want PROVIDER:MODEL, such as work:` + anthropic.DefaultModel + ", direct",
		"fallback[5]":        `model "work:" lacks the part after "work"; want PROVIDER:MODEL`,
		"fallback[6]":        `"direct" is not a language model; it only runs typed tool calls`,
		"retry.max_attempts": "11 is not from 0 to 10",
		"retry.budget_secs":  "-1 is not from 0 to 3600; 0: no limit",
		"retry.max_ms":       "must not be less than base_ms (2), is 1",
	}
	if diff := cmp.Diff(want, setting.Check(cfg)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
