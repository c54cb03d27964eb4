package login

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
)

// NewLogout returns the command logout.
func NewLogout(f *cli.Flags) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:     "logout",
		Short:   "Remove stored keys",
		Example: "  zeph-acp logout --provider claude",
		Args:    noProvider,
		RunE:    func(cmd *cobra.Command, _ []string) error { return logout(cmd, f, name) },
	}
	cmd.Flags().StringVar(&name, "provider", "", "remove only the key of the provider `NAME`")
	return cmd
}

// logout removes stored keys. It warns about keys in the environment, since it
// cannot remove those.
func logout(cmd *cobra.Command, f *cli.Flags, name string) error {
	l, err := f.Load(cmd)
	if err != nil {
		return err
	}
	cli.PrintWarnings(cmd, l.Warnings)
	keys, known := l.Keys(), keysByVariable(l.Config.LLM)
	if err := givenByCommand(l.Config.LLM, name); err != nil {
		return err
	}
	var removed []string
	if name == "" {
		removed, err = keys.RemoveAll()
	} else {
		var named *providerKey
		if named, err = namedKey(known, name); err != nil {
			return err
		}
		known = []*providerKey{named}
		removed, err = keys.Remove(named.env)
	}
	if err != nil {
		return err
	}
	text := "No key was stored.\n"
	if len(removed) > 0 {
		text = fmt.Sprintf("Removed from %s: %s.\n", keys.File(), strings.Join(removed, ", "))
	}
	for _, k := range known {
		if l.Getenv(k.env) != "" {
			text += fmt.Sprintf("%s is still set in this environment.\n", k.env)
		}
	}
	_, err = io.WriteString(cmd.OutOrStdout(), text)
	return err
}
