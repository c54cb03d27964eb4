package audit

import (
	"bufio"
	"io"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/export"
)

func newExport(f *cli.Flags) *cobra.Command {
	var wanted callFilter
	var otlp, cef bool
	cmd := &cobra.Command{
		Use:     "export (--otlp-json | --cef)",
		Short:   "Write the recorded calls in the format of a log collector",
		Example: "  zeph-acp audit export --otlp-json --since 7d > calls.jsonl",
		Long: `Write the recorded calls in the format of a log collector, the newest last. Long texts
are shortened, and credentials are masked.

--otlp-json writes OTLP logs: one ExportLogsServiceRequest a line, in the JSON encoding.
--cef writes the Common Event Format: one line for each call, without a syslog header.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if otlp == cef {
				return cli.Usagef("want either --otlp-json or --cef")
			}
			return withAudit(cmd, f, func(l *audit.Log) error { return exportAudit(cmd, l, wanted, otlp) })
		},
	}
	wanted.register(cmd)
	cmd.Flags().BoolVar(&otlp, "otlp-json", false, "write OTLP logs as JSON lines")
	cmd.Flags().BoolVar(&cef, "cef", false, "write the Common Event Format")
	return cmd
}

// exportAudit writes the selected calls as OTLP logs, or else in the Common Event Format.
func exportAudit(cmd *cobra.Command, l *audit.Log, wanted callFilter, otlp bool) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	product := export.Product{Name: "zeph-acp", Version: app.Version}
	mask := cli.MaskFunc(nil)
	write, flush := export.CEF{Product: product, Mask: mask}.Write, func(io.Writer) error { return nil }
	if otlp {
		o := &export.OTLP{Product: product, Mask: mask}
		write, flush = o.Add, o.Flush
	}
	if err := wanted.read(cmd, l, func(line audit.Line) error { return write(out, &line.Entry) }); err != nil {
		return err
	}
	if err := flush(out); err != nil {
		return err
	}
	return out.Flush()
}
