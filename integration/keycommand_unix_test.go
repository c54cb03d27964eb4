//go:build unix

package integration

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// Keys that the helper prints, one after the other.
const (
	firstKey  = "first-of-the-helper"
	secondKey = "second-of-the-helper"
)

// keyServer is a fake provider that accepts one key at a time.
type keyServer struct {
	*httptest.Server
	mu       sync.Mutex
	accepted string
	refusals int
}

// newKeyServer starts a server that passes requests with the accepted key to p.
func newKeyServer(t *testing.T, p *fakemodel.Anthropic) *keyServer {
	s := &keyServer{accepted: firstKey}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Api-Key")
		s.mu.Lock()
		ok := key == s.accepted
		if !ok {
			s.refusals++
		}
		s.mu.Unlock()
		if !ok {
			fakemodel.Refuse(http.StatusUnauthorized, "authentication_error", "invalid x-api-key "+key)(w, r)
			return
		}
		if r.URL.Path == "/v1/models" {
			_, _ = w.Write([]byte(`{"data":[{"id":"claude-sonnet-5-5","display_name":"Sonnet"}]}`))
			return
		}
		r.Header.Set("X-Api-Key", "test")
		p.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// accept makes the server accept another key, and returns how many requests it has refused so far.
func (s *keyServer) accept(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accepted = key
	return s.refusals
}

// withHelper starts an agent whose key a helper prints: the content of the file "key". Each run is a line of the file "runs".
func withHelper(t *testing.T, s *keyServer) *agent {
	t.Helper()
	root := home(t)
	dir := filepath.Join(root, "helper")
	a := launch(t, start{root: root, env: []string{"ANTHROPIC_API_KEY=sk-of-the-environment"}, config: "[[llm.providers]]\nname = \"work\"\ntype = \"claude\"\n" +
		"base_url = " + quote(s.URL) + "\napi_key_cmd = [" + quote(filepath.Join(dir, "print-key")) + ", \"op://Work/claude\"]\n"})
	a.script(filepath.Join(dir, "print-key"), "echo run >>"+dir+"/runs\ncat "+dir+"/key")
	a.file(filepath.Join(dir, "key"), firstKey+"\nand another line\n")
	a.initialize()
	return a
}

// helperRuns returns how often the helper ran.
func (a *agent) helperRuns() int {
	a.t.Helper()
	data, err := os.ReadFile(filepath.Join(a.root, "helper", "runs"))
	if err != nil {
		return 0
	}
	return strings.Count(string(data), "run")
}

// A helper gives the key when a request needs it, once for two sessions at the same time. After the provider has
// refused the key it is asked anew, and the request is sent again. The key gets nowhere else.
func TestKeyCommand(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	p.Choose = func(fakemodel.Request) fakemodel.Reply { return fakemodel.Answer(fakemodel.Say("Here.")) }
	server := newKeyServer(t, p)
	a := withHelper(t, server)
	one, two := a.open(), a.open()
	if n := a.helperRuns(); n != 0 {
		t.Errorf("the helper ran %d times before the first prompt", n)
	}
	a.request("1", "session/prompt", promptParams(one, "hi"))
	a.request("2", "session/prompt", promptParams(two, "hi"))
	a.ends("1")
	a.ends("2")
	if n := a.helperRuns(); n != 1 {
		t.Errorf("the helper ran %d times for two prompts, want once", n)
	}
	a.checkContains(a.turnOf(one, "/status"), "Key: from the command print-key")

	a.file(filepath.Join(a.root, "helper", "key"), secondKey)
	server.accept(secondKey)
	a.runTurn(one, "hi again")
	if n, refused := a.helperRuns(), server.accept(secondKey); n != 2 || refused != 1 {
		t.Errorf("after the key was rotated the helper ran %d times and %d requests were refused, want 2 and 1", n, refused)
	}

	server.accept("another one")
	a.request("3", "session/prompt", promptParams(one, "refused"))
	f := a.answer("3")
	if f.Error == nil || f.Error.Code != -32000 || !strings.Contains(f.Error.Message, "check the key that print-key prints") {
		t.Errorf("a refused key: %s", f.line)
	}
	if n, refused := a.helperRuns(), server.accept(secondKey); n != 3 || refused != 2 {
		t.Errorf("the same key again: the helper ran %d times and %d requests were refused, want 3 and 2", n, refused)
	}
	a.file("printed", "old "+firstKey+"\nnew "+secondKey+"\n")
	a.checkContains(a.turnOf(two, `/bash {"command": "cat printed"}`), `old [REDACTED:secret]\nnew [REDACTED:secret]`)
	a.noKey(firstKey, secondKey, "sk-of-the-environment")
}

// noKey checks that neither a frame of the agent, nor its stderr, nor a file of its own has one of the keys.
func (a *agent) noKey(keys ...string) {
	a.t.Helper()
	texts := map[string]string{"the frames": a.lines(), "stderr": a.stderr.String()}
	err := filepath.WalkDir(a.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		texts[path] = string(data)
		return err
	})
	if err != nil {
		a.t.Error(err)
	}
	for where, text := range texts {
		for _, key := range keys {
			if strings.Contains(text, key) {
				a.t.Errorf("%s has the key %s", where, key)
			}
		}
	}
}

// A helper that fails is an error of the prompt, for which clients offer to authenticate. The next prompt runs it again.
func TestKeyCommandFails(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("Here.")))
	a := withHelper(t, newKeyServer(t, p))
	s := a.open()
	helper := filepath.Join(a.root, "helper", "print-key")
	for script, want := range map[string]string{
		"echo " + firstKey + "; echo opening >&2; echo 'the vault is locked' >&2; exit 1": "print-key: exit status 1: the vault is locked",
		"true":             "print-key: the first line of its output: the key is empty",
		"echo two words":   "not a key: it contains a space",
		"yes " + firstKey:  "its output is too long",
		"kill -9 $$":       "print-key: it was ended by SIGKILL",
		"exec no-such-one": "print-key: exit status 127",
	} {
		a.script(helper, script)
		a.request(quote(want), "session/prompt", promptParams(s, "hi"))
		f := a.answer(quote(want))
		if f.Error == nil || f.Error.Code != -32000 || !strings.Contains(f.Error.Message, "work: no key from api_key_cmd: ") ||
			!strings.Contains(f.Error.Message, want) {
			t.Errorf("%s: got %s, want an error with %q", script, f.line, want)
		}
	}
	a.script(helper, "echo "+firstKey)
	a.runTurn(s, "hi")
	a.noKey(firstKey)
	for _, command := range []string{"login", "logout"} {
		status, out := a.subcommand(firstKey, command, "--provider", "work")
		if status != 2 || !strings.Contains(out, "the command print-key gives the key of work") {
			t.Errorf("%s: exit status %d: %s", command, status, out)
		}
	}
	if status, out := a.subcommand("", "doctor"); !strings.Contains(out, "key from the command print-key") || strings.Contains(out, firstKey) {
		t.Errorf("doctor: exit status %d: %s", status, out)
	}
	a.script(helper, "echo 'the vault is locked' >&2; exit 1")
	if status, out := a.subcommand("", "doctor"); status != 1 || !strings.Contains(out, "no key from api_key_cmd: print-key: exit status 1: the vault is locked") {
		t.Errorf("doctor with a locked vault: exit status %d: %s", status, out)
	}
}
