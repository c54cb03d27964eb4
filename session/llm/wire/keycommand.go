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

// KeyCommands runs the commands of the user that print keys. It keeps the keys in memory only. One
// command runs at most once at a time, for all models that share it. The exported fields must not
// change once it is used. Its methods may be called concurrently; a nil KeyCommands runs nothing.
type KeyCommands struct {
	// Run runs a command and returns the key. Its error contains no key. Nil runs nothing.
	Run func(ctx context.Context, command []string) (string, error)
	// Given is called after a command has given a key; it may be nil.
	Given func()

	mu      sync.Mutex
	kept    map[string]*keptKeys // by the words of the command
	closed  bool
	running sync.WaitGroup
	cancels map[*keyRun]context.CancelFunc
}

// keptKeys are the keys that one command has given.
type keptKeys struct {
	keys    []string  // the last one is current; earlier ones are only masked
	at      time.Time // when the last one was given
	refused bool      // the server has refused the last one
	run     *keyRun   // nil if the command does not run
}

// maxKeptKeys bounds the keys that are masked in messages of providers.
const maxKeptKeys = 16

// keyRun is one run of a command. Its result may be read once done is closed.
type keyRun struct {
	done chan struct{}
	key  string
	err  error
}

// Command returns the command that gives the key of a provider; nil if there are no words. The key
// is used for ttl, and until the provider refuses it.
func (k *KeyCommands) Command(words []string, ttl time.Duration) *KeyCommand {
	if len(words) == 0 {
		return nil
	}
	return &KeyCommand{k, words, ttl}
}

// Known returns the keys that the commands have given, for masking.
func (k *KeyCommands) Known() (all []string) {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, kept := range k.kept {
		all = append(all, kept.keys...)
	}
	return all
}

// Forget makes the commands run again before their keys are used.
func (k *KeyCommands) Forget() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, kept := range k.kept {
		kept.refused = true
	}
}

// Close ends the commands that run, and waits for them. No command runs after it.
func (k *KeyCommands) Close() {
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

// keptFor returns the entry of a command; k.mu is held.
func (k *KeyCommands) keptFor(words []string) *keptKeys {
	id := strings.Join(words, "\x00")
	if k.kept == nil {
		k.kept, k.cancels = map[string]*keptKeys{}, map[*keyRun]context.CancelFunc{}
	}
	if k.kept[id] == nil {
		k.kept[id] = &keptKeys{}
	}
	return k.kept[id]
}

// begin starts a command; k.mu is held.
func (k *KeyCommands) begin(words []string, kept *keptKeys) *keyRun {
	run := &keyRun{done: make(chan struct{})}
	// Not the context of a request: others wait for the same run.
	ctx, cancel := context.WithCancel(context.Background())
	kept.run, k.cancels[run] = run, cancel
	k.running.Go(func() {
		run.key, run.err = k.Run(ctx, words)
		cancel()
		k.mu.Lock()
		kept.run = nil
		delete(k.cancels, run)
		if run.err == nil {
			kept.add(run.key)
		}
		k.mu.Unlock()
		close(run.done)
		if run.err == nil && k.Given != nil {
			k.Given()
		}
	})
	return run
}

// add makes a key the current one.
func (k *keptKeys) add(key string) {
	k.keys = slices.DeleteFunc(k.keys, func(old string) bool { return old == key })
	k.keys = append(k.keys, key)
	k.keys = k.keys[max(0, len(k.keys)-maxKeptKeys):]
	k.at, k.refused = time.Now(), false
}

// current returns the key that counts, or "".
func (k *keptKeys) current(ttl time.Duration) string {
	if len(k.keys) == 0 || k.refused || time.Since(k.at) >= ttl {
		return ""
	}
	return k.keys[len(k.keys)-1]
}

// KeyCommand is the command that gives the key of one provider.
type KeyCommand struct {
	commands *KeyCommands
	words    []string
	ttl      time.Duration
}

// Program returns the name of the program, without its directory. The other words may hold secrets.
func (c *KeyCommand) Program() string { return filepath.Base(c.words[0]) }

// keyError is the failure of a command to give a key.
type keyError struct{ error }

func (e *keyError) Unwrap() error { return e.error }

// errNoCommands is returned where no commands run, such as in a replay.
var errNoCommands = errors.New("no command runs here")

// key returns the key. If none is known it runs the command, or waits for its run. After ctx is done
// the run goes on, for the next request.
func (c *KeyCommand) key(ctx context.Context) (string, error) {
	k := c.commands
	if k == nil || k.Run == nil {
		return "", &keyError{errNoCommands}
	}
	k.mu.Lock()
	kept := k.keptFor(c.words)
	if key := kept.current(c.ttl); key != "" {
		k.mu.Unlock()
		return key, nil
	}
	if k.closed {
		k.mu.Unlock()
		return "", &keyError{errNoCommands}
	}
	run := kept.run
	if run == nil {
		run = k.begin(c.words, kept)
	}
	k.mu.Unlock()
	select {
	case <-run.done:
		if run.err != nil {
			return "", &keyError{run.err}
		}
		return run.key, nil
	case <-ctx.Done():
		return "", &keyError{context.Cause(ctx)}
	}
}

// another returns another key than the one that a server has refused; "" if the command gives the
// same one again.
func (c *KeyCommand) another(ctx context.Context, refused string) (string, error) {
	k := c.commands
	k.mu.Lock()
	if kept := k.keptFor(c.words); kept.current(c.ttl) == refused {
		kept.refused = true
	}
	k.mu.Unlock()
	key, err := c.key(ctx)
	if err != nil || key == refused {
		return "", err
	}
	return key, nil
}

// known returns the keys that the command has given.
func (c *KeyCommand) known() []string {
	k := c.commands
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.keptFor(c.words).keys)
}

// isAtHand reports whether the key is known without a run of the command.
func (c *KeyCommand) isAtHand() bool {
	k := c.commands
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keptFor(c.words).current(c.ttl) != ""
}
