// Package certify is the command "zeph-acp certify", and the agent of "zeph-acp serve
// --certify": they test a client of the protocol against scripted scenarios.
package certify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/certify"
)

// placeholder is where the client's command line names the agent.
const placeholder = "{agent}"

// options are the flags of the command.
type options struct {
	client    string
	protocol  string
	scenarios []string
	timeout   time.Duration
	asJSON    bool
	asPage    bool
	output    string
}

// NewCommand returns the command certify.
func NewCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "certify --client COMMAND",
		Short: "Test a client of the protocol against scripted scenarios",
		Long: `Test a client of the protocol, without a model: it is started once for each scenario, with an
agent that plays the scenario and checks every frame. The report says which of its
capabilities a client keeps, and which statements it breaks, with the frames. What a client
does not reach is "not tried".

COMMAND is a shell command, in which {agent} becomes the path of the agent, a program
without arguments. The client must send one prompt; where a scenario waits for a cancel, the
client gets SIGINT. It works in the current directory, where scenarios create and remove the
directory zeph-certify-1.tmp.

An editor starts the agent itself: zeph-acp serve --certify REPORT. Each prompt then runs the next
scenario, and "/certify NAME" runs one of them.

Exit status: 1 if the client breaks a statement that says MUST.`,
		Example: `  zeph-acp certify --client 'npx -y acpx@latest --approve-all --agent {agent} exec hi'
  zeph-acp certify --client './client {agent}' --scenario read --markdown -o report.md`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.client, "client", "", "start the client by `COMMAND`, in which {agent} is the path of the agent")
	f.StringSliceVar(&o.scenarios, "scenario", nil, "run only the scenario `NAME`; may be repeated")
	f.StringVar(&o.protocol, "protocol", "auto", "serve the `VERSIONS` of the protocol: v1, auto or v2")
	f.DurationVar(&o.timeout, "timeout", time.Minute, "end the client after `TIME` in each scenario")
	f.BoolVar(&o.asJSON, "json", false, "print the report as JSON")
	f.BoolVar(&o.asPage, "markdown", false, "print the report as Markdown")
	f.StringVarP(&o.output, "output", "o", "", "write to the new file `FILE` instead of stdout")
	_ = cmd.RegisterFlagCompletionFunc("scenario", cobra.FixedCompletions(certify.Names(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return cmd
}

// check returns a mistake in the flags.
func (o *options) check() error {
	if !strings.Contains(o.client, placeholder) {
		return cli.Usagef("--client: want a command with %s, such as './client %s'", placeholder, placeholder)
	}
	if o.asJSON && o.asPage {
		return cli.Usagef("--json and --markdown: want one of them")
	}
	if !slices.Contains([]string{"v1", "auto", "v2"}, o.protocol) {
		return cli.Usagef("--protocol: %q is none of v1, auto and v2", o.protocol)
	}
	if o.timeout <= 0 {
		return cli.Usagef("--timeout: want a time above 0, such as 30s")
	}
	for _, name := range o.scenarios {
		if !slices.Contains(certify.Names(), name) {
			return cli.Usagef("--scenario: there is no %q; want %s", name, strings.Join(certify.Names(), ", "))
		}
	}
	if len(o.scenarios) == 0 {
		o.scenarios = certify.Names()
	}
	return nil
}

// run starts the client for each scenario and prints the report.
func run(cmd *cobra.Command, o options) error {
	if err := cmp.Or(o.check(), cli.CheckNew(o.output)); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "zeph-certify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, stop := cli.StopOnSignal(cmd.Context(), func() {})
	defer stop()
	whole := &certify.Report{}
	for _, name := range o.scenarios {
		if whole.Skips(name) {
			continue
		}
		if cli.IsTerminal(os.Stderr) {
			fmt.Fprintf(cmd.ErrOrStderr(), "certify: %s\n", name)
		}
		c := client{options: o, dir: dir, scenario: name}
		r, ended, err := c.run(ctx)
		if err = cmp.Or(cli.SignalExit(ctx), err); err != nil {
			return err
		}
		whole.Add(r)
		if whole.Protocol == 0 { // the command is wrong, so all runs would fail
			return fmt.Errorf("the client sent no initialize; %s", ended)
		}
	}
	if err := cli.WriteNew(cmd, o.output, "the report", func(w io.Writer) error { return write(w, whole, o.form()) }); err != nil {
		return err
	}
	if whole.Fails() {
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	return nil
}

// The forms of a report, by the extension of its file.
const (
	formJSON = ".json"
	formPage = ".md"
)

func (o options) form() string {
	switch {
	case o.asJSON:
		return formJSON
	case o.asPage:
		return formPage
	}
	return ""
}

// write writes a report with credentials masked.
func write(w io.Writer, r *certify.Report, form string) error {
	mask := cli.MaskFunc(nil)
	masked := *r
	masked.Broken = append([]certify.Finding{}, r.Broken...) // an array in JSON, also if it is empty
	for i, f := range masked.Broken {
		f.Frames = slices.Clone(f.Frames)
		for k := range f.Frames {
			f.Frames[k].Line = mask(f.Frames[k].Line)
		}
		masked.Broken[i] = f
	}
	switch form {
	case formJSON:
		return cli.WriteJSON(w, &masked)
	case formPage:
		return masked.Markdown(w)
	}
	return masked.Text(w)
}

// launcher writes the program that the client starts. It has no arguments, since some clients
// allow none. Each start writes a report of its own: some clients start an agent twice.
func (c client) launcher() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	report := filepath.Join(c.dir, c.scenario+"-")
	serve := []string{"serve", "--certify-scenario", c.scenario, "--protocol", c.protocol, "--certify"}
	if runtime.GOOS == "windows" {
		path := filepath.Join(c.dir, "agent.cmd")
		return path, os.WriteFile(path, []byte(`@"`+self+`" `+strings.Join(serve, " ")+` "`+report+"%RANDOM%"+formJSON+"\"\r\n"), 0o700)
	}
	quote := func(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
	path := filepath.Join(c.dir, "agent")
	return path, os.WriteFile(path, []byte("#!/bin/sh\nexec "+quote(self)+" "+strings.Join(serve, " ")+" "+quote(report)+"$$"+formJSON+"\n"), 0o700)
}

// readReports returns the joined reports of the agents that the client started.
func (c client) readReports() (*certify.Report, error) {
	whole := &certify.Report{}
	files, err := filepath.Glob(filepath.Join(c.dir, c.scenario+"-*"+formJSON))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		r := &certify.Report{}
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, r)
		}
		if err != nil {
			return nil, fmt.Errorf("the report of %s: %w", c.scenario, err)
		}
		whole.Add(r)
		whole.Waiting = cmp.Or(whole.Waiting, r.Waiting)
	}
	return whole, nil
}

// start starts the client.
func (c client) start(agent string) (*process.Process, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	line := strings.ReplaceAll(c.client, placeholder, agent)
	p := process.Program{Path: "sh", Args: []string{"-c", line}, Env: os.Environ(), Dir: dir, Tail: 2000}
	if runtime.GOOS == "windows" {
		p.Path, p.Args = "cmd", []string{"/C", line}
	}
	return process.Start(p)
}
