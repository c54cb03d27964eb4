package filter

import (
	"slices"
	"strings"
)

// matchingRules returns the rules for a command.
func (f *Filter) matchingRules(command string) (rules []rule) {
	if command == "" || asksForHelp(command) || asksForDetails(command) {
		return nil
	}
	asked := asksForInformation(command)
	for _, r := range f.allRules() {
		if r.match.matches(command) && (!asked || informs[r.strategyType]) {
			rules = append(rules, r)
		}
	}
	return rules
}

// asksForHelp reports whether a command prints its help instead of doing its work.
func asksForHelp(command string) bool {
	words := strings.Fields(command)
	last := words[len(words)-1]
	return last == "--help" || last == "-help" || len(words) > 1 && words[1] == "help"
}

// describing are the subcommands of programs that print what they know about something.
var describing = [...]string{
	"branch", "config", "describe", "env", "info", "inspect", "list", "metadata", "outdated", "query", "remote", "search", "show",
	"status", "tree", "version", "view",
}

// asksForDetails reports whether a command asks for all details of what it describes: "-vv" of a
// subcommand that does no work, the details of a program's version, or a log at the level for debugging.
func asksForDetails(command string) bool {
	words := strings.Fields(command)
	verbose, describes := 0, false
	for i, w := range words[1:] {
		switch {
		case w == "-v", w == "--verbose":
			verbose++
		case len(w) > 2 && w[0] == '-' && strings.Trim(w[1:], "v") == "":
			verbose += len(w) - 1
		case strings.HasPrefix(w, "--loglevel"): // of npm and pnpm
			level := strings.TrimPrefix(w, "--loglevel=")
			if level == w {
				level = words[min(i+2, len(words)-1)]
			}
			if level == "verbose" || level == "silly" || level == "debug" {
				return true
			}
		case w == "--version", i < 3 && slices.Contains(describing[:], w):
			describes = true
		}
	}
	return verbose > 1 && describes
}

// informationOptions ask a program what it has or would do, instead of its work.
var informationOptions = [...]string{
	"--collect-only", "--co", "--dry-run", "--dryrun", "--fixtures", "--fixtures-per-test", "--help", "--just-print",
	"--list", "--list-tests", "--list-test-cases", "--listTests", "--list-tags", "--list-tasks", "--list-hosts", "--markers",
	"--print-config", "--show-config", "--show-only", "--showConfig", "--simulate",
}

// informs are the types of strategies for programs whose work is lists and tables, so that such an
// option changes nothing.
var informs = map[string]bool{"listing": true, "table": true, "git_status": true, "json": true}

// asksForInformation reports whether a command asks for information and does no work: the names of tests,
// or what a build would do.
func asksForInformation(command string) bool {
	words := strings.Fields(command)
	if strings.HasPrefix(command, "go test ") && slices.Contains(words, "-list") {
		return true
	}
	return slices.ContainsFunc(words[1:], func(w string) bool {
		option, value, _ := strings.Cut(w, "=")
		return slices.Contains(informationOptions[:], option) && value != "none" && value != "false"
	})
}
