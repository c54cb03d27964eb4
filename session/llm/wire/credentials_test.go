package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// helper is a command that prints "key-1", "key-2" and so on, after it was released.
type helper struct {
	release chan struct{} // nil: at once
	fail    error

	mu   sync.Mutex
	runs int
}

func (h *helper) run(ctx context.Context, _ []string) (string, error) {
	h.mu.Lock()
	h.runs++
	n := h.runs
	h.mu.Unlock()
	if h.release != nil {
		select {
		case <-h.release:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return fmt.Sprintf("key-%d", n), h.fail
}

func (h *helper) command(ttl time.Duration) (*Credentials, *Source) {
	k := &Credentials{Run: h.run}
	return k, k.Command([]string{"/bin/helper", "secret"}, ttl)
}

// key returns the key of a source, or "".
func key(s *Source, ctx context.Context) (string, error) { return keyIn(s.credential(ctx)) }

// another returns another key than the refused one, or "".
func another(s *Source, ctx context.Context, refused string) (string, error) {
	return keyIn(s.another(ctx, &Credential{Key: refused}))
}

func keyIn(c *Credential, err error) (string, error) {
	if c == nil {
		return "", err
	}
	return c.Key, err
}

// Requests at the same time share one run. Its key is used until it is too old, and the next run is shared again.
func TestKeyCommandIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &helper{release: make(chan struct{})}
		k, c := h.command(5 * time.Minute)
		other := k.Command([]string{"/bin/helper", "secret"}, 5*time.Minute) // another provider with the same command
		for round, want := range []string{"key-1", "key-2"} {
			got := make([]string, 20)
			var all sync.WaitGroup
			for i := range got {
				all.Go(func() { got[i], _ = key([]*Source{c, other}[i%2], t.Context()) })
			}
			synctest.Wait()
			if c.isAtHand() {
				t.Errorf("round %d: the key is at hand before the command has ended", round)
			}
			h.release <- struct{}{}
			all.Wait()
			if slices.ContainsFunc(got, func(key string) bool { return key != want }) {
				t.Errorf("round %d: got %q, want only %q", round, got, want)
			}
			time.Sleep(5*time.Minute - time.Second)
			if got, err := key(c, t.Context()); got != want || err != nil {
				t.Errorf("round %d: before the end of its time got %q, %v, want %q", round, got, err, want)
			}
			time.Sleep(time.Second)
		}
		if known := k.Known(); !slices.Equal(known, []string{"key-1", "key-2"}) || h.runs != 2 {
			t.Errorf("%d runs, known keys %q, want 2 runs and both keys", h.runs, known)
		}
	})
}

// A key that the server refuses is asked anew once, for all requests that had it.
func TestKeyCommandAfterRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &helper{}
		k, c := h.command(time.Hour)
		if got, err := key(c, t.Context()); got != "key-1" || err != nil {
			t.Fatalf("got %q, %v", got, err)
		}
		for range 3 { // the second and third request were sent with the first key, too
			if key, err := another(c, t.Context(), "key-1"); key != "key-2" || err != nil || h.runs != 2 {
				t.Errorf("after a refusal got %q, %v, %d runs, want key-2 and 2 runs", key, err, h.runs)
			}
		}
		k.Run = func(context.Context, []string) (string, error) { return "key-2", nil }
		if key, err := another(c, t.Context(), "key-2"); key != "" || err != nil {
			t.Errorf("the same key again: got %q, %v, want none", key, err)
		}
		k.Forget()
		if c.isAtHand() {
			t.Error("a forgotten key is at hand")
		}
	})
}

