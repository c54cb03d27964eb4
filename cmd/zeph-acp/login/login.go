// Package login has the commands "zeph-acp login" and "zeph-acp logout", which store and
// remove the key of a provider.
package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// NewCommand returns the command login.
func NewCommand(f *cli.Flags) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Store the key of a provider",
		Long: `Ask for a provider and its key, and store the key for you alone, unless the provider refuses
it. A running agent uses it from its next session or prompt on. Without a terminal the key is
read from stdin:

  zeph-acp login
  pass anthropic | zeph-acp login --provider claude`,
		Args: noProvider,
		RunE: func(cmd *cobra.Command, _ []string) error { return login(cmd, f, name) },
	}
	var public []string
	for _, k := range provider.Keys(provider.Config{}) {
		public = append(public, k.Provider)
	}
	cmd.Flags().StringVar(&name, "provider", "", "store the key of the provider `NAME`: "+strings.Join(public, ", ")+", or the name of one in the configuration")
	return cmd
}

// noProvider rejects arguments of a command about keys, which takes a provider as a flag.
func noProvider(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && !strings.Contains(args[0], " ") {
		return cli.Usagef("%s takes no argument: try %q", cli.CommandPath(cmd), cmd.CommandPath()+" --provider "+args[0])
	}
	return cli.NoArgs(cmd, args)
}

// WithLogin adds "login" to serve. An editor may append it to a command line
// that contains "serve": ACP's terminal authentication starts an agent that
// way.
func WithLogin(serve *cobra.Command, f *cli.Flags) *cobra.Command {
	cmd := NewCommand(f)
	cmd.Hidden = true
	serve.AddCommand(cmd)
	return serve
}

// errNotStored reports that login ended without storing a key.
var errNotStored = errors.New("no key was stored")

// login asks for a key and stores it.
func login(cmd *cobra.Command, f *cli.Flags, name string) error {
	l, err := f.Load(cmd)
	if err != nil {
		return err
	}
	cli.PrintWarnings(cmd, l.Warnings)
	known := keysByVariable(l.Config.LLM)
	if err := givenByCommand(l.Config.LLM, name); err != nil {
		return err
	}
	if len(known) == 0 {
		return errors.New("no provider of this configuration needs a stored key")
	}
	if names := provider.WithKeyCommand(l.Config.LLM); len(names) > 0 && name == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "A command prints the key of %s, so there is nothing to store.\n", strings.Join(names, ", "))
	}
	stored := l.Keys()
	if err := stored.Err(); err != nil { // before the user types a key
		return fmt.Errorf("%w: repair or remove the file first", err)
	}
	var chosen *providerKey // nil: the user is asked
	switch {
	case name != "":
		if chosen, err = namedKey(known, name); err != nil {
			return err
		}
	case len(known) == 1:
		chosen = known[0]
	}
	chosen, key, err := askKey(cmd.ErrOrStderr(), known, chosen)
	if err != nil {
		return err
	}
	unchecked, err := checkKey(cmd.Context(), l, chosen, key)
	if err != nil {
		return err
	}
	if err := stored.Save(chosen.env, key); err != nil {
		return fmt.Errorf("%w: %w", errNotStored, err)
	}
	if unchecked != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "The key could not be checked: %s. If it is wrong, your next prompt says so.\n", cli.OneLine(unchecked.Error()))
	}
	return printStored(cmd.OutOrStdout(), stored, chosen, l.Getenv(chosen.env) != "")
}

// givenByCommand returns an error if the named provider has its key from a command.
func givenByCommand(cfg provider.Config, name string) error {
	if command := provider.KeyCommand(cfg, name); name != "" && len(command) > 0 {
		return cli.Usagef("--provider: the command %s gives the key of %s, by api_key_cmd: there is none to store or remove", filepath.Base(command[0]), name)
	}
	return nil
}

// checkTimeout limits the wait for the answer of a server that checks a key.
const checkTimeout = 10 * time.Second

// checkKey returns an error for a key that its provider refuses, or the reason why that is not known.
func checkKey(ctx context.Context, l *config.Loaded, k *providerKey, key string) (unchecked, refused error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	err := provider.CheckKey(ctx, l.Config.LLM, l.Getenv, k.providers[0], key)
	if failed, ok := errors.AsType[*llm.Error](err); ok && failed.Auth {
		return nil, fmt.Errorf("%w: %s refuses it: %s", errNotStored, k.providers[0], failed.Message)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s does not answer", k.providers[0])
	}
	return err, nil
}

// askKey reads a key, and if chosen is nil also whose key it is, from the terminal on stdin, or
// from stdin itself. A signal ends it and restores the terminal.
func askKey(out io.Writer, known []*providerKey, chosen *providerKey) (*providerKey, string, error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	read := asker(fromStdin)
	if cli.IsTerminal(os.Stdin) {
		var restore func() error
		var err error
		if read, restore, err = onTerminal(out); err != nil {
			return nil, "", err
		}
		defer restore()
	}
	type answer struct {
		chosen *providerKey
		key    string
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		chosen, key, err := read(known, chosen)
		answered <- answer{chosen, key, err}
	}()
	select {
	case a := <-answered:
		return a.chosen, a.key, a.err
	case <-signals: // the goroutine reads on until the process ends
		return nil, "", errNotStored
	}
}

