package policy

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/lazyregexp"
)

// harmlessVariables change how a program prints or builds, not which program
// runs.
var harmlessVariables = []string{
	"CGO_ENABLED", "CI", "COLUMNS", "DEBUG", "FORCE_COLOR", "GOARCH", "GOOS", "LANG", "LC_ALL", "LC_CTYPE", "LINES", "NODE_ENV", "NO_COLOR", "PORT",
	"RUST_BACKTRACE", "RUST_LOG", "TERM", "TZ", "VERBOSE",
}

// plainVariables reports whether setting the variables does not change which
// program runs. Lower-case names are the script's own.
func plainVariables(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool {
		own := n == strings.ToLower(n) && !strings.HasSuffix(n, "_proxy")
		return !own && !slices.Contains(harmlessVariables, n)
	})
}

// steeringVariables matches variables that change which code or files a shell or a
// read-only program uses.
var steeringVariables = lazyregexp.New(`(?i)^(_?java|bash|clicolor|dyld|fd|gcc|gconv|git|glibc|gnu|go|gpg|grep|jdk|jq|ld|less|locale?|lsof|malloc|` +
	`node|npm|perl|python|ripgrep|ruby|shell|ssh|term(info|cap)|tree|tz|xdg)|` +
	`(command|config|dir|editor|env|file|flags|home|options|opts|pager|path|prefix|proxy|root|rc|shell|wrapper)$|preload|` +
	`^(ifs|globignore|hostaliases|nlspath|ps[0-4]|oldpwd|pwd|res_options|visual|execignore|posixly_correct|optind|hist.*)$`)

// steers reports whether one of the variables matches steeringVariables.
func steers(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return steeringVariables.MatchString(n) && !plainVariables([]string{n}) })
}
