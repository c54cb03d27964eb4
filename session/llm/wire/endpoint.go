// Package wire is the shared part of the adapters of HTTP APIs: requests, streams,
// failures, and the forms in which names, IDs, schemas and inputs of tool calls are
// sent.
//
// Start with [Endpoint], which is one model at one provider. [Endpoint.Stream] sends a
// request and turns the response into events through an [Answer], which the adapter
// implements. It makes one attempt; package failover decides about further attempts.
// [Encoding] keeps the messages of a conversation as they are sent.
//
// It promises that a failure is an [*llm.Error] without secrets. A silent or endless response ends
// with an error, and redirects are never followed. It does not depend on the messages of any
// protocol.
package wire

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// maxSilence is how long a server may send nothing at all. While a model thinks or
// waits for its turn, most servers send something to keep the connection alive.
const maxSilence = 10 * time.Minute

// defaultFirstByte is how long a server may send nothing before its answer begins.
const defaultFirstByte = 2 * time.Minute

// maxKeptAlive is how long a server may send keep-alive data only. Models that hide
// their thoughts may think for most of it.
const maxKeptAlive = time.Hour

// Endpoint is one model at one provider behind a network. It makes one attempt at each
// request; its caller decides about another.
type Endpoint struct {
	Provider string        // as configured
	Model    string        // the provider's name for it
	APIKey   func() string // called before each request; nil means that there is no key
	KeyEnv   string        // the environment variable named in messages; empty means that no key is needed
	// Source returns the credential of requests for which APIKey returns no key; it may be nil.
	Source *Source
	// KeyHeader is the header with the key; empty means a bearer token.
	KeyHeader string
	// KeyOptional sends the request without a key if there is none, since the server may need none.
	KeyOptional bool
	Address     string         // as configured: it may hold a password, or a key in its query
	Kinds       map[string]int // HTTP status of each kind of error in a stream
	Silence     time.Duration  // how long the server may send nothing; 0 means maxSilence
	FirstByte   time.Duration  // the same before its answer begins; 0 means defaultFirstByte, or Silence for a server nearby

	// Advise adds the adapter's own hints to a failure; it may be nil.
	Advise func(f *llm.Error, err error)
}

// Name returns "provider:model".
func (e *Endpoint) Name() string { return e.Provider + ":" + e.Model }

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// IsNearby reports whether the server of an address is this machine, or in the local network.
func IsNearby(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (IsLoopback(u.Hostname()) || net.ParseIP(u.Hostname()).IsPrivate())
}

// Ready returns an *llm.Error with Auth if a key is needed and missing. It asks no Source.
func (e *Endpoint) Ready() error {
	if e.Source == nil && e.KeyEnv != "" && !e.KeyOptional && e.Key() == "" {
		return &llm.Error{Provider: e.Provider, Message: "there is no API key", Auth: true,
			Hint: "run zeph-acp login, or set " + e.KeyEnv + " in the environment that starts the agent"}
	}
	return nil
}

// KeyAtHand reports whether a request would ask no Source for its credential.
func (e *Endpoint) KeyAtHand() bool { return !e.asksSource() || e.Source.isAtHand() }

// asksSource reports whether the Source authorises requests.
func (e *Endpoint) asksSource() bool { return e.Source != nil && e.Key() == "" }

// FetchKey asks the Source for the credential, if it is not at hand. The error is an *llm.Error, or ctx's
// cause after ctx is done.
func (e *Endpoint) FetchKey(ctx context.Context) error {
	_, err := e.credential(ctx)
	return e.Outcome(ctx, err)
}

// credential returns the credential of a request. A nil Endpoint has an empty one.
func (e *Endpoint) credential(ctx context.Context) (*Credential, error) {
	switch {
	case e == nil:
		return &Credential{}, nil
	case e.asksSource():
		return e.Source.credential(ctx)
	}
	return &Credential{Key: e.Key()}, nil
}

// anotherCredential returns the credential with which a failed request is sent again, or nil.
func (e *Endpoint) anotherCredential(ctx context.Context, refused *Credential, err error) (*Credential, error) {
	if e == nil || !e.asksSource() || !e.Source.refuses(err) {
		return nil, nil
	}
	return e.Source.another(ctx, refused)
}

// Key returns the key that no Source returns, or "".
func (e *Endpoint) Key() string {
	if e.APIKey == nil {
		return ""
	}
	return strings.TrimSpace(e.APIKey()) // a line break at the end of a key file is not part of the key
}

