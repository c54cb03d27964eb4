package policy

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// harmlessVariables are those that change how a program prints or builds, not
// what is run.
var harmlessVariables = []string{
	"CGO_ENABLED", "CI", "COLUMNS", "DEBUG", "FORCE_COLOR", "GOARCH", "GOOS", "LANG", "LC_ALL", "LC_CTYPE", "LINES", "NODE_ENV", "NO_COLOR", "PORT",
	"RUST_BACKTRACE", "RUST_LOG", "TERM", "TZ", "VERBOSE",
}

// plainVariables reports whether setting the variables leaves what is run as it
// is. Names in lower case are the script's own.
func plainVariables(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool {
		own := n == strings.ToLower(n) && !strings.HasSuffix(n, "_proxy")
		return !own && !slices.Contains(harmlessVariables, n)
	})
}

// steering are variables that change what a shell or a program that only reads
// would run, load or look at.
var steering = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(_?java|bash|clicolor|dyld|fd|gcc|gconv|git|glibc|gnu|go|gpg|grep|jdk|jq|ld|less|locale?|lsof|malloc|node|npm|perl|python|ripgrep|ruby|shell|ssh|term(info|cap)|tree|tz|xdg)|` +
		`(command|config|dir|editor|env|file|flags|home|options|opts|pager|path|prefix|proxy|root|rc|shell|wrapper)$|preload|` +
		`^(ifs|globignore|hostaliases|nlspath|ps[0-4]|oldpwd|pwd|res_options|visual|execignore|posixly_correct|optind|hist.*)$`)
})

// steers reports whether one of the variables is such a one.
func steers(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return steering().MatchString(n) && !plainVariables([]string{n}) })
}
