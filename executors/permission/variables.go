package permission

import (
	"os"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// plainVariables reports whether the variables that are set for a command, and those that the
// script sets, change neither which program runs nor what it does. Only declared variables may be
// set for a command. A variable of the script reaches no program, unless it is exported, or the
// environment has it already.
func plainVariables(c *command.Command, s *command.Script) bool {
	return !slices.ContainsFunc(c.Assigns, func(n string) bool { return !command.HarmlessVariable(n) }) &&
		!slices.ContainsFunc(s.Assigns, func(n string) bool { return !command.HarmlessVariable(n) && (s.ExportsAll || !isOwn(n, s.Exports)) })
}

// isOwn reports whether a variable is the script's own.
func isOwn(name string, exported []string) bool {
	if name != strings.ToLower(name) || strings.HasSuffix(name, "_proxy") || strings.HasPrefix(name, "npm_") || slices.Contains(exported, name) {
		return false
	}
	_, inherited := os.LookupEnv(name)
	return !inherited
}

// steeringVariables matches variables that change which code or files a shell or a
// read-only program uses.
var steeringVariables = lazyregexp.New(`(?i)^(_?java|bash|clicolor|dyld|fd|gcc|gconv|git|glibc|gnu|go|gpg|grep|jdk|jq|ld|less|locale?|lsof|malloc|` +
	`node|npm|perl|python|ripgrep|ruby|shell|ssh|term(info|cap)|tree|tz|xdg)|` +
	`(command|config|dir|editor|env|file|flags|home|options|opts|pager|path|prefix|proxy|root|rc|shell|wrapper)$|preload|` +
	`^(ifs|globignore|hostaliases|nlspath|ps[0-4]|oldpwd|pwd|res_options|visual|execignore|posixly_correct|optind|hist.*)$`)

// steers reports whether one of the variables that a command gets matches steeringVariables.
func steers(c *command.Command, s *command.Script) bool {
	steering := func(n string) bool { return steeringVariables.MatchString(n) && !command.HarmlessVariable(n) }
	return slices.ContainsFunc(c.Assigns, steering) ||
		slices.ContainsFunc(s.Assigns, func(n string) bool { return steering(n) && (s.ExportsAll || !isOwn(n, s.Exports)) })
}
