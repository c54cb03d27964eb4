package agent

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// The timeout begins with the first use of Done, not with the creation.
func TestLazyTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &lazyTimeout{Context: context.Background()}
		time.Sleep(2 * slowClient)
		began := time.Now()
		<-p.Done()
		if waited := time.Since(began); waited != slowClient || p.Err() == nil {
			t.Errorf("the first Done closes after %s with %v, want an error after %s", waited, p.Err(), slowClient)
		}
		p.end()
	})
}
