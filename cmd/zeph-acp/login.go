package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

func newLogin(f *flags) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Store the key of a provider",
		Long: `Ask for a provider and its key, and store the key for you alone. A running agent uses it
from its next session or prompt on. Without a terminal the key is read from stdin:

  zeph-acp login
  pass anthropic | zeph-acp login --provider claude`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return login(cmd, f, name) },
	}
	cmd.Flags().StringVar(&name, "provider", "", "store the key of the provider `NAME`: claude, openai, gemini, or the name of one in the configuration")
	return cmd
}

// withLogin adds "login" to serve. An editor may append it to a command line
// that contains "serve": ACP's terminal authentication starts an agent that
// way.
func withLogin(serve *cobra.Command, f *flags) *cobra.Command {
	cmd := newLogin(f)
	cmd.Hidden = true
	serve.AddCommand(cmd)
	return serve
}

// errNotStored reports that login ended without storing a key.
var errNotStored = errors.New("no key was stored")

// login asks for a key and stores it.
func login(cmd *cobra.Command, f *flags, name string) error {
	l, err := f.load(cmd)
	if err != nil {
		return err
	}
	printWarnings(cmd, l.Warnings)
	choices := choicesOf(provider.Keys(l.Config.LLM))
	if len(choices) == 0 {
		return errors.New("no provider of this configuration needs a key")
	}
	stored := l.Keys()
	if err := stored.Err(); err != nil { // before the user types a key
		return fmt.Errorf("%w: repair or remove the file first", err)
	}
	var chosen *choice
	if name != "" {
		if chosen, err = findChoice(choices, name); err != nil {
			return err
		}
	}
	chosen, key, err := askKey(cmd.ErrOrStderr(), choices, chosen)
	if err != nil {
		return err
	}
	if err := stored.Save(chosen.env, key); err != nil {
		return fmt.Errorf("%w: %w", errNotStored, err)
	}
	return printStored(cmd.OutOrStdout(), stored, chosen, l.Getenv(chosen.env) != "")
}

// askKey reads the key, and the choice of a provider if none was named, from the
// terminal on stdin, or from stdin itself. A signal ends it and restores the
// terminal.
func askKey(out io.Writer, choices []*choice, chosen *choice) (*choice, string, error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	read := asker(fromStdin)
	if isTerminal(os.Stdin) {
		var restore func() error
		var err error
		if read, restore, err = onTerminal(out); err != nil {
			return nil, "", err
		}
		defer restore()
	}
	type answer struct {
		chosen *choice
		key    string
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		chosen, key, err := read(choices, chosen)
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
func printStored(out io.Writer, stored *keys.Keys, c *choice, inEnv bool) error {
	text := fmt.Sprintf("Stored the key of %s in %s. A running agent sees it at the next prompt.\n", c, stored.File())
	if inEnv {
		text += fmt.Sprintf("%s is set in this environment: where it is set, it takes precedence over the stored key.\n", c.env)
	}
	_, err := io.WriteString(out, text)
	return err
}

// choice is a key that can be stored. It may serve several providers.
type choice struct {
	env       string
	providers []string
}

func (c *choice) String() string { return strings.Join(c.providers, ", ") }

// choicesOf groups keys by their variable.
func choicesOf(known []provider.Key) []*choice {
	var choices []*choice
	for _, k := range known {
		i := slices.IndexFunc(choices, func(c *choice) bool { return c.env == k.Env })
		if i < 0 {
			i = len(choices)
			choices = append(choices, &choice{env: k.Env})
		}
		choices[i].providers = append(choices[i].providers, k.Provider)
	}
	return choices
}

// findChoice returns the choice for a provider.
func findChoice(choices []*choice, name string) (*choice, error) {
	for _, c := range choices {
		if slices.Contains(c.providers, name) {
			return c, nil
		}
	}
	return nil, usageError("--provider: no provider %q that needs a key: want one of %s", name, choiceNames(choices))
}

func choiceNames(choices []*choice) string {
	var all []string
	for _, c := range choices {
		all = append(all, c.providers...)
	}
	return strings.Join(all, ", ")
}

// asker reads the key, and the choice if that is nil.
type asker func(choices []*choice, chosen *choice) (*choice, string, error)

// fromStdin reads all of stdin as the key.
func fromStdin(choices []*choice, chosen *choice) (*choice, string, error) {
	switch {
	case chosen != nil:
	case len(choices) == 1:
		chosen = choices[0]
	default:
		return nil, "", usageError("stdin is not a terminal: name one of %s with --provider", choiceNames(choices))
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
	read = func(choices []*choice, chosen *choice) (*choice, string, error) {
		chosen, key, err := askOnTerminal(t, choices, chosen)
		if errors.Is(err, io.EOF) { // Ctrl-C or Ctrl-D
			// Not through t, which would print the typed text again.
			io.WriteString(out, "\r\n")
			err = errNotStored
		}
		return chosen, key, err
	}
	return read, func() error { return term.Restore(fd, before) }, nil
}

// askOnTerminal asks for a provider, unless it is chosen, and for its key.
func askOnTerminal(t *term.Terminal, choices []*choice, chosen *choice) (*choice, string, error) {
	switch {
	case chosen != nil:
	case len(choices) == 1:
		chosen = choices[0]
	default:
		fmt.Fprintln(t, "Whose key?")
		for i, c := range choices {
			fmt.Fprintf(t, "%3d  %s (%s)\n", i+1, c, c.env)
		}
		t.SetPrompt("Number [1]: ")
		answer, err := t.ReadLine()
		if err != nil {
			return nil, "", fmt.Errorf("read the answer: %w", err)
		}
		if chosen, err = choiceByAnswer(choices, answer); err != nil {
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

// choiceByAnswer returns the choice for an answer, which is a number or a provider; an
// empty answer selects the first choice.
func choiceByAnswer(choices []*choice, answer string) (*choice, error) {
	answer = strings.TrimSpace(answer)
	if answer == "" {
		return choices[0], nil
	}
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(choices) {
		return choices[n-1], nil
	}
	for _, c := range choices {
		if slices.Contains(c.providers, answer) {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: %q is not a number from 1 to %d", errNotStored, answer, len(choices))
}
