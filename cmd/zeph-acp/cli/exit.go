package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// Exit statuses.
const (
	ExitFailure = 1
	ExitUsage   = 2
)

// ExitError is an error with an exit status of its own. Without a cause nothing is
// printed, since the command has already printed its result.
type ExitError struct {
	Code  int
	Cause error
}

func (e *ExitError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Cause.Error()
}

func (e *ExitError) Unwrap() error { return e.Cause }

// Usagef returns an error about the command line, with a hint.
func Usagef(format string, args ...any) error {
	return &ExitError{ExitUsage, fmt.Errorf(format, args...)}
}

// PrintError prints err and returns the exit status.
func PrintError(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	code := ExitCode(err)
	if e, ok := errors.AsType[*ExitError](err); ok && e.Cause == nil {
		return code
	}
	// A provider's message must not control the terminal either.
	fmt.Fprintf(stderr, "zeph-acp: %s\n", headless.Visible(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " ")))
	return code
}

// ExitCode returns the exit status for a failure.
func ExitCode(err error) int {
	if e, ok := errors.AsType[*ExitError](err); ok {
		return e.Code
	}
	return ExitFailure
}
