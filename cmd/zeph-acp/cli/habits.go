package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// habits maps flags of other agents to our flags that do the same. An empty value means that the prompt needs no flag.
var habits = map[string]string{
	"allow-all-tools":              "--yes",
	"approve-all":                  "--yes",
	"auto-approve":                 "--yes",
	"dangerously-skip-permissions": "--yes",
	"force":                        "--yes",
	"full-auto":                    "--yes",
	"yolo":                         "--yes",
	"append-system-prompt":         "--system-append TEXT",
	"approval-mode":                "--mode MODE",
	"permission-mode":              "--mode MODE",
	"add-directory":                "--add-dir DIR",
	"include-directories":          "--add-dir DIR",
	"cd":                           "--cwd DIR",
	"workdir":                      "--cwd DIR",
	"file":                         "--attach FILE",
	"image":                        "--attach FILE",
	"max-turns":                    "--max-rounds N",
	"output-format":                "--json",
	"prompt":                       "",
	"session":                      "--resume ID",
	"session-id":                   "--resume ID",
}

// commandHabits maps commands of other agents to the commands of zeph-acp that do the same.
var commandHabits = map[string]string{
	"agent": "run", "ask": "run", "exec": "run", "print": "run", "prompt": "run", "auth": "login", "resume": "chat --resume ID",
}

// withFlag returns the command line with a flag: of the command if it has the flag, else of run.
func withFlag(cmd *cobra.Command, flag string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), " ")
	path := cmd.CommandPath()
	if cmd.Flags().Lookup(name) == nil {
		path = cmd.Root().Name() + " run"
	}
	return strings.TrimSpace(path + " " + flag)
}

// ListSessions is the value of --resume without the id of a session.
const ListSessions = "?"

// Completed returns a command line with what people leave out: the command run before the -p of other agents, and the
// value of a --resume without one.
func Completed(args []string) []string {
	var all []string
	if len(args) > 0 && (args[0] == "-p" || args[0] == "--print") {
		all = append(all, "run")
	}
	for i, arg := range args {
		if arg == "--" {
			return append(all, args[i:]...)
		}
		if arg == "--resume" && (i+1 == len(args) || strings.HasPrefix(args[i+1], "-")) {
			arg += "=" + ListSessions
		}
		all = append(all, arg)
	}
	return all
}
