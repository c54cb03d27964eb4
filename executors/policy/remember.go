package policy

import "sync"

// Remembered holds the user's "always" answers of one session. Its zero value
// is empty. It may be used concurrently.
type Remembered struct {
	mu      sync.Mutex
	answers map[string]Action // Allow or Deny
}

// Set remembers an answer for all keys.
func (r *Remembered) Set(keys []string, a Action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil {
		r.answers = map[string]Action{}
	}
	for _, k := range keys {
		r.answers[k] = a
	}
}

// Answer returns the remembered answer: Deny if one key was rejected, Allow if
// all were allowed, else Ask.
func (r *Remembered) Answer(keys []string) Action {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := Allow
	for _, k := range keys {
		switch r.answers[k] {
		case Deny:
			return Deny
		case Allow:
		default:
			answer = Ask
		}
	}
	if len(keys) == 0 {
		return Ask
	}
	return answer
}