// A failure is kept for no other request. A request that is given up leaves the command running, and Close ends it.
func TestKeyCommandFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &helper{fail: errors.New("locked")}
		k, c := h.command(time.Hour)
		for runs := 1; runs < 3; runs++ {
			_, err := key(c, t.Context())
			if _, ok := errors.AsType[*fetchError](err); !ok || err.Error() != "locked" || h.runs != runs {
				t.Errorf("got %v after %d runs, want the command's error after %d", err, h.runs, runs)
			}
		}
		h.fail, h.release = nil, make(chan struct{})
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("given up"))
		if _, err := key(c, ctx); err == nil || err.Error() != "given up" {
			t.Errorf("got %v, want the cause", err)
		}
		h.release <- struct{}{}
		synctest.Wait()
		if got, err := key(c, t.Context()); got != "key-3" || err != nil {
			t.Errorf("got %q, %v, want the key of the run that the first request began", got, err)
		}
		k.Forget()
		waiting := make(chan error)
		go func() { _, err := key(c, context.Background()); waiting <- err }()
		synctest.Wait()
		k.Close()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("after Close got %v, want that the run was cancelled", err)
		}
		if _, err := key(c, t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("after Close got %v, want %v", err, errClosed)
		}
	})
}

// Without commands nothing runs, and a provider that needs one says so.
func TestNoKeyCommands(t *testing.T) {
	var k *Credentials
	if c := k.Command(nil, 0); c != nil {
		t.Errorf("no words make %v, want nil", c)
	}
	e := &Endpoint{Provider: "p", Source: k.Command([]string{"op"}, 0), KeyEnv: "K"}
	if err := e.Ready(); err != nil {
		t.Errorf("Ready: %v, want nil before the command ran", err)
	}
	f, ok := errors.AsType[*llm.Error](e.FetchKey(t.Context()))
	if !ok || !f.Auth || f.Retryable || f.Message != "no key from api_key_cmd: "+errNoCommands.Error() || e.KeyAtHand() {
		t.Errorf("FetchKey: %+v", f)
	}
	if k.Known() != nil || len(e.secrets()) > 0 {
		t.Errorf("known keys %v, secrets %v, want none", k.Known(), e.secrets())
	}
	k.Forget()
	k.Close()
}

// The message about a refused key names the program only, and shows no key that the command ever gave.
func TestFailureWithKeyCommand(t *testing.T) {
	k := &Credentials{Run: func(context.Context, []string) (string, error) { return "key-for-the-wire", nil }}
	e := &Endpoint{Provider: "p", Source: k.Command([]string{"/opt/bin/op", "secret-word"}, time.Hour)}
	if err := e.FetchKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.Forget()
	f, _ := errors.AsType[*llm.Error](e.Failure(&StatusError{Status: http.StatusUnauthorized, Message: "bad key-for-the-wire"}))
	if f.Message != "bad [key]" || !strings.Contains(f.Hint, "check the key that op prints") || strings.Contains(f.Error(), "secret-word") {
		t.Errorf("got %v", f)
	}
}

// A cloud's token is renewed before its end. If that fails, it is used until its end; a refused one is not.
func TestCredentialExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs, failure := 0, error(nil)
		var learned []string
		k := &Credentials{Learn: func(secrets ...string) { learned = append(learned, secrets...) }}
		s := k.Source(Source{ID: "cloud", Fetch: func(context.Context) (*Credential, error) {
			runs++
			if failure != nil {
				return nil, failure
			}
			name := fmt.Sprintf("token-%d", runs)
			return &Credential{Key: name, Secrets: []string{"secret of " + name}, Expires: time.Now().Add(time.Hour)}, nil
		}})
		for _, step := range []struct {
			wait time.Duration
			fail bool
			want string
			runs int
		}{
			{0, false, "token-1", 1},
			{54 * time.Minute, false, "token-1", 1},
			{2 * time.Minute, true, "token-1", 2}, // renewed, in vain
			{time.Minute, false, "token-3", 3},
			{59 * time.Minute, true, "token-3", 4},
			{time.Minute, true, "", 5}, // it has ended
		} {
			time.Sleep(step.wait)
			if failure = nil; step.fail {
				failure = errors.New("down")
			}
			if got, _ := key(s, t.Context()); got != step.want || runs != step.runs {
				t.Errorf("after another %s: got %q after %d fetches, want %q after %d", step.wait, got, runs, step.want, step.runs)
			}
		}
		if want := []string{"secret of token-1", "token-1", "secret of token-3", "token-3"}; !slices.Equal(learned, want) || !slices.Equal(k.Known(), want) {
			t.Errorf("learned %q, known %q, want %q", learned, k.Known(), want)
		}
		failure = nil
		if _, err := key(s, t.Context()); err != nil {
			t.Fatal(err)
		}
		failure = errors.New("down")
		if got, err := s.another(t.Context(), s.store.kept["cloud"].last); got != nil || err == nil {
			t.Errorf("a refused credential was used again: %v, %v", got, err)
		}
	})
}

