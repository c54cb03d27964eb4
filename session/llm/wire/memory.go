package wire

import (
	"sync"
)

// Memory keeps the facts that the process has learned about servers and their models,
// so that no session asks for them again. The zero value is empty and ready for use,
// even concurrently.
type Memory struct {
	Credentials *Credentials // fetches the credentials of the servers; nil runs no command for one
	entries     sync.Map
}

type memoryKey[T any] struct{ address, model string }

// Recall returns the T that m keeps for a model at an address. The first call makes
// its zero value.
func Recall[T any](m *Memory, address, model string) *T {
	v, _ := m.entries.LoadOrStore(memoryKey[T]{address, model}, new(T))
	return v.(*T)
}
