package wire

import (
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// waitWords matches the wait that a message asks for. In OpenAI's streams, and at Gemini, only the
// message has it: "Please retry in 34.07s", "try again in 1m2.5s", "retry after 3 seconds".
var waitWords = lazyregexp.New(`(?i)\b(?:try again|retry) (?:in|after) ((?:\d+h)?(?:\d+m)?(?:\d+(?:\.\d+)?))( ?m?s)`)

// retryIn returns how long a message asks to wait; 0 means that it does not.
func retryIn(message string) time.Duration {
	m := waitWords.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	d, _ := time.ParseDuration(m[1] + strings.ToLower(strings.TrimSpace(m[2]))) // 0 if it is too long
	return d
}
