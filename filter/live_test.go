package filter

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/redact"
)

// A command that goes on after its call is masked as one output, although a key is written before and after the
// end of the call.
func TestMaskOfACommandInTheBackground(t *testing.T) {
	var live strings.Builder
	mask := &liveMask{scanner: &redact.Scanner{}, next: func(ev executors.Event) { live.Write(ev.Output) }}
	half := len(fakeKey) / 2
	mask.notify(executors.Event{Output: []byte("up\nkey " + fakeKey[:half])})
	mask.notify(executors.Event{Background: func() {}})
	mask.flush()
	if got := live.String(); got != "up\n" {
		t.Errorf("at the end of the call the client saw %q, want the first line", got)
	}
	mask.notify(executors.Event{Output: []byte(fakeKey[half:] + "\ndown")})
	mask.notify(executors.Event{Exit: &executors.Exit{}})
	if got := live.String(); !strings.HasSuffix(got, "\ndown") || strings.Contains(got, fakeKey[half:]) {
		t.Errorf("the client saw %q, with the end of the key", got)
	}
}
