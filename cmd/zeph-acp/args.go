package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// noArgs rejects arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("%s takes no argument, got %q: try %q", path(cmd), args[0], cmd.CommandPath()+" --help")
	}
	return nil
}

// noProvider rejects arguments of a command about keys, which takes a provider as a flag.
func noProvider(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && !strings.Contains(args[0], " ") {
		return usageError("%s takes no argument: try %q", path(cmd), cmd.CommandPath()+" --provider "+args[0])
	}
	return noArgs(cmd, args)
}

// noCommand rejects arguments of a command that only has subcommands.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	hint := fmt.Sprintf("try %q", cmd.CommandPath()+" --help")
	switch near := nearest(args[0], names); {
	case near != "":
		hint = fmt.Sprintf("did you mean %q?", near)
	case cmd.HasParent():
		hint = "want " + strings.Join(names, ", ")
	case len(args) > 1 || strings.Contains(args[0], " "):
		hint = fmt.Sprintf("a prompt needs %q before it", cmd.Name()+" run")
	}
	return usageError("unknown command %q: %s", args[0], hint)
}

// needsCommand runs a command that only has subcommands: it prints them as an error.
func needsCommand(cmd *cobra.Command, _ []string) error {
	cmd.SetOut(cmd.ErrOrStderr())
	return errors.Join(cmd.Help(), &exitError{code: exitUsage})
}

// path returns the names of a command without the program's.
func path(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// needsOne returns a check for one argument; the error message calls it noun.
func needsOne(noun string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError("want %s, got %s: try %q", noun, quantity.Count(len(args), "argument"), cmd.CommandPath()+" --help")
		}
		return nil
	}
}

// needsSome returns a check for one argument or more; the error message calls them noun.
func needsSome(noun string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError("want %s: try %q", noun, cmd.CommandPath()+" --help")
		}
		return nil
	}
}

// atMostOne returns a check for at most one argument, which noun names.
func atMostOne(noun string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usageError("want at most %s, got %s: try %q", noun, quantity.Count(len(args), "argument"), cmd.CommandPath()+" --help")
		}
		return nil
	}
}
