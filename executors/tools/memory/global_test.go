package memory

import (
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// An entry for all projects instructs the model in other projects, so it is asked about each time.
func TestGlobalEntriesAsk(t *testing.T) {
	m := &Memory{Config: setting.Default[Config]()}
	for _, tt := range []struct {
		origin executors.Origin
		global bool
		want   bool
	}{{executors.Model, true, true}, {executors.Agent, true, true}, {executors.User, true, false}, {executors.Model, false, false}} {
		card, err := m.prepareSave(t.Context(), &executors.Call{Origin: tt.origin}, &saveInput{Content: "Use tabs.", Global: tt.global})
		if err != nil || card.Deferred != tt.want {
			t.Errorf("%+v: deferred: %t, %v", tt, card.Deferred, err)
		}
	}
}
