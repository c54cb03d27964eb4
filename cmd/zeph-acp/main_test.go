package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/integration/fakemcp"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

func TestMain(m *testing.M) {
	testscript.Main(machine.Tests{M: m}, map[string]func(){
		"zeph-acp": main,
		"fake-mcp": func() { fakemcp.Serve("serve") }, // a server for mcp.txtar
		"no-mcp":   func() { fakemcp.Serve("exit") },  // one that does not start
	})
}

// TestScript runs the commands as a user would. Each file of testdata/script
// says in its comments which behaviour it shows.
func TestScript(t *testing.T) {
	models := modelServer(t)
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Setenv("ZEPH_LLM_FIND_OLLAMA", "false") // independent of the programs on this machine
			env.Setenv("MODELS", models)
			env.Setenv("DOCS", docs)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"always": always, "exits": exits, "expand": expand, "page": page, "shows": shows},
	})
}

// expand FROM TO copies a file and replaces variables such as $WORK by their values.
func expand(ts *testscript.TestScript, _ bool, args []string) {
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// page NAME LANGUAGE FILE writes the first block of a language on a page of docs/.
func page(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(filepath.Join(ts.Getenv("DOCS"), args[0]))
	ts.Check(err)
	_, block, ok := strings.Cut(string(text), "```"+args[1]+"\n")
	block, _, _ = strings.Cut(block, "```")
	if !ok {
		ts.Fatalf("%s has no block of %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(block), 0o600))
}

// shows FILE checks that each line of the file is a line of stdout. Paths of the
// script's directory are left out of both.
func shows(ts *testscript.TestScript, _ bool, args []string) {
	got := strings.ReplaceAll(ts.ReadFile("stdout"), ts.Getenv("WORK")+string(filepath.Separator), "")
	lines := strings.Split(got, "\n")
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if !slices.Contains(lines, strings.TrimSuffix(line, "\n")) {
			ts.Fatalf("not in stdout: %s", line)
		}
	}
}

var long = flag.Bool("long", false, "run a command ten times where its outcome must be the same each time, and not twice")

// always N COMMAND... is exits, ten times with -long. All of them must write the same to stdout, except
// ids and durations.
func always(ts *testscript.TestScript, neg bool, args []string) {
	first, times := "", 2
	if *long {
		times = 10
	}
	for n := range times {
		exits(ts, neg, args)
		got := varying.ReplaceAllString(ts.ReadFile("stdout"), "*")
		switch {
		case n == 0:
			first = got
		case got != first:
			ts.Fatalf("run %d wrote\n%s\nthe first one\n%s", n+1, got, first)
		}
	}
}

var varying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|"durationMs":\d+|"updatedAt":"[^"]*"`)

// exits N COMMAND... runs the command, which must exit with that status.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	status := "0"
	if coded, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok {
		status = fmt.Sprint(coded.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if status != args[0] {
		ts.Fatalf("%s: exit status %s, want %s", strings.Join(args[1:], " "), status, args[0])
	}
}

// A wrong number of arguments is an error of the command line in every command, and the
// message is ours, not cobra's.
func TestArguments(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for n := range 4 {
			err := cmd.ValidateArgs(slices.Repeat([]string{"x"}, n))
			if e, ok := errors.AsType[*cli.ExitError](err); err != nil && (!ok || e.Code != cli.ExitUsage || strings.Contains(err.Error(), "arg(s)")) {
				t.Errorf("%s with %d arguments: %v", cmd.CommandPath(), n, err)
			}
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(newRoot(nil))
}

// BenchmarkRoot measures the time that each start spends on the command tree.
func BenchmarkRoot(b *testing.B) {
	for name, build := range map[string]func(){
		"serve": func() { newServing(&cli.Flags{}) },
		"all":   func() { newRoot(nil) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				build()
			}
		})
	}
}

// modelServer returns the address of a server that lists one model to the right key, by
// the protocols of Anthropic and Ollama. Below /silent it answers nothing.
func modelServer(t *testing.T) string {
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, status int, body string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write([]byte(body))
	}
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "the-right-key" {
			reply(w, http.StatusUnauthorized, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)
			return
		}
		reply(w, http.StatusOK, `{"data":[{"type":"model","id":"claude-test","display_name":"Test"}],"has_more":false}`)
	})
	mux.HandleFunc("/silent/", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not see that the client leaves
		<-r.Context().Done()
	})
	mux.HandleFunc("/api/tags", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, `{"models":[{"name":"qwen3:8b"}]}`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}
