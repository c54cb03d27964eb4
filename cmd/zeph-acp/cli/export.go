package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/filter/redact"
)

// MaskFunc returns a function that masks credentials, by the user's patterns if there are
// some. Pages are passed on, so masking cannot be switched off for them.
func MaskFunc(scan *redact.Scanner) func(string) string {
	if scan == nil {
		scan = &redact.Scanner{}
	}
	return func(s string) string {
		masked, _ := scan.Visible(s)
		return masked
	}
}

// CheckNew returns the error of [WriteNew] for a file that has content, before a long work begins.
func CheckNew(file string) error {
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return notEmpty(file)
	}
	return nil
}

func notEmpty(file string) error {
	return fmt.Errorf("export: %s is not empty: name a new file, or delete that one first", file)
}

// WriteNew writes to stdout; or to a new file, and reports that on stderr.
func WriteNew(cmd *cobra.Command, file, name string, write func(io.Writer) error) error {
	if file == "" || file == "-" {
		return write(cmd.OutOrStdout())
	}
	if err := exportTo(file, write); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "Exported %s to %s.\n", name, OneLine(file))
	return err
}

// WriteExport writes a document as JSON.
func WriteExport(w io.Writer, doc any) error {
	if err := WriteJSON(w, doc); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}

// exportTo writes a file that only the user can read, since it contains file contents and
// command output. It does not overwrite a file with content. An empty file may
// have been readable by others, so its mode is changed.
func exportTo(file string, write func(io.Writer) error) error {
	w, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := w.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular(): // such as /dev/stdout
	case info.Size() > 0:
		err = notEmpty(file)
	default:
		err = w.Chmod(0o600)
	}
	if err == nil {
		err = write(w)
	}
	return errors.Join(err, w.Close())
}

// ErrNoSessions reports why sessions cannot be stored.
var ErrNoSessions = errors.New("sessions are not saved here: there is no home directory; set ZEPH_HOME")
