package llm

import (
	"time"
)

const (
	// listFresh is how long a list is taken for new.
	ListFresh = 24 * time.Hour
	// listAgain is when a provider that failed is asked again at the earliest.
	ListAgain = 5 * time.Minute
	// listTimeout bounds one list, with all its pages.
	ListTimeout = 5 * time.Second
	// maxListed is how many models are kept of one list.
	MaxListed = 1000
)

// Choice is a model to pick.
type Choice struct {
	Name        string // what Select takes and the Model is called
	Title       string // short, for people; differs from that of the other choices
	Description string // one line
	Open        bool   // the provider takes other names than those listed
}
