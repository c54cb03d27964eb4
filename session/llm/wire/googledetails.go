package wire

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// quota says how long a request has to wait for its quota.
type quota struct {
	wait time.Duration // that the server asks for; 0 means that it does not
	hint string        // advice on a quota that no wait of seconds brings back; empty for another failure
}

const (
	dailyHint = "the quota of the day is used up: pick another model, or wait until midnight Pacific time"
	noneHint  = "the plan of this key has no quota for the model: pick another model, or check the plan"
)

// noQuota matches the message of Google for a model that the plan of a key does not include.
var noQuota = lazyregexp.New(`\blimit: 0\b`)

// parseQuota reads the details of Google's errors: the wait, and the quotas that were exceeded.
// https://cloud.google.com/apis/design/errors#error_details
func parseQuota(body []byte) (q quota) {
	type detail struct {
		Type       string `json:"@type"`
		RetryDelay string `json:"retryDelay"` // "34.07s"
		Violations []struct {
			ID     string `json:"quotaId"`
			Metric string `json:"quotaMetric"`
		} `json:"violations"`
	}
	var whole struct {
		Error struct {
			Message string          `json:"message"`
			Details json.RawMessage `json:"details"`
		} `json:"error"`
	}
	var details []detail
	if Decode(firstOf(body), &whole) != nil || len(whole.Error.Details) == 0 || Decode(whole.Error.Details, &details) != nil {
		return q
	}
	for _, d := range details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			q.wait = wait
		}
		for _, v := range d.Violations {
			if strings.Contains(v.ID, "PerDay") || strings.HasSuffix(v.Metric, "_per_day") {
				q.hint = dailyHint
			}
		}
	}
	if q.hint != "" && noQuota.MatchString(whole.Error.Message) {
		q.hint = noneHint
	}
	if q.hint != "" {
		q.wait = 0 // Google names one, but it does not help
	}
	return q
}

// firstOf returns the first element of a JSON list, into which Google puts its errors, or body itself.
func firstOf(body []byte) []byte {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return body
}
