package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// WidthOf returns a function for the width of a terminal, 0 if it is unknown.
func WidthOf(f *os.File) func() int {
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return width
	}
}

// Styled reports whether f is a terminal that accepts escape sequences.
func Styled(f *os.File, getenv func(string) string) bool {
	return IsTerminal(f) && getenv("TERM") != "dumb"
}

// Colours reports whether f is a terminal that accepts escape sequences, and its user wants
// colours: https://no-color.org
func Colours(f *os.File, getenv func(string) string) bool {
	return Styled(f, getenv) && getenv("NO_COLOR") == ""
}

// Screen returns a screen for turns on f, a terminal or a file, to which w writes.
func Screen(w io.Writer, f *os.File, getenv func(string) string) *headless.Screen {
	s := headless.NewScreen(w, Styled(f, getenv))
	s.Colourless = !Colours(f, getenv)
	if s.Full = !IsTerminal(f); !s.Full {
		s.Columns = WidthOf(f)
	}
	return s
}

// Columns returns the width of the terminal on stdout.
func Columns() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// ScreenWidth returns the width of the terminal on stdout; 0 if stdout is not a terminal.
func ScreenWidth() int {
	if !IsTerminal(os.Stdout) {
		return 0
	}
	return Columns()
}

// Confirm asks a person a question in the terminal and reports whether the answer is yes. If it
// is not, a line on stderr begins with refusal, such as "Nothing was written". Without a terminal
// it asks no one, and the line ends with hint.
func Confirm(cmd *cobra.Command, question, refusal, hint string) bool {
	if !IsTerminal(os.Stdin) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s.\n", refusal, hint)
		return false
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n') // no answer is a no
	answer = strings.TrimSpace(answer)
	yes := strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
	if !yes {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s.\n", refusal)
	}
	return yes
}