// A credential that authorises the finished request sees its query, its headers and its body, and does so once more with the credential
// that follows a refusal.
func TestAuthorize(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		if len(got) == 1 {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"message":"the token secret-of-1 is old"}`))
		}
	}))
	defer server.Close()
	runs := 0
	e := &Endpoint{Provider: "p", Address: server.URL + "?api-version=1", Source: new(Credentials).Source(Source{
		Refuses: func(e *StatusError) bool { return strings.HasSuffix(e.Message, "is old") },
		Fetch: func(context.Context) (*Credential, error) {
			runs++
			n := runs
			return &Credential{Secrets: []string{fmt.Sprintf("secret-of-%d", n)}, Authorize: func(req *http.Request, body Body) error {
				req.Header.Set("Authorization", fmt.Sprint(n, " ", req.URL.RawQuery, " ", req.Header.Get("Content-Type"), " ", string(bytes.Join(body, nil))))
				return nil
			}}, nil
		},
	})}
	for _, address := range []string{"/a?b=c", "/a"} {
		res, err := e.Client().Send(t.Context(), http.MethodPost, server.URL+address, http.Header{}, []byte(`{"a":`), []byte("1}"))
		if err != nil {
			t.Fatal(e.Failure(err))
		}
		_ = res.Body.Close()
	}
	want := []string{`1 api-version=1&b=c application/json {"a":1}`, `2 api-version=1&b=c application/json {"a":1}`, `2 api-version=1 application/json {"a":1}`}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The failure to get a credential names the source, has its advice, and may pass by itself.
func TestFetchFailure(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		retry bool
		want  string
	}{
		"the user's":     {errors.New("no profile"), false, "p: no token: no profile (sign in)"},
		"advised":        {fmt.Errorf("sso: %w", Advised(errors.New("expired"), "run aws sso login")), false, "p: no token: sso: expired (run aws sso login)"},
		"refused":        {&StatusError{Status: 400, Message: "bad client"}, false, "p: no token: bad client (sign in)"},
		"overloaded":     {&StatusError{Status: 503, Message: "busy"}, true, "p: no token: busy (sign in)"},
		"no connection":  {&url.Error{Op: "Get", URL: "http://u:password@x", Err: errors.New("refused")}, true, "p: no token: refused (check the network)"},
		"context ends":   {context.Canceled, false, "p: no token: context canceled (sign in)"},
		"secrets inside": {errors.New("it has the-first-token"), false, "p: no token: it has [key] (sign in)"},
	} {
		first := true
		k := new(Credentials)
		e := &Endpoint{Provider: "p", Source: k.Source(Source{What: "token", Hint: "sign in", Fetch: func(context.Context) (*Credential, error) {
			if first {
				first = false
				return &Credential{Key: "the-first-token"}, nil
			}
			return nil, tt.err
		}})}
		if err := e.FetchKey(t.Context()); err != nil {
			t.Fatal(err)
		}
		k.Forget()
		f, _ := errors.AsType[*llm.Error](e.FetchKey(t.Context()))
		if f == nil || f.Error() != tt.want || f.Retryable != tt.retry || f.Auth == tt.retry {
			t.Errorf("%s: got %+v, want %s", name, f, tt.want)
		}
	}
}
