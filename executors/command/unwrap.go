package command

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
)

// maxWraps limits programs that run one another. For each, all words are compared.
const maxWraps = 16

// withoutWrappers removes programs that only run another one, and the options between a
// program and its subcommand.
func withoutWrappers(words []string) []string {
	words = slices.Clone(words)
	for range maxWraps {
		words[0] = baseName(words[0])
		if inner := innerCommand(words); inner != nil {
			words = inner
			continue
		}
		name := gnuName(words[0])
		if strings.HasPrefix(name, "python3.") {
			name = "python3"
		}
		how, ok := wrapperOf(name)
		if _, script := innerScript(words); !ok || how.OwnOutput || script || how.OutputOnly && how.Script != "" {
			break
		}
		rest, ok := how.afterSubcommand(words[1:])
		if !ok {
			break
		}
		if rest = how.commandTexts(rest); len(rest) == 0 {
			break
		}
		words = rest
	}
	return withoutGlobalOptions(words)
}

// afterSubcommand returns the arguments after the subcommand of a wrapper that runs
// others. ok is false if the subcommand does something else.
func (how wrapper) afterSubcommand(args []string) (rest []string, ok bool) {
	if how.Subs == "" {
		if rest := how.optionsBefore(args, how.OptionalSubs); len(rest) > 0 && programs.Has(how.OptionalSubs, rest[0]) {
			return rest[1:], true
		}
		return args, true
	}
	if rest := how.optionsBefore(args, how.Subs); len(rest) > 0 && programs.Has(how.Subs, rest[0]) {
		return rest[1:], true
	}
	i := slices.IndexFunc(args, func(w string) bool { return !strings.HasPrefix(w, "-") })
	if how.Bins && i >= 0 && slices.Contains(nodeBins, args[i]) {
		return args[i:], true
	}
	return nil, false
}

// optionsBefore returns the arguments from the first subcommand on, which may look like an option, or from the
// first word that is no option.
func (how wrapper) optionsBefore(args []string, subs string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && !programs.Has(subs, args[0]) {
		n := 1
		switch a := args[0]; {
		case strings.HasPrefix(a, "--"):
			if programs.Has(how.Long, a) {
				n = 2
			}
		case len(a) == 2 && strings.Contains(how.Valued, a[1:]):
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	return args
}

// nodeBins are programs of packages that yarn, pnpm and bun run by their plain name.
// Names that are usual for scripts of a project are not among them.
var nodeBins = []string{
	"ava", "biome", "c8", "concurrently", "cross-env", "cypress", "esbuild", "eslint", "jest", "karma", "knip", "lerna", "markdownlint",
	"mocha", "next", "nuxi", "nuxt", "nx", "nyc", "oxlint", "playwright", "prettier", "rollup", "stylelint", "svelte-check", "tap", "tsc", "tsup",
	"turbo", "vite", "vitest", "vue-tsc", "webpack",
}

// commandTexts returns the command in the arguments of a wrapper.
func (how wrapper) commandTexts(args []string) []string {
	operands := how.Operands
	how.Operands = 0
	n := len(args) - len(how.commandWords(New(args, nil, nil).Words))
	args = args[n:]
	for how.Assigns && len(args) > 0 && strings.Contains(args[0], "=") {
		args = args[1:]
	}
	args = args[min(operands, len(args)):]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	return args
}

// innerCommand returns the command that another one runs in a container or on files
// that it found, or nil.
func innerCommand(words []string) []string {
	for i, w := range words {
		rest := words[i+1:]
		if words[0] == "nix" && (w == "-c" || w == "--command") {
			return nonEmpty(rest)
		}
		if i == 0 || w != "exec" && w != "run" && !strings.HasPrefix(w, "-exec") {
			continue
		}
		switch {
		case w == "run" && isContainerTool(words[0]):
			if rest = containerRun.commandTexts(rest); len(rest) > 1 {
				return rest[1:]
			}
			return nil
		case words[0] == "find" && (w == "-exec" || w == "-execdir"):
			return nonEmpty(rest)
		case w != "exec":
		case words[0] == "kubectl" || words[0] == "oc":
			if dashes := slices.Index(rest, "--"); dashes >= 0 {
				return nonEmpty(rest[dashes+1:])
			}
		case isContainerTool(words[0]):
			rest = wrapper{Valued: "euw", Long: "--env --user --workdir --env-file --index"}.commandTexts(rest)
			if len(rest) > 1 {
				return rest[1:]
			}
		}
	}
	return nil
}

// containerRun has the options of docker run and docker compose run.
var containerRun = wrapper{
	Valued: "aceghlmpuvw",
	Long: "--add-host --cap-add --cap-drop --cpus --device --dns --entrypoint --env --env-file --gpus --hostname --ipc --label --link --log-driver --memory " +
		"--mount --name --net --network --pid --platform --publish --pull --restart --security-opt --shm-size --tmpfs --ulimit --user --volume --workdir",
}

func isContainerTool(program string) bool { return programs.Of(program).Output.Container }

func nonEmpty(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	return words
}

// withoutGlobalOptions removes the options between a program and its subcommand:
// "git -C x status" becomes "git status".
func withoutGlobalOptions(words []string) []string {
	if len(words) < 2 {
		return words
	}
	facts := programs.Of(words[0])
	valued := cmp.Or(facts.Global, facts.GlobalForOutput)
	if valued == nil {
		return words
	}
	rest := afterOptions(New(words[1:], nil, nil).Words, *valued)
	if len(rest) == 0 {
		return words
	}
	return append([]string{words[0]}, words[len(words)-len(rest):]...)
}

// innerScript returns the script that a shell runs, here or on another machine.
func innerScript(words []string) (string, bool) {
	if len(words) < 2 {
		return "", false
	}
	switch words[0] {
	case "eval":
		return strings.Join(words[1:], " "), true
	case "ssh":
		rest := wrapper{Valued: "iploFJLRDbcEemOSWwBI"}.commandTexts(words[1:])
		if len(rest) > 1 {
			return strings.Join(rest[1:], " "), true
		}
		return "", false
	}
	how, _ := wrapperOf(words[0])
	for o := range strings.FieldsSeq(how.Script) {
		if strings.HasPrefix(o, "--") {
			for i, w := range words[1 : len(words)-1] {
				if w == o {
					return words[i+2], true
				}
			}
		}
	}
	if !IsShell(words[0]) && words[0] != "su" && how.Script == "" {
		return "", false
	}
	for i, w := range words[1 : len(words)-1] {
		if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c") {
			return words[i+2], true
		}
	}
	return "", false
}
