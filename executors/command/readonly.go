package command

import "github.com/zeph-acp/zeph-acp/executors/command/plain"

// GitSafeEnv are variables, as NAME=value, for every command. With them git does not
// start the file system monitor that a repository names, and commands that only read do
// not write the index. No variable disables the other programs that a repository's
// configuration can make git run, so package permission checks that configuration.
func GitSafeEnv() []string {
	return []string{
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=diff.ignoreSubmodules", "GIT_CONFIG_VALUE_1=dirty", // a submodule may have its own settings
		"GIT_CONFIG_KEY_2=status.submoduleSummary", "GIT_CONFIG_VALUE_2=false", // likewise: "git status" would run git there
		"GIT_OPTIONAL_LOCKS=0",
	}
}

// ReadOnly reports whether the table of package plain lists the command. It ignores
// the files that the command names and the variables that are set for it. Only
// [plain.Parse] decides about a whole script.
func (c *Command) ReadOnly() bool {
	words := make([]plain.Word, len(c.Words))
	for i, w := range c.Words {
		switch {
		case w.number && w.Text == "$?":
			words[i] = plain.ExitCode()
		case !w.Literal:
			words[i] = plain.Computed(w.Text)
		case w.Glob:
			words[i] = plain.Pattern(w.Text)
		default:
			words[i] = plain.Literal(w.Text)
		}
	}
	return plain.ReadOnly(words)
}