// silence returns how long the server may send nothing. A server nearby may read a long request for that long, or work for another
// session first; whether it still runs, the network's own probes find out.
func (e *Endpoint) silence() time.Duration {
	switch {
	case e.Silence > 0:
		return e.Silence
	case IsNearby(e.Address):
		return maxKeptAlive
	}
	return maxSilence
}

// firstByte returns how long the server may send nothing before its answer begins. A server nearby may read a long
// request for that long.
func (e *Endpoint) firstByte() time.Duration {
	switch {
	case e.FirstByte > 0:
		return e.FirstByte
	case IsNearby(e.Address) || isLocalName(e.Address):
		return e.silence()
	}
	return min(defaultFirstByte, e.silence())
}

// isLocalName reports whether the host of an address has a name of a local network.
func isLocalName(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || strings.Contains(u.Hostname(), ":") {
		return false
	}
	i := strings.LastIndexByte(u.Hostname(), '.')
	return slices.Contains([]string{"local", "lan", "internal", "home", "arpa"}, u.Hostname()[i+1:]) || i < 0
}

// secrets returns the strings that no message may show: the key, and secrets in the
// address.
func (e *Endpoint) secrets() []string {
	all := []string{e.Key()}
	if e.Source != nil {
		all = append(all, e.Source.known()...)
	}
	if u, err := url.Parse(e.Address); err == nil {
		if u.User != nil {
			name := u.User.Username()
			password, _ := u.User.Password()
			all = append(all, base64.StdEncoding.EncodeToString([]byte(name+":"+password)), password, name)
		}
		for name, values := range u.Query() {
			for _, v := range values {
				if name != "api-version" {
					all = append(all, v, url.QueryEscape(v))
				}
			}
		}
	}
	// Anything shorter is not a key, and would be found inside words.
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < 8 })
}

// The causes of a request that was abandoned.
var (
	errNoByte    = errors.New("no byte")
	errSilence   = errors.New("silence")
	errKeptAlive = errors.New("kept alive")
)

// Stream sends a request and yields the answer, or one *llm.Error. After ctx is done it
// yields ctx's cause instead.
func (e *Endpoint) Stream(ctx context.Context, open func(context.Context) (*http.Response, error),
	chunks func(*http.Response) iter.Seq2[[]byte, error], begin func() Answer) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := e.Ready(); err != nil {
			yield(llm.Event{}, err)
			return
		}
		if err := e.FetchKey(ctx); err != nil { // before the limits of the server's time
			yield(llm.Event{}, err)
			return
		}
		silence, first := e.silence(), e.firstByte()
		callCtx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		unbegun := time.AfterFunc(first, func() { cancel(errNoByte) })
		defer unbegun.Stop()
		watch := time.AfterFunc(max(silence, first), func() { cancel(errSilence) })
		defer watch.Stop()
		progress := time.AfterFunc(maxKeptAlive, func() { cancel(errKeptAlive) })
		defer progress.Stop()

		listening := true
		emit := func(ev llm.Event) bool {
			unbegun.Stop()
			listening = listening && yield(ev, nil)
			if ev.IsContent() || ev.Progress != nil {
				progress.Reset(maxKeptAlive)
			}
			return listening
		}
		err := func() error {
			res, err := open(callCtx)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			// Keep-alive data is not an event, so bytes are counted.
			res.Body = &activityReader{res.Body, func() {
				unbegun.Stop()
				watch.Reset(silence)
			}}
			res.Body = &limitedBody{ReadCloser: res.Body, remaining: maxStream, limit: maxStream}
			return readAnswer(chunks(res), begin(), emit, func() {
				unbegun.Stop()
				progress.Reset(maxKeptAlive)
			})
		}()
		switch {
		case err == nil || !listening:
			return
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case context.Cause(callCtx) == errNoByte:
			err = &llm.Error{Provider: e.Provider, Message: "sent nothing for " + llm.FormatDuration(first), Hint: "try again", Retryable: true, Stalled: true}
		case context.Cause(callCtx) == errSilence:
			err = &llm.Error{Provider: e.Provider, Message: "sent nothing for " + llm.FormatDuration(silence), Hint: "try again", Retryable: true}
		case context.Cause(callCtx) == errKeptAlive:
			message := "sent nothing of an answer for " + maxKeptAlive.String() + ", but kept the connection alive"
			err = &llm.Error{Provider: e.Provider, Message: message, Hint: "try again", Retryable: true}
		default:
			err = e.Failure(err)
		}
		if f, ok := errors.AsType[*llm.Error](err); ok && e.Model != "" {
			f.Provider = e.Name()
		}
		yield(llm.Event{}, err)
	}
}

// maxStream bounds the stream of one answer, in bytes: far more than the longest
// answers.
const maxStream = 128 << 20
