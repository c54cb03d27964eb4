package provider

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// TestWireCancelEarly cancels a request before any response.
func TestWireCancelEarly(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			s := newWireServer(t, name, d, "text")
			s.mute, s.asked = true, make(chan struct{})
			cause := errors.New("the user pressed stop")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			go func() {
				<-s.asked
				cancel(cause)
			}()
			if events, err := llmtest.Collect(s.model(), ctx, llmtest.Hello()); err != cause || len(events) > 0 {
				t.Errorf("%+v, error %v, want %v", events, err, cause)
			}
			<-s.gone // the server noticed it
		})
	}
}

// TestWireCancelWait cancels the pause before another attempt.
func TestWireCancelWait(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			s := newWireServer(t, name, d, "429")
			p := d.provider
			p.BaseURL = s.URL
			m, err := Select(Config{Providers: []Provider{p}, Retry: backoff.Limits{MaxAttempts: 1, BaseMS: 300_000, MaxMS: 300_000}},
				func(string) string { return wireKey }, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			cause := errors.New("the user pressed stop")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var last error
			var asked time.Time
			for ev, err := range m.Stream(ctx, llmtest.Hello()) {
				if ev.Wait != nil {
					asked = time.Now()
					cancel(cause)
				}
				last = err
			}
			if took := time.Since(asked); last != cause || took > 5*time.Second || len(s.bodies) != 1 {
				t.Errorf("error %v after %s, want %v", last, took, cause)
			}
		})
	}
}

// TestWireMalformed reads a call with arguments that are not JSON. The tool
// gets the raw text as a string, which no tool accepts, so that the call is
// corrected or the model gets the error. The call is sent back as an object,
// since most servers refuse anything else.
func TestWireMalformed(t *testing.T) {
	for name, d := range dialects {
		if !exists(name, "unreadable") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := newWireServer(t, name, d, "unreadable", "text")
			got, err := llmtest.Collect(s.model(), t.Context(), llmtest.Hello())
			want := []llm.Event{{Text: "I look."}, wireCall("read", `"{\"path\": a.go"`), {Stop: llm.StopTools}}
			if diff := cmp.Diff(want, plain(t, got)); err != nil || diff != "" {
				t.Fatalf("%v (-want +got)\n%s", err, diff)
			}
			blocks := blocksOf(got)
			result := llm.Block{Result: &llm.ToolResult{ID: blocks[len(blocks)-1].Call.ID, Text: "no", Failed: true}}
			_, err = llmtest.Collect(s.model(), t.Context(), llm.Request{Messages: append(llmtest.Hello().Messages,
				llm.Message{Role: llm.Assistant, Blocks: blocks}, llm.Message{Role: llm.User, Blocks: []llm.Block{result}})})
			if err != nil {
				t.Fatal(err)
			}
			inputs := inputsIn(t, s.bodies[1])
			if len(inputs) != 1 || !llm.IsObject(inputs[0]) || !strings.Contains(string(inputs[0]), "a.go") {
				t.Errorf("went back as %s", inputs)
			}
		})
	}
}

// inputsIn returns the inputs of the calls in a request of any dialect.
func inputsIn(t *testing.T, body string) (inputs []json.RawMessage) {
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				look(e)
			}
		case map[string]any:
			for key, e := range v {
				arguments := key == "arguments" || key == "args" || key == "input" && (v["type"] == "tool_use" || v["toolUseId"] != nil)
				if text, ok := e.(string); ok && arguments {
					inputs = append(inputs, json.RawMessage(text))
				} else if arguments {
					raw, _ := json.Marshal(e)
					inputs = append(inputs, raw)
				} else {
					look(e)
				}
			}
		}
	}
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	look(v)
	return inputs
}

// An answer in an encoding that was not asked for is named, and not asked for again.
func TestWireEncoding(t *testing.T) {
	for name, d := range dialects {
		asked := 0
		s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == d.path {
				asked++
			}
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "\x0b\x02\x80data\x03")
		})
		p := d.provider
		p.BaseURL = s.URL
		m, err := selectWith(Config{Providers: []Provider{p}, Retry: wireRetry}, func(string) string { return wireKey }, nil, "", wireClock(new(llmtest.IdleClock)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = llmtest.Collect(m, t.Context(), llmtest.Hello())
		if e, ok := errors.AsType[*llm.Error](err); !ok || e.Retryable || asked != 1 || !strings.Contains(e.Message, "in the encoding br") {
			t.Errorf("%s: %v after %d requests", name, err, asked)
		}
	}
}

