package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func newLogout(f *flags) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Remove stored keys",
		Args:  noProvider,
		RunE:  func(cmd *cobra.Command, _ []string) error { return logout(cmd, f, name) },
	}
	cmd.Flags().StringVar(&name, "provider", "", "remove the key of the provider `NAME` alone")
	return cmd
}

// logout removes stored keys. It warns about keys in the environment, since it
// cannot remove those.
func logout(cmd *cobra.Command, f *flags, name string) error {
	l, err := f.load(cmd)
	if err != nil {
		return err
	}
	printWarnings(cmd, l.Warnings)
	keys, known := l.Keys(), keysByVariable(l.Config.LLM)
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
