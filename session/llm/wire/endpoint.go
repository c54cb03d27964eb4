// Package wire is what the adapters of HTTP APIs share: requests, streams, failures,
// and the forms in which names, IDs, schemas and inputs of tool calls are sent.
//
// Start with [Endpoint], which is one model at one provider. [Endpoint.Stream] sends a
// request and turns the response into events through an [Answer], which the adapter
// implements. It makes one attempt; package failover decides about another one.
//
// It promises that a failure is an [*llm.Error] without secrets, that a silent or
// endless server is given up, and that a redirect is never followed. It does not know
// the messages of any protocol.
package wire

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// maxSilence is how long a server may send nothing at all; while a model thinks,
// or waits for its turn, most send something that keeps the connection alive.
const maxSilence = 10 * time.Minute

// maxKeptAlive is how long a server may send nothing of an answer but what keeps the
// connection alive. Models that don't show their thoughts may think for the longer
// part of it.
const maxKeptAlive = time.Hour

// endpoint is what all models behind a network have in common: one model at one
// provider. It makes one attempt at each request: whether a failure is worth
// another is for who asks.
type Endpoint struct {
	Provider string         // as configured
	Model    string         // the provider's name of it
	APIKey   func() string  // asked before each request; nil means that there is none
	KeyEnv   string         // the variable that the user should set, for messages; empty means that none is needed
	Address  string         // as configured: it may hold a password, or a key in its query
	Kinds    map[string]int // HTTP status that the kinds of error in a stream would have had
	Silence  time.Duration  // see maxSilence

	// advise puts in what a provider knows better of a failure; nil means nothing.
	Advise func(f *llm.Error, err error)
}

// Name is "provider:model".
func (e *Endpoint) Name() string { return e.Provider + ":" + e.Model }

// Ready gives an *Error with Auth if there is no key where one is needed.
func (e *Endpoint) Ready() error {
	if e.KeyEnv != "" && e.Key() == "" {
		return &llm.Error{Provider: e.Provider, Message: "there is no API key", Auth: true,
			Hint: "run zeph-acp login, or set " + e.KeyEnv + " in the environment that starts the agent"}
	}
	return nil
}

func (e *Endpoint) Key() string {
	if e.APIKey == nil {
		return ""
	}
	return strings.TrimSpace(e.APIKey()) // a line break from a file is no part of it
}

// secrets are what no message may show: the key, and what the address holds.
func (e *Endpoint) secrets() []string {
	all := []string{e.Key()}
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
	// A shorter one is no key, and would be found inside of words.
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < 8 })
}

// The causes of a request that was given up.
var (
	errSilence   = errors.New("silence")
	errKeptAlive = errors.New("kept alive")
)

// stream sends a request and yields the answer, or one *Error; after ctx is done
// its cause instead.
func (e *Endpoint) Stream(ctx context.Context, open func(context.Context) (*http.Response, error),
	chunks func(*http.Response) iter.Seq2[[]byte, error], begin func() Answer) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := e.Ready(); err != nil {
			yield(llm.Event{}, err)
			return
		}
		silence := e.Silence
		if silence == 0 {
			silence = maxSilence
		}
		callCtx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		watch := time.AfterFunc(silence, func() { cancel(errSilence) })
		defer watch.Stop()
		progress := time.AfterFunc(maxKeptAlive, func() { cancel(errKeptAlive) })
		defer progress.Stop()

		listening := true
		emit := func(ev llm.Event) bool {
			listening = listening && yield(ev, nil)
			if ev.Begins() {
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
			// What keeps a connection alive is no event: the bytes count.
			res.Body = &watched{res.Body, func() { watch.Reset(silence) }}
			res.Body = &bounded{ReadCloser: res.Body, left: maxStream, all: maxStream}
			return readAnswer(chunks(res), begin(), emit, func() { progress.Reset(maxKeptAlive) })
		}()
		switch {
		case err == nil || !listening:
			return
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case context.Cause(callCtx) == errSilence:
			err = &llm.Error{Provider: e.Provider, Message: "sent nothing for " + silence.String(), Hint: "try again", Again: true}
		case context.Cause(callCtx) == errKeptAlive:
			err = &llm.Error{Provider: e.Provider, Message: "sent nothing of an answer for " + maxKeptAlive.String() + ", but kept the connection alive", Hint: "try again", Again: true}
		default:
			err = e.Failure(err)
		}
		yield(llm.Event{}, err)
	}
}

// maxStream bounds what is read of the stream of one answer, in bytes: far more
// than the longest answers take.
const maxStream = 128 << 20
