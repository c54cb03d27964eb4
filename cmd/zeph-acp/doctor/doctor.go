// Package doctor examines whether zeph-acp can work on this machine: its configuration,
// its models, the programs that it needs, and its stored data.
//
// Start with [Doctor.Examine]. It promises that all checks together end within
// [Doctor.Timeout], without a network too. No finding contains a key. It creates
// neither a database nor a directory. It does start the configured MCP servers and
// asks each provider for its list of models, unless Offline is set. Where a command
// gives the key of a provider, it runs the command for that.
//
// Why does a broken configuration not stop the checks? Those that do not depend on it
// still run, since a machine with one fault often has others.
package doctor

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/process/program"
	"github.com/zeph-acp/zeph-acp/executors/tools/websearch"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// State is the result of a check.
type State string

// The states. With a failure the agent cannot work; with a warning it can.
const (
	OK      State = "ok"
	Warning State = "warning"
	Failure State = "failure"
)

// Finding is one line of the report.
type Finding struct {
	Check string `json:"check"` // the part that was examined, such as "database"
	State State  `json:"state"`
	Text  string `json:"text"`          // one line
	Fix   string `json:"fix,omitempty"` // what to do; empty if there is nothing to do
}

// passed, warning and failure return a finding of that state. An empty fix means that there is nothing
// to do.
func passed(text string) Finding       { return Finding{State: OK, Text: text} }
func warning(text, fix string) Finding { return Finding{State: Warning, Text: text, Fix: fix} }
func failure(text, fix string) Finding { return Finding{State: Failure, Text: text, Fix: fix} }

// Doctor examines one installation.
type Doctor struct {
	Options config.Options
	Dir     string // absolute; the working directory, as a workspace
	Offline bool   // ask no server on the network
	Timeout time.Duration
	// NewApp returns the parts that the checks need; Examine closes it.
	NewApp func(*config.Loaded) (a *app.App, closeApp func())
}

// check examines one part. It returns soon after ctx is done.
type check struct {
	name string
	run  func(ctx context.Context) []Finding
}

// Examine runs all checks concurrently and returns their findings in a fixed order.
func (d *Doctor) Examine(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	getenv := config.Getenv(d.Options.Environ)
	e := &examination{Doctor: d, paths: config.FindPaths(getenv), getenv: getenv}
	e.loaded, e.loadErr = config.Load(d.Options)
	checks := []check{{"configuration", e.configuration}, {"directories", e.directories}}
	if e.loaded != nil {
		a, closeApp := d.NewApp(e.loaded)
		defer closeApp()
		e.app = a
		checks = append(checks,
			check{"model", e.models},
			check{"mcp", e.servers},
			check{"plug-ins", e.plugins},
			check{"lsp", e.languages},
			check{websearch.Name, e.webSearch},
			check{"sandbox", e.sandbox},
		)
	}
	checks = append(checks,
		check{"shell", shellProgram},
		check{program.GitName, gitProgram},
		check{"database", e.database},
		check{"audit", e.audit},
		check{"editor", e.editors},
	)
	return e.clean(e.all(ctx, checks))
}

// examination is the state of one Examine.
type examination struct {
	*Doctor
	paths   config.Paths
	getenv  func(string) string // looks up the environment
	loaded  *config.Loaded      // nil if the configuration has mistakes
	loadErr error               // the mistakes
	app     *app.App            // nil without loaded
}

// all runs the checks. One that does not end in time is a warning, and keeps running
// in the background: reading a disk cannot be interrupted.
func (e *examination) all(ctx context.Context, checks []check) []Finding {
	results := make([]chan []Finding, len(checks))
	for i, c := range checks {
		results[i] = make(chan []Finding, 1)
		go func() { results[i] <- c.run(ctx) }()
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.Timeout+grace)
	defer cancel()
	var found []Finding
	for i, c := range checks {
		found = append(found, withCheckName(c.name, e.await(late, results[i]))...)
	}
	return found
}

// await returns the result of a check, or a warning that there was none in time.
func (e *examination) await(late context.Context, result <-chan []Finding) []Finding {
	select {
	case found := <-result:
		return found
	case <-late.Done():
	}
	select {
	case found := <-result: // it ended before the wait for it began
		return found
	default:
		text := fmt.Sprintf("the check did not end within %s", e.Timeout)
		return []Finding{warning(text, "try again when the machine has less to do")}
	}
}

// grace is the time that a check has to report that its context has ended.
const grace = time.Second

// withCheckName sets the name of the check in each finding without one.
func withCheckName(name string, found []Finding) []Finding {
	for i := range found {
		if found[i].Check == "" {
			found[i].Check = name
		}
	}
	return found
}

// clean removes credentials and line breaks from the findings.
func (e *examination) clean(found []Finding) []Finding {
	scanner := e.scanner()
	line := func(text string) string {
		text, _ = scanner.Mask(text)
		return line.Join(text)
	}
	for i, f := range found {
		found[i].Text, found[i].Fix = line(f.Text), line(f.Fix)
	}
	return found
}

// scanner returns a scanner that also recognizes the keys of the providers, and all values
// that the configuration passes to MCP servers: a server may print them. It works even
// where the configuration switches the scan of results off.
func (e *examination) scanner() *redact.Scanner {
	cfg, getenv := setting.Default[config.Config](), e.getenv
	if e.loaded != nil {
		cfg, getenv = e.loaded.Config, e.loaded.Keys().Getenv
	}
	s, err := redact.NewScanner(cfg.Tools.Filters.Security.ExtraPatterns)
	if err != nil { // config.Load has refused these patterns
		s = &redact.Scanner{}
	}
	names := cfg.KeyVariables()
	for _, k := range provider.Keys(cfg.LLM) {
		names = append(names, k.Env)
	}
	for _, name := range names {
		if key := getenv(name); key != "" {
			s.Learn(key)
		}
	}
	if e.app != nil {
		s.Learn(e.app.Credentials.Known()...)
	}
	for _, server := range cfg.MCP.Servers {
		for _, value := range slices.Concat(slices.Collect(maps.Values(server.Env)), slices.Collect(maps.Values(server.Headers))) {
			s.Learn(secretWords(os.Expand(value, e.getenv))...)
		}
		for _, name := range slices.Concat(server.EnvFrom, []string{server.OAuthSecretFrom}) {
			s.Learn(secretWords(e.getenv(name))...)
		}
	}
	return s
}

// shortSecret is the length, in bytes, below which a value is not treated as a secret.
const shortSecret = 8

// secretWords returns the words of a value that may be secrets, such as the token after
// "Bearer".
func secretWords(value string) []string {
	return slices.DeleteFunc(strings.Fields(value), func(word string) bool { return len(word) < shortSecret })
}
