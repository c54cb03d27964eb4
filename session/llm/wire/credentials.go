package wire

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Credentials fetches the credentials of providers, and keeps them in memory only: keys that commands of the user print,
// and tokens of clouds. Each one is fetched by one goroutine at a time, for all models that share it. The exported fields must
// not change once it is used. Its methods may be called concurrently; a nil Credentials runs no command.
type Credentials struct {
	// Run runs a command of the user and returns the key that it prints. Its error contains no key. Nil runs nothing.
	Run func(ctx context.Context, command []string) (string, error)
	// Learn is called with the secrets of a credential before its first use; it may be nil.
	Learn func(secrets ...string)
	// Given is called after a credential has been fetched; it may be nil.
	Given func()

	mu      sync.Mutex
	kept    map[string]*keptCredential // by the ID of the source
	closed  bool
	running sync.WaitGroup
	cancels map[*fetch]context.CancelFunc
}

// keptCredential is the credential that a source has returned.
type keptCredential struct {
	last    *Credential // nil if none was fetched
	at      time.Time   // when it was
	refused bool        // the server has refused it
	secrets []string    // of all that were fetched, the newest last; they are masked in messages
	running *fetch      // nil if none runs
}

// maxKeptSecrets bounds the secrets of a source that are masked in messages of providers.
const maxKeptSecrets = 32

// fetch is one fetch of a credential. Its result may be read once done is closed.
type fetch struct {
	done       chan struct{}
	credential *Credential
	err        error
}

// errClosed is returned after the end of the process has begun, and errNoCommands where no command runs, such as in a replay.
var (
	errClosed     = errors.New("the agent is ending")
	errNoCommands = errors.New("no command runs here")
)

// Source returns the source with the store of its credential. A nil Credentials makes a store of its own.
func (k *Credentials) Source(s Source) *Source {
	if s.store = k; k == nil {
		s.store = new(Credentials)
	}
	return &s
}

// Command returns the command that prints the key of a provider, as a source; nil if there are no words. The key is used for
// ttl, and until the provider refuses it.
func (k *Credentials) Command(words []string, ttl time.Duration) *Source {
	if len(words) == 0 {
		return nil
	}
	return k.Source(Source{
		ID: "command\x00" + strings.Join(words, "\x00"), TTL: ttl, What: "key from api_key_cmd",
		Hint: "run the command in a terminal; the next prompt runs it again",
		// The other words may hold secrets.
		Check: "check the key that " + filepath.Base(words[0]) + " prints, the command in api_key_cmd",
		Fetch: func(ctx context.Context) (*Credential, error) {
			if k == nil || k.Run == nil {
				return nil, errNoCommands
			}
			key, err := k.Run(ctx, words)
			if err != nil {
				return nil, err
			}
			return &Credential{Key: key}, nil
		},
	})
}

// Known returns the secrets that the sources have returned, for masking.
func (k *Credentials) Known() (all []string) {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, kept := range k.kept {
		all = append(all, kept.secrets...)
	}
	return all
}

// Forget makes the sources fetch again before their credentials are used.
func (k *Credentials) Forget() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, kept := range k.kept {
		kept.refused = true
	}
}

// Close ends the fetches that run, and waits for them. No fetch begins after it.
func (k *Credentials) Close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.closed = true
	for _, cancel := range k.cancels {
		cancel()
	}
	k.mu.Unlock()
	k.running.Wait()
}

// keptFor returns the entry of a source; k.mu is held.
func (k *Credentials) keptFor(id string) *keptCredential {
	if k.kept == nil {
		k.kept, k.cancels = map[string]*keptCredential{}, map[*fetch]context.CancelFunc{}
	}
	if k.kept[id] == nil {
		k.kept[id] = &keptCredential{}
	}
	return k.kept[id]
}

// begin starts a fetch; k.mu is held.
func (k *Credentials) begin(s *Source, kept *keptCredential) *fetch {
	f := &fetch{done: make(chan struct{})}
	// Not the context of a request: others wait for the same fetch.
	ctx, cancel := context.WithCancel(context.Background())
	kept.running, k.cancels[f] = f, cancel
	k.running.Go(func() {
		f.credential, f.err = s.Fetch(ctx)
		cancel()
		if f.err == nil && k.Learn != nil {
			k.Learn(f.credential.secrets()...)
		}
		k.mu.Lock()
		kept.running = nil
		delete(k.cancels, f)
		switch {
		case f.err == nil:
			kept.set(f.credential)
		case kept.isValid(): // it is about to expire, but has not
			f.credential, f.err = kept.last, nil
		}
		k.mu.Unlock()
		close(f.done)
		if f.err == nil && k.Given != nil {
			k.Given()
		}
	})
	return f
}

// set makes a credential the current one.
func (k *keptCredential) set(c *Credential) {
	now := c.secrets()
	k.secrets = slices.DeleteFunc(k.secrets, func(old string) bool { return slices.Contains(now, old) })
	k.secrets = append(k.secrets, now...)
	k.secrets = k.secrets[max(0, len(k.secrets)-maxKeptSecrets):]
	k.last, k.at, k.refused = c, time.Now(), false
}

// earliestRenewal is how long before its end a credential is renewed, so that it does not end during a request.
const earliestRenewal = 5 * time.Minute

// current returns the credential that the next request uses, or nil.
func (k *keptCredential) current(ttl time.Duration) *Credential {
	if k.last == nil || k.refused || ttl > 0 && time.Since(k.at) >= ttl {
		return nil
	}
	if end := k.last.Expires; !end.IsZero() && time.Until(end) <= min(earliestRenewal, end.Sub(k.at)/4) {
		return nil
	}
	return k.last
}

// isValid reports whether the provider still accepts the credential, as far as its end tells.
func (k *keptCredential) isValid() bool {
	return k.last != nil && !k.refused && time.Now().Before(k.last.Expires)
}
