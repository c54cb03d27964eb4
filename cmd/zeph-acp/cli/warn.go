package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

func PrintWarnings(cmd *cobra.Command, warnings []string) {
	for _, w := range warnings {
		Warnf(cmd, "%s", w)
	}
}

// Warnf prints a warning to stderr.
func Warnf(cmd *cobra.Command, format string, args ...any) {
	fmt.Fprintf(cmd.ErrOrStderr(), "zeph-acp: warning: %s\n", headless.Visible(fmt.Sprintf(format, args...)))
}
