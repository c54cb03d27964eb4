package agent

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestLazyTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &lazyTimeout{Context: context.Background()}
		time.Sleep(2 * slowClient)
		began := time.Now()
		<-p.Done()
		if waited := time.Since(began); waited != slowClient || p.Err() == nil {
			t.Errorf("waited %s, %v", waited, p.Err())
		}
		p.end()
	})
}
