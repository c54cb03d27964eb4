package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/story"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/store"
)

func newExport(f *cli.Flags) *cobra.Command {
	var file string
	var asPage, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Write a stored session as a JSON document, a page or Markdown",
		Long: `Write a stored session.

The JSON document is complete: "sessions import" reads it, also on another machine.
--html writes a page that any browser shows without a network: the conversation, the
tool calls with their changes and outputs, who decided about them, tokens and costs.
--markdown writes the conversation and the calls as Markdown. In both, credentials are
masked, long texts shortened in the middle, and images left out.`,
		Example: `  zeph-acp sessions export 8f3a12c4 -o session.json
  zeph-acp sessions export --html 8f3a12c4 -o session.html`,
		Args: cli.NeedsOne("the id of a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asPage && asMarkdown {
				return cli.Usagef("want either --html or --markdown")
			}
			return withSessions(cmd, f, func(a *app.App, all []store.Session) error {
				s, err := Find(all, args[0])
				if err != nil {
					return err
				}
				var write func(io.Writer) error
				if asPage || asMarkdown {
					write, err = storyWriter(cmd, f, a, s.ID, asPage)
				} else {
					write, err = documentWriter(cmd, a, s.ID)
				}
				if err != nil {
					return err
				}
				return cli.WriteNew(cmd, file, sessionName(s), write)
			})
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to the new file `FILE` instead of stdout")
	cmd.Flags().BoolVar(&asPage, "html", false, "write a page for a browser")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "write Markdown")
	return cmd
}

// documentWriter returns the writer of a session's JSON document.
func documentWriter(cmd *cobra.Command, a *app.App, id string) (func(io.Writer) error, error) {
	doc, err := a.Sessions().Export(cmd.Context(), id)
	return func(w io.Writer) error { return cli.WriteExport(w, doc) }, err
}

// storyWriter returns the writer of a session's page, or of its Markdown document.
func storyWriter(cmd *cobra.Command, f *cli.Flags, a *app.App, id string, asPage bool) (func(io.Writer) error, error) {
	s, events, lost, err := a.Sessions().StoredWithTimes(cmd.Context(), id)
	if err != nil {
		return nil, err
	}
	if len(lost) > 0 {
		cli.Warnf(cmd, "%s", cli.OneLine(session.Unreadable(lost)))
	}
	src := story.Source{Session: s, Events: events, Mask: cli.MaskFunc(a.Scanner(s.CWD))}
	src.Session.Created, src.Session.Updated = s.Created.Local(), s.Updated.Local()
	for i := range events {
		events[i].Time = events[i].Time.Local()
	}
	if src.Calls, err = callsOf(f, id); err != nil {
		cli.Warnf(cmd, "without the decisions of the audit log: %s", cli.OneLine(err.Error()))
	}
	view := story.New(src)
	if asPage {
		return func(w io.Writer) error { return view.HTML(w, "zeph-acp "+app.Version) }, nil
	}
	return view.Markdown, nil
}

// callsOf returns the lines of the audit log of a session.
func callsOf(f *cli.Flags, id string) (calls []audit.Entry, err error) {
	l := audit.New(config.FindPaths(f.Getenv).State, audit.Config{Enabled: true}, nil)
	if l == nil {
		return nil, nil
	}
	err = l.Read(func(line audit.Line) error {
		if line.Err == nil && line.Entry.Session == id {
			calls = append(calls, line.Entry)
		}
		return nil
	})
	return calls, err
}

func newImport(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "import FILE",
		Short:   "Import an exported session; - reads it from stdin",
		Example: "  zeph-acp sessions import session.json",
		Args:    cli.NeedsOne("a file, or -"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithApp(cmd, f, func(_ *config.Loaded, a *app.App) error { return importSession(cmd, a, args[0]) })
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
		return cli.ErrNoSessions
	}
	id, err := a.Sessions().Import(cmd.Context(), doc)
	if err != nil {
		return fmt.Errorf("import %s: %w", file, err)
	}
	name := sessionName(store.Session{ID: id, Title: doc.Title})
	text := fmt.Sprintf("Imported %s.\n", name)
	if doc.ID != "" && id != doc.ID {
		text = fmt.Sprintf("Imported %s under a new id: a session %s exists already.\n", name, cli.OneLine(doc.ID))
	}
	_, err = io.WriteString(cmd.OutOrStdout(), text)
	return err
}

// maxExport limits an exported session, in bytes.
const maxExport = 1 << 29

// readExport reads an exported session from a file, or from stdin for "-".
func readExport(file string) (doc session.Export, err error) {
	var data []byte
	if file == "-" {
		file = "stdin"
		if cli.IsTerminal(os.Stdin) {
			fmt.Fprintln(os.Stderr, "zeph-acp: paste the exported document, then Ctrl-D")
		}
		data, err = cli.ReadAtMost(os.Stdin, file, maxExport)
	} else {
		data, err = cli.ReadBounded(file, maxExport)
	}
	if err != nil {
		return doc, err
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) { // from ">" of PowerShell 5
		return doc, fmt.Errorf("%s is in UTF-16, not UTF-8: export the session with -o FILE", file)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // as some editors of Windows begin a file
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil { // events are stored byte by byte
		return doc, fmt.Errorf("%s is not JSON: %w", file, err)
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		return doc, fmt.Errorf("%s is not an exported session: %w", file, executors.PlainJSONError(err))
	}
	return doc, nil
}
