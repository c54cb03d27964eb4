package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelp reads the help of each command: it has one line about what it does and an example, and each
// example is a command line that would be accepted.
func TestHelp(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			check(sub)
		}
		if !cmd.IsAvailableCommand() || cmd.HasAvailableSubCommands() {
			return
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || strings.Contains(cmd.Short, "\n") {
			t.Errorf("%s: the line %q", cmd.CommandPath(), cmd.Short)
		}
		examples := 0
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			if !strings.HasPrefix(line, "  ") {
				continue
			}
			for _, args := range ourCommands(strings.TrimSpace(line)) {
				examples++
				problem := problemOf(args)
				if example, rest, err := newRoot(nil).Find(args); problem == "" && err == nil && example.ParseFlags(rest) == nil {
					if err := example.ValidateArgs(example.Flags().Args()); err != nil {
						problem = err.Error()
					}
				}
				if problem != "" {
					t.Errorf("%s: the example %q: %s", cmd.CommandPath(), strings.TrimSpace(line), problem)
				}
			}
		}
		if examples == 0 && cmd.HasParent() {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
	}
	check(newRoot(nil))
}