// A wrong address is not tried again.
func TestWireWrongAddress(t *testing.T) {
	answer := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("was asked") })
	plain, secret := httptest.NewServer(answer), httptest.NewUnstartedServer(answer)
	secret.Config.ErrorLog = log.New(io.Discard, "", 0) // discards failed handshakes
	secret.StartTLS()
	defer plain.Close()
	defer secret.Close()
	odd, err := net.Listen("tcp", "127.0.0.1:0") // such as an SSH server
	if err != nil {
		t.Fatal(err)
	}
	defer odd.Close()
	go func() {
		for {
			c, err := odd.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n")
			_, _ = io.Copy(io.Discard, c) // otherwise unread data would reset the connection
			c.Close()
		}
	}()
	const noTLS = "the server does not speak https there: check base_url, which may have to begin with http://"
	for name, tt := range map[string]struct{ kind, address, hint string }{
		"untrusted":       {TypeClaude, secret.URL, "check the network and base_url"},
		"http by https":   {TypeClaude, strings.Replace(plain.URL, "http:", "https:", 1), noTLS},
		"ollama by https": {TypeOllama, strings.Replace(plain.URL, "http:", "https:", 1), noTLS},
		"no web server":   {TypeCompatible, "https://" + odd.Addr().String(), noTLS},
		"https by http":   {TypeCompatible, strings.Replace(secret.URL, "https:", "http:", 1), "begin base_url with https://"},
	} {
		cfg := Config{Providers: []Provider{{Type: tt.kind, Model: "m", BaseURL: tt.address}}, Retry: wireRetry}
		m, err := selectWith(cfg, func(string) string { return wireKey }, nil, "", wireClock(new(llmtest.IdleClock)))
		if err != nil {
			t.Fatal(err)
		}
		events, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Retryable || e.Hint != tt.hint || len(events) > 0 {
			t.Errorf("%s: %s", name, llmtest.Transcript(events, err))
		}
	}
}

// Other parts of base_url are sent with each request, and appear in no message,
// whatever the server says.
func TestWireAddress(t *testing.T) {
	var got []string
	srv := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		got = append(got, r.URL.Path+" "+r.URL.RawQuery+" "+user+password)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"at %s: %s %s %s"}}`, r.URL.RawQuery, r.Header.Get("Authorization")+r.Header.Get("X-Goog-Api-Key"), user, password)
	})
	t.Setenv("WIRE_KEY", wireKey)
	address := strings.Replace(srv.URL, "://", "://somebody:pass+word@", 1) + "/v1?api-version=2026-01-01&key=a%2Fsecret-key#part"
	for kind, path := range map[string]string{TypeClaude: "/v1/messages", TypeCompatible: "/v1/chat/completions", TypeOpenAI: "/v1/responses",
		TypeOllama: "/api/chat", TypeGemini: "/v1/models/m:streamGenerateContent"} {
		p := Provider{Name: "p", Type: kind, Model: "m", BaseURL: address, APIKeyEnv: "WIRE_KEY"}
		if kind == TypeCompatible {
			p.APIKeyEnv = ""
		}
		m, err := p.open(os.Getenv, nil)
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		_, err = llmtest.Collect(m, t.Context(), llmtest.Hello())
		for _, secret := range []string{"somebody", "pass+word", "secret-key", wireKey, base64.StdEncoding.EncodeToString([]byte("somebody:pass+word"))} {
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", kind, err)
			}
		}
		if len(got) == 0 || !strings.HasPrefix(got[len(got)-1], path+" api-version=2026-01-01&key=a%2Fsecret-key") {
			t.Errorf("%s asked %q", kind, got)
		}
	}
}

// A proxy's refusal is not blamed on the address alone.
func TestWireProxy(t *testing.T) {
	proxy := llmtest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	})
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := wire.NewClient("")
	c.Transport = &http.Transport{Proxy: http.ProxyURL(at)}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Do(req)
	got := (&wire.Endpoint{Provider: "a"}).Failure(err).Error()
	want := "a: Proxy Authentication Required (check the network, base_url and the proxy that HTTPS_PROXY or HTTP_PROXY names)"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
