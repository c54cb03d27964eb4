package wire

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// retryAfter returns how long a response asks to wait; 0 means that it does not.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return seconds(ms / 1000)
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// waitWords matches how long to wait in a message; the streams of OpenAI, and Gemini,
// have it nowhere else: "Please retry in 34.07s", "try again in 1m2.5s", "retry after 3
// seconds".
var waitWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:try again|retry) (?:in|after) ((?:\d+h)?(?:\d+m)?(?:\d+(?:\.\d+)?))( ?m?s)`)
})

// retryIn returns how long a message asks to wait; 0 means that it does not.
func retryIn(message string) time.Duration {
	m := waitWords().FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	d, _ := time.ParseDuration(m[1] + strings.ToLower(strings.TrimSpace(m[2]))) // 0 if it is too long
	return d
}

// seconds returns a duration that a server named, at most a year; 0 if it is not a
// number.
func seconds(s float64) time.Duration {
	const year = 365 * 24 * 3600
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, year) * float64(time.Second))
}
