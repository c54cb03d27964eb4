package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
)

func newImport(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "import [FILE]",
		Short:   "Add the servers of another client's JSON file",
		Example: "  zeph-acp mcp import .mcp.json",
		Long: `Add the servers of a JSON file that has mcpServers or servers, such as .mcp.json or
.vscode/mcp.json. Without a FILE, your own files of Claude Code, Claude Desktop, Cursor and
VS Code are read, and their names printed. A file of a repository must be named, since its
entries start programs. Servers whose name is taken are left out.`,
		Args: cli.AtMostOne("one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return importServers(cmd, f, args[0])
			}
			var wrong error
			found := false
			for _, file := range clientFiles(f.Getenv, runtime.GOOS) {
				if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
					continue
				}
				found = true
				fmt.Fprintf(cmd.OutOrStdout(), "Reading %s\n", file)
				if err := importServers(cmd, f, file); err != nil {
					wrong = errors.Join(wrong, err)
				}
			}
			if !found {
				return errors.New("no file of Claude, Cursor or VS Code was found: name one")
			}
			return wrong
		},
	}
}

// clientFiles returns the files in which other clients keep the user's servers on an
// operating system.
func clientFiles(getenv func(string) string, system string) []string {
	home := config.HomeDir(getenv)
	if home == "" {
		return nil
	}
	settings := filepath.Join(home, ".config")
	switch {
	case system == "darwin":
		settings = filepath.Join(home, "Library", "Application Support")
	case system == "windows":
		settings = filepath.Join(home, "AppData", "Roaming")
	case filepath.IsAbs(getenv("XDG_CONFIG_HOME")):
		settings = getenv("XDG_CONFIG_HOME")
	}
	return []string{
		filepath.Join(home, ".claude.json"),
		filepath.Join(settings, "Claude", "claude_desktop_config.json"),
		filepath.Join(home, ".cursor", "mcp.json"),
		filepath.Join(settings, "Code", "User", "mcp.json"),
	}
}

// importServers adds the servers of a file to the configuration. Entries that cannot be
// added are errors; the others are added anyway.
func importServers(cmd *cobra.Command, f *cli.Flags, name string) error {
	data, err := cli.ReadBounded(name, keys.MaxBytes)
	if err != nil {
		return err
	}
	servers, wrong := mcp.ParseFile(data)
	for _, s := range servers {
		if _, err := config.AddServer(f.FileOptions(), s); err != nil {
			wrong = errors.Join(wrong, err)
			continue
		}
		fmt.Fprintf(cmd.OutOrStdout(), "Added %s: %s\n", s.Name, s.Target())
	}
	if wrong != nil {
		return fmt.Errorf("%s: %w", cli.OneLine(name), wrong)
	}
	return nil
}
