package filter

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// segment gives the part of a script that its output is of: the last command
// that has one, the first of its pipeline, without redirections, variables and
// programs that only run another. mixed says that other commands may have
// written too. The segment is empty if there is none.
func segment(script string) (seg string, mixed bool) { return segmentOf(script, 0) }

// maxNest bounds scripts in scripts.
const maxNest = 4

func segmentOf(script string, depth int) (seg string, mixed bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil || depth > maxNest {
		return strings.Join(strings.Fields(script), " "), false
	}
	var all [][]string
	collect(file.Stmts, &all)
	last := -1
	for i, words := range all {
		if !silent(words) {
			if last >= 0 {
				mixed = true
			}
			if last < 0 || !comment(words) {
				last = i
			}
		}
	}
	if last < 0 {
		return "", false
	}
	words := unwrap(all[last])
	if inner, ok := shellText(words); ok {
		seg, more := segmentOf(inner, depth+1)
		return seg, mixed || more
	}
	return strings.Join(words, " "), mixed
}

// collect lists the simple commands of statements whose output is the script's.
func collect(stmts []*syntax.Stmt, all *[][]string) {
	for _, s := range stmts {
		switch c := s.Cmd.(type) {
		case *syntax.CallExpr:
			if words := wordsOf(c.Args); len(words) > 0 {
				*all = append(*all, words)
			}
		case *syntax.BinaryCmd:
			if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
				collect([]*syntax.Stmt{c.X}, all)
			} else {
				collect([]*syntax.Stmt{c.X, c.Y}, all)
			}
		case *syntax.Block:
			collect(c.Stmts, all)
		case *syntax.Subshell:
			collect(c.Stmts, all)
		case *syntax.TimeClause:
			if c.Stmt != nil {
				collect([]*syntax.Stmt{c.Stmt}, all)
			}
		case *syntax.IfClause:
			for i := c; i != nil; i = i.Else {
				collect(i.Cond, all)
				collect(i.Then, all)
			}
		case *syntax.ForClause:
			collect(c.Do, all)
		case *syntax.WhileClause:
			collect(c.Cond, all)
			collect(c.Do, all)
		}
	}
}

// wordsOf gives the words as the shell would see them, as far as they are
// literal; others as they are written.
func wordsOf(args []*syntax.Word) []string {
	var words []string
	for _, w := range args {
		words = append(words, wordOf(w))
	}
	return words
}

func wordOf(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, "\\", ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				if lit, ok := in.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
				} else {
					b.WriteString("$")
				}
			}
		default:
			b.WriteString("$")
		}
	}
	return b.String()
}

// silent reports whether a command writes nothing when all is well.
func silent(words []string) bool {
	switch program(words[0]) {
	case "cd", "pushd", "popd", "export", "unset", "set", "shopt", "source", ".", "mkdir", "rm", "touch", "cp", "mv", "ln", "chmod", "true", "false", ":", "exit", "return", "sleep", "wait", "trap", "local", "declare", "alias", "umask", "ulimit", "test", "[", "[[":
		return true
	}
	return false
}

// comment reports whether a command writes a word about another, so that the
// output is more the other's.
func comment(words []string) bool {
	switch program(words[0]) {
	case "echo", "printf", "date", "pwd", "tput", "clear":
		return true
	}
	return false
}

// program is the name of a program without its directory.
func program(word string) string { return path.Base(strings.ReplaceAll(word, "\\", "/")) }

