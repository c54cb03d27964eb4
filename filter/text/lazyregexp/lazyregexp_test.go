package lazyregexp

import (
	"sync"
	"testing"
)

var (
	word  = New(`[a-z]+`)
	wrong = New(`(`)
)

func TestFirstUse(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := word.FindString("12 ab"); got != "ab" {
				t.Errorf("FindString: %q", got)
			}
		})
	}
	all.Wait()
}

func TestBuild(t *testing.T) {
	built := 0
	r := Build(func() string { built++; return `^a$` })
	if built != 0 {
		t.Fatal("built before the first use")
	}
	if !r.MatchString("a") || r.MatchString("b") || built != 1 {
		t.Errorf("wrong matches, or built %d times", built)
	}
}

func TestWrongExpressionPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	wrong.MatchString("")
}
