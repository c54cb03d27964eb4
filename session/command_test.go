package session

import "testing"

func TestRefuses(t *testing.T) {
	for reply, want := range map[string]bool{
		`Nothing was changed: unknown mode "foo".`:                     true,
		"Nothing was changed. `/trust set SUBJECT LEVEL` sets a level": true,
		"Nothing was changed, because this needs your approval. It":    false, // a preview
		"The mode is now code.":                                        false,
		"":                                                             false,
	} {
		if got := Refuses(reply); got != want {
			t.Errorf("Refuses(%q) = %t", reply, got)
		}
	}
}
