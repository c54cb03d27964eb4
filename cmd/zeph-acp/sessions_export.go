package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/store"
)

func newSessionsExport(f *flags) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Print a stored session as a JSON document",
		Args:  needsOne("the id of a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withSessions(cmd, f, func(a *app.App, all []store.Session) error {
				s, err := findSession(all, args[0])
				if err != nil {
					return err
				}
				doc, err := a.Sessions().Export(cmd.Context(), s.ID)
				if err != nil {
					return err
				}
				if file == "" || file == "-" {
					return writeExport(cmd.OutOrStdout(), doc)
				}
				if err := exportTo(file, doc); err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.ErrOrStderr(), "Exported %s to %s.\n", sessionName(s), oneLine(file))
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to the new file `FILE` instead of stdout")
	return cmd
}

func writeExport(w io.Writer, doc any) error {
	enc := json.NewEncoder(jsonOutput{w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}

// exportTo writes a file that only the user can read, since it contains what
// tools have read. It does not overwrite a file with content. An empty file may
// have been readable by others, so its mode is changed.
func exportTo(file string, doc any) error {
	w, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := w.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular(): // such as /dev/stdout
	case info.Size() > 0:
		err = fmt.Errorf("export: %s is not empty: name a new file, or delete that one first", file)
	default:
		err = w.Chmod(0o600)
	}
	if err == nil {
		err = writeExport(w, doc)
	}
	return errors.Join(err, w.Close())
}

func newSessionsImport(f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Import an exported session; - reads it from stdin",
		Args:  needsOne("a file, or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd, f, func(_ *config.Loaded, a *app.App) error { return importSession(cmd, a, args[0]) })
		},
	}
}

// importSession stores a session under its original id, unless a session with that
// id exists.
func importSession(cmd *cobra.Command, a *app.App, file string) error {
	doc, err := readExport(file)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if a.Store == nil {
		return errNoSessions
	}
	id, err := a.Sessions().Import(cmd.Context(), doc)
	if err != nil {
		return fmt.Errorf("import %s: %w", file, err)
	}
	text := fmt.Sprintf("Imported %s.\n", sessionName(store.Session{ID: id, Title: doc.Title}))
	if doc.ID != "" && id != doc.ID {
		text = fmt.Sprintf("Imported %s under a new id: a session %s exists already.\n", sessionName(store.Session{ID: id, Title: doc.Title}), oneLine(doc.ID))
	}
	_, err = io.WriteString(cmd.OutOrStdout(), text)
	return err
}

func readExport(file string) (doc session.Export, err error) {
	var data []byte
	if file == "-" {
		if isTerminal(os.Stdin) {
			fmt.Fprintln(os.Stderr, "zeph-acp: paste the exported document, then Ctrl-D")
		}
		data, err = io.ReadAll(os.Stdin)
	} else {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return doc, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil { // events are stored byte by byte
		return doc, fmt.Errorf("%s is not JSON: %w", file, err)
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		return doc, fmt.Errorf("%s is not an exported session: %w", file, err)
	}
	return doc, nil
}
