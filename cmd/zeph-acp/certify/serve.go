package certify

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/certify"
)

// Agent is the agent of "serve --certify".
type Agent struct {
	Report   string // the file of the report; empty if the flag is not set
	scenario string
}

// patience is how long the agent waits for an answer that needs no person.
const patience = 20 * time.Second

// AddFlags adds the flags of the agent to serve.
func (a *Agent) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.Report, "certify", "", "test the client instead, and write the report to `FILE`: JSON for .json, Markdown for .md, else text")
	f.StringVar(&a.scenario, "certify-scenario", "", "run the scenario `NAME` at the first prompt, and no other")
	_ = f.MarkHidden("certify-scenario") // the flag exists
}

// Serve tests the client on in and out. The report is written after each scenario. protocol is
// the value of --protocol.
func (a *Agent) Serve(ctx context.Context, in io.Reader, out io.Writer, protocol, version string) error {
	if err := cli.NeedDirectory("--certify", a.Report); err != nil {
		return err
	}
	if protocol == "" {
		protocol = "auto"
	}
	var failed error
	save := func(r *certify.Report) {
		if err := replace(a.Report, func(w io.Writer) error { return write(w, r, filepath.Ext(a.Report)) }); err != nil {
			failed = err
		}
	}
	save(certify.Serve(ctx, in, out, certify.Config{Protocol: protocol, Version: version, Only: a.scenario, Patience: patience, Changed: save}))
	return failed
}

// replace replaces a file, so that readers see the old or the new content.
func replace(file string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
