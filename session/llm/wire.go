package llm

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
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
type endpoint struct {
	provider string         // as configured
	model    string         // the provider's name of it
	apiKey   func() string  // asked before each request; nil means that there is none
	keyEnv   string         // the variable that the user should set, for messages; empty means that none is needed
	address  string         // as configured: it may hold a password, or a key in its query
	kinds    map[string]int // HTTP status that the kinds of error in a stream would have had
	silence  time.Duration  // see maxSilence

	// advise puts in what a provider knows better of a failure; nil means nothing.
	advise func(f *Error, err error)
}

// Name is "provider:model".
func (e *endpoint) Name() string { return e.provider + ":" + e.model }

// Ready gives an *Error with Auth if there is no key where one is needed.
func (e *endpoint) Ready() error {
	if e.keyEnv != "" && e.key() == "" {
		return &Error{Provider: e.provider, Message: "there is no API key", Auth: true,
			Hint: "run zeph-acp login, or set " + e.keyEnv + " in the environment that starts the agent"}
	}
	return nil
}

func (e *endpoint) key() string {
	if e.apiKey == nil {
		return ""
	}
	return strings.TrimSpace(e.apiKey()) // a line break from a file is no part of it
}

// secrets are what no message may show: the key, and what the address holds.
func (e *endpoint) secrets() []string {
	all := []string{e.key()}
	if u, err := url.Parse(e.address); err == nil {
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

// withoutEndpoint cuts off what the SDKs add to an address: people copy that of a
// request. Whole tells that it was there.
func withoutEndpoint(address string) (base string, whole bool) {
	base = strings.TrimRight(address, "/")
	for _, end := range []string{"/chat/completions", "/responses", "/messages"} {
		if base, ok := strings.CutSuffix(base, end); ok {
			return base, true
		}
	}
	return address, false
}

// answer turns what a server sends into Events.
type answer interface {
	// take reads one chunk. Done means that nothing is to be read any more: the
	// answer is complete, or emit gave false.
	take(chunk []byte, emit func(Event) bool) (done bool, err error)
	// end is called where the server ends the stream before take is done. It
	// completes the answer, or gives errBrokenOff.
	end(emit func(Event) bool) error
	// arguments counts the bytes of the arguments of calls so far, which are kept
	// until a call is whole.
	arguments() int
}

// argumentCount is the count of an answer.
type argumentCount int

func (n *argumentCount) arguments() int { return int(*n) }

// add counts a piece.
func (n *argumentCount) add(bytes int) { *n += argumentCount(bytes) }

// The causes of a request that was given up.
var (
	errSilence   = errors.New("silence")
	errKeptAlive = errors.New("kept alive")
)

// stream sends a request and yields the answer, or one *Error; after ctx is done
// its cause instead.
func (e *endpoint) stream(ctx context.Context, open func(context.Context) (*http.Response, error),
	chunks func(*http.Response) iter.Seq2[[]byte, error], begin func() answer) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := e.Ready(); err != nil {
			yield(Event{}, err)
			return
		}
		silence := e.silence
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
		emit := func(ev Event) bool {
			listening = listening && yield(ev, nil)
			if ev.begins() {
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
			err = &Error{Provider: e.provider, Message: "sent nothing for " + silence.String(), Hint: "try again", Again: true}
		case context.Cause(callCtx) == errKeptAlive:
			err = &Error{Provider: e.provider, Message: "sent nothing of an answer for " + maxKeptAlive.String() + ", but kept the connection alive", Hint: "try again", Again: true}
		default:
			err = e.failure(err)
		}
		yield(Event{}, err)
	}
}

// readAnswer reads chunks to the end of an answer. Grew is called when there is more
// of the arguments of a call, of which nothing is emitted before they are whole.
func readAnswer(chunks iter.Seq2[[]byte, error], a answer, emit func(Event) bool, grew func()) error {
	before := 0
	for chunk, err := range chunks {
		if err != nil {
			return err
		}
		done, err := a.take(chunk, emit)
		switch n := a.arguments(); {
		case n > maxArguments:
			return tooMuch{maxArguments, " of arguments for its tool calls"}
		case done || err != nil:
			return err
		case n > before:
			before = n
			grew()
		}
	}
	return a.end(emit)
}

// maxStream bounds what is read of the stream of one answer, in bytes: far more
// than the longest answers take.
const maxStream = 128 << 20

// maxArguments bounds the arguments of all calls of one answer, in bytes: no model
// writes as much.
const maxArguments = 16 << 20

// tokenCount is a number of tokens as a server tells it. One that cannot be is 0, or
// mostCounted: an answer is worth more than its count.
type tokenCount int

// mostCounted is more than any window has, and leaves room for sums.
const mostCounted = 1 << 40

// UnmarshalJSON takes any number; anything else is 0.
func (n *tokenCount) UnmarshalJSON(data []byte) error {
	*n = 0
	if f, _ := strconv.ParseFloat(string(data), 64); f > 0 { // infinite if it is too large
		*n = tokenCount(min(f, mostCounted))
	}
	return nil
}

// stopReasons translates the reasons that APIs and the servers that speak them give
// for the end of an answer, in lower case; others mean StopEnd, or StopTools.
var stopReasons = map[string]StopReason{
	"length": StopMaxTokens, "max_tokens": StopMaxTokens, "max_output_tokens": StopMaxTokens, "model_length": StopMaxTokens,
	"model_context_window_exceeded": StopMaxTokens,
	"refusal":                       StopRefusal, "content_filter": StopRefusal, "safety": StopRefusal, "sensitive": StopRefusal,
}