// printStored reports a stored key. InEnv reports that the environment has one too.
func printStored(out io.Writer, stored *keys.Keys, k *providerKey, inEnv bool) error {
	text := fmt.Sprintf("Stored the key of %s in %s. A running agent sees it at the next prompt.\n", k, stored.File())
	if inEnv {
		text += fmt.Sprintf("%s is set in this environment: where it is set, it takes precedence over the stored key.\n", k.env)
	}
	_, err := io.WriteString(out, text)
	return err
}

// providerKey is a key that can be stored. It may serve several providers.
type providerKey struct {
	env       string // the variable that overrides the stored key
	providers []string
}

func (k *providerKey) String() string { return strings.Join(k.providers, ", ") }

// keysByVariable returns the keys of a configuration's providers, one for each variable.
func keysByVariable(cfg provider.Config) []*providerKey {
	var all []*providerKey
	for _, k := range provider.Keys(cfg) {
		i := slices.IndexFunc(all, func(other *providerKey) bool { return other.env == k.Env })
		if i < 0 {
			i = len(all)
			all = append(all, &providerKey{env: k.Env})
		}
		all[i].providers = append(all[i].providers, k.Provider)
	}
	return all
}

// keyOf returns the key of a provider; nil if there is no such provider.
func keyOf(known []*providerKey, provider string) *providerKey {
	i := slices.IndexFunc(known, func(k *providerKey) bool { return slices.Contains(k.providers, provider) })
	if i < 0 {
		return nil
	}
	return known[i]
}

// namedKey returns the key of the provider that --provider names.
func namedKey(known []*providerKey, provider string) (*providerKey, error) {
	if k := keyOf(known, provider); k != nil {
		return k, nil
	}
	return nil, cli.Usagef("--provider: no provider %q that needs a key: want one of %s", provider, providerNames(known))
}

func providerNames(known []*providerKey) string {
	var all []string
	for _, k := range known {
		all = append(all, k.providers...)
	}
	return strings.Join(all, ", ")
}

// asker reads a key, and if chosen is nil also whose key it is.
type asker func(known []*providerKey, chosen *providerKey) (*providerKey, string, error)

// fromStdin reads all of stdin as the key.
func fromStdin(known []*providerKey, chosen *providerKey) (*providerKey, string, error) {
	if chosen == nil {
		return nil, "", cli.Usagef("stdin is not a terminal: name one of %s with --provider", providerNames(known))
	}
	text, err := io.ReadAll(io.LimitReader(os.Stdin, 1<<16))
	if err != nil {
		return nil, "", fmt.Errorf("read the key: %w", err)
	}
	key, err := keys.CheckKey(string(text))
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", errNotStored, err)
	}
	return chosen, key, nil
}

// onTerminal asks the person at the terminal on stdin. The terminal is in raw mode
// until it is restored: input is not echoed, and Ctrl-C and Ctrl-Z are ordinary
// keys, so that every way out restores the echo.
func onTerminal(out io.Writer) (read asker, restore func() error, err error) {
	fd := int(os.Stdin.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, nil, fmt.Errorf("read from the terminal: %w", err)
	}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{os.Stdin, out}, "")
	read = func(known []*providerKey, chosen *providerKey) (*providerKey, string, error) {
		chosen, key, err := askOnTerminal(t, known, chosen)
		if errors.Is(err, io.EOF) { // Ctrl-C or Ctrl-D
			// Not through t, which would print the typed text again.
			io.WriteString(out, "\r\n")
			err = errNotStored
		}
		return chosen, key, err
	}
	return read, func() error { return term.Restore(fd, before) }, nil
}

// askOnTerminal asks whose key it is, unless that is chosen, and for the key.
func askOnTerminal(t *term.Terminal, known []*providerKey, chosen *providerKey) (*providerKey, string, error) {
	if chosen == nil {
		fmt.Fprintln(t, "Whose key?")
		for i, k := range known {
			fmt.Fprintf(t, "%3d  %s (%s)\n", i+1, k, k.env)
		}
		t.SetPrompt("Number or name [1]: ")
		answer, err := t.ReadLine()
		if err != nil {
			return nil, "", fmt.Errorf("read the answer: %w", err)
		}
		if chosen, err = keyByAnswer(known, answer); err != nil {
			return nil, "", err
		}
	}
	typed, err := t.ReadPassword(fmt.Sprintf("Key of %s (not shown): ", chosen))
	if err != nil {
		return nil, "", fmt.Errorf("read the key: %w", err)
	}
	key, err := keys.CheckKey(typed)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", errNotStored, err)
	}
	return chosen, key, nil
}

// keyByAnswer returns the key for an answer, which is a number or a provider; an empty answer
// selects the first key.
func keyByAnswer(known []*providerKey, answer string) (*providerKey, error) {
	answer = strings.TrimSpace(answer)
	if answer == "" {
		return known[0], nil
	}
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(known) {
		return known[n-1], nil
	}
	if k := keyOf(known, answer); k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("%w: the list has no %q: want a number from 1 to %d, or a name", errNotStored, answer, len(known))
}
