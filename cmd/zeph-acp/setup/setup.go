// Package setup is the command "zeph-acp setup", which connects an editor with zeph-acp.
package setup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/editors"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
)

// flags are the command-line flags of setup.
type flags struct {
	name, command, file string
	yes                 bool
}

// NewCommand returns the command setup.
func NewCommand(f *cli.Flags) *cobra.Command {
	s := &flags{}
	cmd := &cobra.Command{
		Use:   "setup [EDITOR]",
		Short: "Connect an editor to zeph-acp",
		Long: `Show the change to the editor's settings that lets it start zeph-acp, and write it after
a yes. Comments and all other settings stay, and the old file is kept as FILE.bak. For
Neovim and Emacs the code to add is printed. Without an EDITOR the editors are listed.

EDITOR is zed, jetbrains, vscode, neovim or emacs.

  zeph-acp setup
  zeph-acp setup zed
  zeph-acp setup vscode --yes
  zeph-acp setup neovim >zeph.lua

Without a terminal nothing is written, unless --yes is set.`,
		Args: cli.AtMostOne("one editor"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listEditors(cmd, editorPlaces(f))
			}
			return s.setup(cmd, editorPlaces(f), args[0])
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&s.name, "name", editors.DefaultName, "show the agent as `NAME` in the editor")
	fs.StringVar(&s.command, "command", "", "let the editor start `PATH`; default: this program")
	fs.StringVar(&s.file, "file", "", "change the settings in `FILE` instead of the editor's usual file")
	fs.BoolVar(&s.yes, "yes", false, "write without asking")
	return cmd
}

func editorPlaces(f *cli.Flags) editors.Places {
	return editors.Places{System: runtime.GOOS, Home: config.HomeDir(f.Getenv), Getenv: f.Getenv}
}

func listEditors(cmd *cobra.Command, p editors.Places) error {
	var b strings.Builder
	for _, e := range editors.All() {
		fmt.Fprintf(&b, "%-9s  %s: %s\n", e.Name, e.Title, editorState(e, p))
	}
	if _, err := io.WriteString(cmd.OutOrStdout(), b.String()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(cmd.ErrOrStderr(), `"zeph-acp setup zed" shows what connects Zed; the other names work in the same way.`)
	return err
}

// editorState describes whether an editor starts zeph-acp, as far as its settings show.
func editorState(e editors.Editor, p editors.Places) string {
	file := cli.OneLine(e.File(p))
	command, err := e.Connected(p)
	switch {
	case err != nil:
		return "its settings cannot be read: " + err.Error()
	case command != "":
		return fmt.Sprintf("starts %s (%s)", cli.OneLine(command), file)
	case !e.Installed(p):
		return "not found here"
	}
	return "found, not connected (" + file + ")"
}

// setup connects one editor: it changes the settings file, or prints the code to add.
func (s *flags) setup(cmd *cobra.Command, p editors.Places, name string) error {
	all := editors.All()
	i := slices.IndexFunc(all, func(e editors.Editor) bool { return e.Name == strings.ToLower(name) })
	if i < 0 {
		return cli.Usagef("unknown editor %q: want %s", name, editorNames())
	}
	e := all[i]
	for _, flag := range []string{"name", "file"} {
		if !e.HasFile() && cmd.Flags().Changed(flag) {
			return cli.Usagef("--%s has no effect for %s: its code is printed, for you to add", flag, e.Title)
		}
	}
	command, err := s.program()
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(command); err != nil {
		cli.Warnf(cmd, "there is no program %s here", cli.OneLine(command))
	}
	if e.Needs != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: this needs %s.\n", e.Title, e.Needs)
	}
	if !e.HasFile() {
		fmt.Fprintf(cmd.ErrOrStderr(), "Add this to your configuration in %s:\n\n", cli.OneLine(e.File(p)))
		if _, err := io.WriteString(cmd.OutOrStdout(), e.Snippet(command)); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.ErrOrStderr(), "\nThen %s.\n", e.Start)
		return err
	}
	file := s.file
	if file == "" {
		file = e.File(p)
	} else if err := cli.NeedDirectory("--file", file); err != nil {
		return err
	}
	if file == "" {
		return errors.New("no home directory: name the file with --file")
	}
	change, err := e.Change(file, editors.Entry{Name: s.name, Command: command})
	if err != nil {
		return err
	}
	return s.apply(cmd, e, change)
}

// apply shows a change, and writes it if the user wants that.
func (s *flags) apply(cmd *cobra.Command, e editors.Editor, change editors.Change) error {
	out := cmd.OutOrStdout()
	if change.Empty() {
		_, err := fmt.Fprintf(out, "%s: nothing to do, since zeph-acp is already in it\n", cli.OneLine(change.File))
		return err
	}
	shown, _ := new(redact.Scanner).Mask(change.Diff()) // settings may hold keys
	if _, err := io.WriteString(out, headless.Visible(shown)); err != nil {
		return err
	}
	if !s.yes && !cli.Confirm(cmd, "Write it?", "Nothing was written", "--yes writes it") {
		return nil
	}
	backup, err := change.Apply()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("Wrote %s.\n", cli.OneLine(change.File))
	if backup != "" {
		text = fmt.Sprintf("Wrote %s. The previous version is in %s.\n", cli.OneLine(change.File), cli.OneLine(backup))
	}
	if _, err = io.WriteString(out, text); err == nil {
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "Now %s.\n", e.Start)
	}
	return err
}

func editorNames() string {
	var names []string
	for _, e := range editors.All() {
		names = append(names, e.Name)
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// program returns the program that the editor is to start. A path in the current directory
// becomes absolute, since the editor has another one.
func (s *flags) program() (string, error) {
	switch {
	case s.command == "":
		return thisCommand()
	case filepath.Base(s.command) == s.command: // in PATH
		return s.command, nil
	}
	return filepath.Abs(s.command)
}

// thisCommand returns the path of this program: the one in PATH if that is the same, since
// it survives an update. Editors that a desktop started may have another PATH.
func thisCommand() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("%w: name the program with --command", err)
	}
	if found, err := exec.LookPath("zeph-acp"); err == nil && pathname.Same(found, self) {
		if abs, err := filepath.Abs(found); err == nil {
			return abs, nil
		}
	}
	if strings.Contains(filepath.ToSlash(self), "/go-build") {
		return "", errors.New(`"go run" deletes this program when it ends: install it first, or name a program with --command`)
	}
	return self, nil
}
