package permissions

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
)

// answersOf returns the file of remembered answers, and a function that reports whether
// an answer belongs to the selected projects. It needs no configuration, which may contain
// mistakes.
func answersOf(f *cli.Flags, in cli.ProjectFlags) (*answers.Store, func(answers.Entry) bool, error) {
	dir := config.FindPaths(f.Getenv).Config
	if dir == "" {
		return nil, nil, errors.New("no answer is remembered here: there is no home directory; set ZEPH_HOME")
	}
	store := &answers.Store{File: filepath.Join(dir, answers.FileName), Read: keys.ReadPrivate, Edit: keys.EditFile}
	if in.AllProjects {
		return store, func(answers.Entry) bool { return true }, nil
	}
	roots, err := in.Roots()
	if err != nil {
		return nil, nil, err
	}
	return store, func(e answers.Entry) bool { return e.Project == roots.Cwd() }, nil
}

func newList(f *cli.Flags) *cobra.Command {
	var in cli.ProjectFlags
	asJSON := false
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the remembered answers of a project",
		Example: "  zeph-acp permissions list",
		Long: `List the remembered answers of a project: allow or reject, the extent (a command, exactly
one text, hosts, pages or a tool), its text, and the place in permissions.toml.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listAnswers(cmd, f, in, asJSON) },
	}
	in.Register(cmd, "the answers for")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// listedAnswer is a remembered answer as JSON.
type listedAnswer struct {
	Project string `json:"project"`
	Answer  string `json:"answer"`
	Kind    string `json:"kind"`
	Covers  string `json:"covers"`
	At      string `json:"at"` // FILE:LINE
}

// listAnswers prints the remembered answers of a project, or of all.
func listAnswers(cmd *cobra.Command, f *cli.Flags, in cli.ProjectFlags, asJSON bool) error {
	store, wants, err := answersOf(f, in)
	if err != nil {
		return err
	}
	entries, err := store.Entries()
	if err != nil {
		return err
	}
	list := []listedAnswer{}
	for _, e := range entries {
		if wants(e) {
			list = append(list, listedAnswer{e.Project, answerName(e), string(e.Kind), e.Covers, fmt.Sprintf("%s:%d", store.File, e.Line)})
		}
	}
	out := cmd.OutOrStdout()
	if asJSON {
		return cli.WriteJSON(out, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "No answers are remembered.")
	}
	var rows [][]string
	for _, e := range list {
		row := []string{e.Answer, e.Kind, cli.OneLine(e.Covers), toml.Printable(e.At)}
		if in.AllProjects {
			row = append(row, cli.OneLine(e.Project))
		}
		rows = append(rows, row)
	}
	return cli.WriteRows(out, rows, cli.ScreenWidth())
}

// answerName returns the answer by its name in the file.
func answerName(e answers.Entry) string {
	if e.Answer == executors.Deny {
		return "reject"
	}
	return "allow"
}

func newForget(f *cli.Flags) *cobra.Command {
	var in cli.ProjectFlags
	all := false
	cmd := &cobra.Command{
		Use:     "forget TEXT... | --all",
		Short:   "Remove remembered answers of a project",
		Example: "  zeph-acp permissions forget 'go test'",
		Long: `Remove remembered answers of a project. Name them as "permissions list" prints them. The
next such call asks you again, also in open sessions.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return cli.Usagef("name the answers as \"permissions list\" prints them, or use --all")
			}
			return forgetAnswers(cmd, f, in, args)
		},
	}
	in.Register(cmd, "the answers for")
	cmd.Flags().BoolVar(&all, "all", false, "remove all answers of the project")
	return cmd
}

// forgetAnswers removes the answers with the given texts, or all answers if texts is empty.
func forgetAnswers(cmd *cobra.Command, f *cli.Flags, in cli.ProjectFlags, texts []string) error {
	store, wants, err := answersOf(f, in)
	if err != nil {
		return err
	}
	removed, err := store.Forget(func(e answers.Entry) bool {
		return wants(e) && (len(texts) == 0 || slices.Contains(texts, e.Covers))
	})
	if err != nil {
		return err
	}
	if len(texts)+len(removed) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "No answers are remembered.")
	}
	for _, e := range removed {
		fmt.Fprintf(cmd.OutOrStdout(), "Forgot %s %s %s\n", answerName(e), e.Kind, cli.OneLine(e.Covers))
	}
	for _, text := range texts {
		if !slices.ContainsFunc(removed, func(e answers.Entry) bool { return e.Covers == text }) {
			return fmt.Errorf("there is no answer for %q: \"zeph-acp permissions list\" lists them", text)
		}
	}
	return nil
}