// wrappers are the programs that run the one behind them: with the options that
// take a word of their own, and the number of words before the program.
var wrappers = map[string]struct {
	takes []string
	skip  int
	subs  []string // words of which one must follow
}{
	"env":      {takes: []string{"-u", "-C", "--unset", "--chdir"}},
	"time":     {takes: []string{"-f", "-o"}},
	"timeout":  {takes: []string{"-k", "-s", "--kill-after", "--signal"}, skip: 1},
	"nice":     {takes: []string{"-n"}},
	"ionice":   {takes: []string{"-c", "-n"}},
	"nohup":    {},
	"stdbuf":   {takes: []string{"-i", "-o", "-e"}},
	"command":  {},
	"exec":     {takes: []string{"-a"}},
	"unbuffer": {},
	"npx":      {takes: []string{"-p", "--package"}},
	"bunx":     {},
	"pnpx":     {},
	"uvx":      {takes: []string{"--from", "--with", "-p", "--python"}},
	"uv":       {subs: []string{"run"}, takes: []string{"--with", "--extra", "--group", "-p", "--python", "--directory", "--project"}},
	"poetry":   {subs: []string{"run"}},
	"pipenv":   {subs: []string{"run"}},
	"pdm":      {subs: []string{"run"}},
	"hatch":    {subs: []string{"run"}},
	"rye":      {subs: []string{"run"}},
	"bundle":   {subs: []string{"exec"}},
	"pnpm":     {subs: []string{"exec", "dlx"}},
	"yarn":     {subs: []string{"exec", "dlx"}},
	"npm":      {subs: []string{"exec", "x"}},
	"bun":      {subs: []string{"x"}},
	"python":   {subs: []string{"-m"}},
	"python3":  {subs: []string{"-m"}},
	"py":       {subs: []string{"-m"}},
}

// unwrap takes off what stands before the program that writes, and what stands
// between a program and its subcommand.
func unwrap(words []string) []string {
	words = slices.Clone(words)
	for len(words) > 0 {
		words[0] = program(words[0])
		name := words[0]
		if strings.HasPrefix(name, "python3.") {
			name = "python3"
		}
		w, ok := wrappers[name]
		if !ok {
			break
		}
		rest := words[1:]
		if w.subs != nil {
			if len(rest) == 0 || !slices.Contains(w.subs, rest[0]) {
				break
			}
			rest = rest[1:]
		}
		rest = afterOptions(rest, w.takes)
		for len(rest) > 0 && name == "env" && strings.Contains(rest[0], "=") {
			rest = rest[1:]
		}
		rest = rest[min(w.skip, len(rest)):]
		if len(rest) == 0 {
			break
		}
		words = rest
	}
	return subcommand(words)
}

// afterOptions cuts off leading options, those in takes with the next word.
func afterOptions(words, takes []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") && words[0] != "-" {
		n := 1
		if slices.Contains(takes, words[0]) {
			n = 2
		}
		stop := words[0] == "--"
		words = words[min(n, len(words)):]
		if stop {
			break
		}
	}
	return words
}

// globals are the options before a subcommand that take a word of their own.
var globals = map[string][]string{
	"git":       {"-C", "-c", "--git-dir", "--work-tree", "--namespace"},
	"go":        {"-C"},
	"cargo":     {"--color", "--config", "-Z", "-C"},
	"docker":    {"-H", "--host", "--context", "-c", "--config", "-l", "--log-level"},
	"kubectl":   {"-n", "--namespace", "--context", "--kubeconfig", "--cluster", "--user", "-s", "--server"},
	"terraform": {},
	"tofu":      {},
	"npm":       {"--prefix", "-C", "-w", "--workspace"},
	"pnpm":      {"-C", "--dir", "-F", "--filter"},
	"yarn":      {"--cwd"},
	"gh":        {"-R", "--repo"},
	"dotnet":    {},
}

// subcommand takes options out from between a program and its subcommand:
// "git -C x status" is a git status.
func subcommand(words []string) []string {
	if len(words) < 2 {
		return words
	}
	takes, ok := globals[words[0]]
	if !ok {
		return words
	}
	rest := words[1:]
	if words[0] == "cargo" && strings.HasPrefix(rest[0], "+") {
		rest = rest[1:]
	}
	rest = afterOptions(rest, takes)
	if len(rest) == 0 {
		return words
	}
	return append([]string{words[0]}, rest...)
}

// shellText gives the script that a shell is told to run.
func shellText(words []string) (string, bool) {
	if len(words) < 3 || !slices.Contains([]string{"bash", "sh", "zsh", "dash"}, words[0]) {
		return "", false
	}
	for i, w := range words[1 : len(words)-1] {
		if strings.HasPrefix(w, "-") && strings.HasSuffix(w, "c") {
			return words[i+2], true
		}
	}
	return "", false
}
