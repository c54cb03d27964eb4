package shell

import (
	"cmp"
	"fmt"
	"os"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// steeringPrefixes are prefixes of variables that make programs run or read more than a
// command names. Read-only commands do not inherit them.
var steeringPrefixes = []string{
	"BASH_ENV", "BASH_FUNC_", "BASHOPTS", "CDPATH", "ENV", "GLOBIGNORE", "PS4", "SHELLOPTS",
	"GIT_ALTERNATE_", "GIT_ASKPASS", "GIT_ATTR_", "GIT_COMMON_DIR", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_PARAMETERS",
	"GIT_CONFIG_VALUE_", "GIT_DIFF_", "GIT_DIR", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_INDEX_FILE", "GIT_NAMESPACE",
	"GIT_OBJECT_DIRECTORY", "GIT_PROXY_COMMAND", "GIT_SSH", "GIT_TRACE", "GIT_WORK_TREE",
	"GOTMPDIR", "GREP_OPTIONS", "LESSCLOSE", "LESSOPEN", "POSIXLY_CORRECT", "RIPGREP_CONFIG_PATH",
	"LUA_INIT", "NODE_OPTIONS", "NODE_PATH", "PERL5LIB", "PERL5OPT", "PHPRC", "PHP_INI_SCAN_DIR", "PYTHON", "RUBYLIB", "RUBYOPT", // often the project itself
}

// gitReadOnlySettings are git settings that override the repository's, so that a reading
// command starts no other program and changes nothing.
var gitReadOnlySettings = [][2]string{
	{"core.fsmonitor", "false"},
	{"core.hooksPath", os.DevNull},
	{"core.pager", "cat"},
	{"core.editor", "true"},
	{"core.untrackedCache", "false"},
	{"diff.ignoreSubmodules", "dirty"}, // a submodule may have its own settings
	{"log.showSignature", "false"},     // which runs gpg.program
	{"safe.bareRepository", "explicit"},
	{"status.submoduleSummary", "false"},
	{"submodule.recurse", "false"},
}

// checkedLocale matches the locales in which programs parse a script as the check did.
// In GBK or Big5 a byte of a character may be a backslash or "|", so sed could parse
// other commands.
var checkedLocale = lazyregexp.New(`(?i)^(C|POSIX|.*\.utf-?8(@.*)?)?$`)

// readOnlyEnv returns variables for a read-only command, as NAME=value. They keep
// its programs from writing, from downloading, and from starting programs that a
// repository names. They come after the variables of Quiet.
func readOnlyEnv() []string {
	env := []string{
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", // a partial clone would fetch missing objects
		"GOPROXY=off",
		"CARGO_NET_OFFLINE=true",
		"MISE_OFFLINE=1", "MISE_AUTO_INSTALL=0", "PROTO_OFFLINE=1", "PROTO_AUTO_INSTALL=0", // version managers
		"PYTHONDONTWRITEBYTECODE=1",
		"PIP_NO_CACHE_DIR=1", "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"npm_config_offline=true", "npm_config_update_notifier=false", "npm_config_logs_max=0", "npm_config_timing=false",
		"npm_config_cache=" + os.DevNull, "npm_config_logs_dir=" + os.DevNull, // "npm --version" creates those that .npmrc names
		"GIT_CONFIG_COUNT=" + strconv.Itoa(len(gitReadOnlySettings)),
	}
	if locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")); !checkedLocale.MatchString(locale) {
		env = append(env, "LC_ALL=C")
	}
	for i, setting := range gitReadOnlySettings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, setting[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, setting[1]))
	}
	return env
}
