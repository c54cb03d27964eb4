package highlight

import "time"

// limits are the times that code may take. What is left is plain then.
var limits = struct {
	match time.Duration // one match of one rule, some of which take a time that grows with the square of the text or worse
	line  time.Duration // one line of code that comes line by line
	lines time.Duration // all of them
	text  time.Duration // a whole text
}{20 * time.Millisecond, 100 * time.Millisecond, 2 * time.Second, time.Second}

// Patient lets code take any time, so that what a test expects does not depend on how fast the machine is. Call it before
// the tests run.
func Patient() {
	limits.match, limits.line, limits.lines, limits.text = time.Hour, time.Hour, time.Hour, time.Hour
}
