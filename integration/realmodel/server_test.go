package realmodel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

var (
	long   = flag.Bool("long", false, "let a real model work, which takes an hour")
	repeat = flag.Int("repeat", 1, "how often each task is done")
)

// binary is the built command.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if !*long {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "zeph-realmodel-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "zeph-acp")
	build := exec.Command("go", "build", "-o", binary, "github.com/zeph-acp/zeph-acp/cmd/zeph-acp")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return machine.Tests{M: m}.Run()
}

// contextSize is the window that the server gives the model, in tokens.
const contextSize = 16384

// llama is a server of llama.cpp, behind a proxy that sees what each request costs.
type llama struct {
	url   string // of the proxy
	model string // the name of the model

	mu     sync.Mutex
	rounds []round
}

// round is a request to the model, as the server counted it, in tokens.
type round struct{ prompt, evaluated, answer int }

// serve starts the server with further flags. It skips the test where there is none.
func serve(t *testing.T, flags ...string) *llama {
	t.Helper()
	if !*long {
		t.Skip("a real model takes an hour: -args -long")
	}
	model := os.Getenv("LLAMA_MODEL")
	server := os.Getenv("LLAMA_SERVER")
	if server == "" {
		server, _ = exec.LookPath("llama-server")
	}
	if server == "" || model == "" {
		t.Skip("LLAMA_MODEL names no model, or there is no llama-server")
	}
	address := freeAddress(t)
	host, port, _ := net.SplitHostPort(address)
	args := append([]string{"-m", model, "--host", host, "--port", port, "-c", fmt.Sprint(contextSize), "-np", "1", "--jinja"}, flags...)
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, server, args...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { stop(); <-ended })
	upstream := "http://" + address
	for !healthy(upstream) {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the server ended: %v\n%s", err, log.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	l := &llama{model: "qwen2.5-coder"}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.relay(w, r, upstream) }))
	t.Cleanup(proxy.Close)
	l.url = proxy.URL
	return l
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func healthy(url string) bool {
	res, err := http.Get(url + "/health")
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// relay passes a request on, and its answer back as it arrives.
func (l *llama) relay(w http.ResponseWriter, r *http.Request, upstream string) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, upstream+r.URL.Path, r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	req.Header = r.Header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	for key, values := range res.Header {
		w.Header()[key] = values
	}
	w.WriteHeader(res.StatusCode)
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		l.count(line)
		_, failed := io.WriteString(w, line)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		if err := errors.Join(err, failed); err != nil {
			return
		}
	}
}

// count notes the cost of a request, which is in the last event of an answer.
func (l *llama) count(line string) {
	var event struct {
		Timings *struct {
			Cached    int `json:"cache_n"`
			Evaluated int `json:"prompt_n"`
			Answer    int `json:"predicted_n"`
		}
	}
	data, ok := strings.CutPrefix(line, "data: ")
	if !ok || json.Unmarshal([]byte(data), &event) != nil || event.Timings == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := event.Timings
	l.rounds = append(l.rounds, round{n.Cached + n.Evaluated, n.Evaluated, n.Answer})
}

// takeRounds returns the requests since the last call.
func (l *llama) takeRounds() []round {
	l.mu.Lock()
	defer l.mu.Unlock()
	rounds := l.rounds
	l.rounds = nil
	return rounds
}

// tokens returns how many tokens a text has.
func (l *llama) tokens(t *testing.T, text string) int {
	t.Helper()
	body, err := json.Marshal(map[string]string{"content": text})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(l.url+"/tokenize", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct{ Tokens []json.RawMessage }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return len(answer.Tokens)
}
