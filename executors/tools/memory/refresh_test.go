package memory

import (
	"context"
	"errors"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// slowStore counts its entries when it is told to.
type slowStore struct {
	Store
	counting chan struct{} // receives the beginning of each count
	end      chan error    // ends it
}

func (s *slowStore) CountMemories(context.Context, string, string, string) (own, all int, earlier bool, err error) {
	s.counting <- struct{}{}
	return 1, 0, false, <-s.end
}

// A turn that begins while the pause before it still counts the entries has the tools. A
// store that could not be read is read again.
func TestRefreshWaits(t *testing.T) {
	s := &slowStore{counting: make(chan struct{}), end: make(chan error)}
	m := &Memory{Store: s, Config: setting.Default[Config]()}
	go m.Refresh(t.Context())
	<-s.counting
	begun, line := make(chan struct{}), make(chan string)
	go func() {
		close(begun)
		m.Refresh(t.Context())
		line <- m.Line()
	}()
	<-begun
	s.end <- errors.New("locked")
	<-s.counting
	s.end <- nil
	if got := <-line; got == "" {
		t.Error("the turn does not know the entries")
	}
}

// A memory that starts empty does not wait for its store, unless it is switched off.
func TestStartEmpty(t *testing.T) {
	for name, enabled := range map[string]bool{"on": true, "off": false} {
		t.Run(name, func(t *testing.T) {
			m := &Memory{Store: &slowStore{}, Config: Config{Enabled: enabled}}
			m.StartEmpty()
			m.Refresh(t.Context()) // would wait forever for the store
			if line := m.Line(); line != "" {
				t.Errorf("line %q, want none", line)
			}
			if offered := len(m.Tools().Tools()) > 0; offered != enabled {
				t.Errorf("tools are offered: %v, want %v", offered, enabled)
			}
		})
	}
}
