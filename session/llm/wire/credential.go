package wire

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
)

// Credential authorises requests to one provider: a key, a bearer token, or the keys of a signature. It does not
// change once it is returned by a [Source].
type Credential struct {
	// Key is sent in the header of the endpoint's keys: see [Endpoint.KeyHeader].
	Key string
	// Authorize adds to the header of a request instead. It is called last, for each attempt, with the whole body, which
	// it must not change. It may be called concurrently.
	Authorize func(req *http.Request, body Body) error
	// Secrets are the strings besides Key that no message may show.
	Secrets []string
	// Expires is when the provider stops to accept it; zero means unknown.
	Expires time.Time
}

// secrets returns all secrets of a credential, which may be nil.
func (c *Credential) secrets() []string {
	if c == nil {
		return nil
	}
	all := slices.Clone(c.Secrets)
	if c.Key != "" {
		all = append(all, c.Key)
	}
	return all
}

// same reports whether a server that refuses c refuses the other one, too.
func (c *Credential) same(other *Credential) bool {
	return c == other || c != nil && other != nil && c.Key == other.Key && slices.Equal(c.Secrets, other.Secrets)
}

// Source says where the credential of a provider comes from: a command of the user, or the account at a cloud. Requests
// get a Source from [Credentials.Source], which keeps the credential and shares it.
type Source struct {
	// ID stands for all settings on which the credential depends. Sources with one ID share the credential.
	ID string
	// Fetch returns a new credential. It has time limits of its own: ctx ends with the process only, since several
	// requests wait for one fetch. A [*StatusError] or an error of the network may pass by itself; any other failure means
	// that the user has to act. Use [Advised] for advice on one failure.
	Fetch func(ctx context.Context) (*Credential, error)
	// What names the credential in messages: "no key from api_key_cmd: …".
	What string
	// Hint is the advice after a failed fetch, for the user.
	Hint string
	// Check is the advice after the provider has refused the credential.
	Check string
	// Refuses reports whether another credential may be accepted where this one failed. Nil means the status 401.
	Refuses func(*StatusError) bool
	// TTL is how long the credential is used; 0 means until it is about to expire.
	TTL time.Duration

	store *Credentials
}

// Advised returns a failure with a sentence of advice, instead of the source's Hint.
func Advised(err error, hint string) error { return &advisedError{err, hint} }

// Advice returns the advice of a failure, or "".
func Advice(err error) string {
	a, _ := errors.AsType[*advisedError](err)
	if a == nil {
		return ""
	}
	return a.hint
}

type advisedError struct {
	error
	hint string
}

func (e *advisedError) Unwrap() error { return e.error }

// fetchError is the failure of a source to return a credential.
type fetchError struct {
	error
	source *Source
}

func (e *fetchError) Unwrap() error { return e.error }

// hint returns the advice on the failure.
func (e *fetchError) hint() string {
	return cmp.Or(Advice(e.error), e.source.Hint)
}

// credential returns the credential. If none is known it fetches one, or waits for a fetch. After ctx is done the fetch goes
// on, for the next request.
func (s *Source) credential(ctx context.Context) (*Credential, error) {
	k := s.store
	k.mu.Lock()
	kept := k.keptFor(s.ID)
	if c := kept.current(s.TTL); c != nil {
		k.mu.Unlock()
		return c, nil
	}
	if k.closed {
		k.mu.Unlock()
		return nil, &fetchError{errClosed, s}
	}
	f := kept.running
	if f == nil {
		f = k.begin(s, kept)
	}
	k.mu.Unlock()
	select {
	case <-f.done:
		if f.err != nil {
			return nil, &fetchError{f.err, s}
		}
		return f.credential, nil
	case <-ctx.Done():
		return nil, &fetchError{context.Cause(ctx), s}
	}
}

// another returns another credential than the one that a server has refused; nil if the source returns the
// same one again.
func (s *Source) another(ctx context.Context, refused *Credential) (*Credential, error) {
	k := s.store
	k.mu.Lock()
	if kept := k.keptFor(s.ID); refused.same(kept.current(s.TTL)) {
		kept.refused = true
	}
	k.mu.Unlock()
	c, err := s.credential(ctx)
	if err != nil || c.same(refused) {
		return nil, err
	}
	return c, nil
}

// refuses reports whether another credential may be accepted where this one failed.
func (s *Source) refuses(err error) bool {
	e, ok := errors.AsType[*StatusError](err)
	return ok && (refusesKey(e) || s.Refuses != nil && s.Refuses(e))
}

// known returns the secrets that the source has returned.
func (s *Source) known() []string {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return slices.Clone(s.store.keptFor(s.ID).secrets)
}

// isAtHand reports whether the credential is known without a fetch.
func (s *Source) isAtHand() bool {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return s.store.keptFor(s.ID).current(s.TTL) != nil
}
