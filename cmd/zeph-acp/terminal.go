package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// widthOf returns a function for the width of a terminal, 0 if it is unknown.
func widthOf(f *os.File) func() int {
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return width
	}
}

// colours reports whether f is a terminal that accepts escape sequences.
func colours(f *os.File, getenv func(string) string) bool {
	return isTerminal(f) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// columns returns the width of the terminal on stdout.
func columns() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// screenWidth returns the width of the terminal on stdout; 0 if stdout is not a terminal.
func screenWidth() int {
	if !isTerminal(os.Stdout) {
		return 0
	}
	return columns()
}

// confirmed asks a person a question in the terminal and reports whether the answer is yes. If it
// is not, a line on stderr begins with refusal, such as "Nothing was written". Without a terminal
// it asks no one, and the line ends with hint.
func confirmed(cmd *cobra.Command, question, refusal, hint string) bool {
	if !isTerminal(os.Stdin) {
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
