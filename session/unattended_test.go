package session

import (
	"testing"

	"github.com/zeph-acp/zeph-acp/session/transcript"
)

func TestIsUnattended(t *testing.T) {
	prompt := transcript.Prompt{MessageID: "p"}
	for name, tt := range map[string]struct {
		events []transcript.Event
		want   bool
	}{
		"of a user":    {[]transcript.Event{prompt}, false},
		"of a task":    {[]transcript.Event{unattended, prompt}, true},
		"a copy of it": {[]transcript.Event{unattended, prompt, copiedMark}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := IsUnattended(tt.events); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
