package anomaly

// window holds the outcomes of the last calls of one tool.
type window struct {
	outcomes []bool // true means failed; its capacity is the size of the window
	next     int    // the oldest outcome, once the window is full
	failures int
	reported bool   // the user was warned, and the rate has not fallen since
	warning  string // the last warning
}

// add adds an outcome, in place of the oldest one if the window is full.
func (w *window) add(failed bool) {
	if failed {
		w.failures++
	}
	if len(w.outcomes) < cap(w.outcomes) {
		w.outcomes = append(w.outcomes, failed)
		return
	}
	if w.outcomes[w.next] {
		w.failures--
	}
	w.outcomes[w.next] = failed
	w.next = (w.next + 1) % len(w.outcomes)
}

func (w *window) size() int { return len(w.outcomes) }

func (w *window) rate() float64 { return float64(w.failures) / float64(len(w.outcomes)) }
