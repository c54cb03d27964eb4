package llm

// MaxListed is how many models are kept of a provider's list.
const MaxListed = 1000

// Choice is a model that the user can pick.
type Choice struct {
	Name        string // "provider:model", as provider.Select accepts it
	Title       string // short, for people; unique among the choices
	Description string // one line
	Open        bool   // the provider also accepts names that are not listed
}
