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
	var all []call
	collect(file.Stmts, &all)
	last := -1
	for i, c := range all {
		if c.quiet || silent(c.words) {
			continue
		}
		if last >= 0 {
			mixed = true
		}
		if last < 0 || !comment(c.words) {
			last = i
		}
	}
	if last < 0 { // one whose output goes to a file may still tell of an error
		last = slices.IndexFunc(all, func(c call) bool { return c.quiet && !silent(c.words) })
	}
	if last < 0 {
		return "", false
	}
	words := unwrap(all[last].words)
	if inner, ok := shellText(words); ok {
		seg, more := segmentOf(inner, depth+1)
		return seg, mixed || more
	}
	return strings.Join(words, " "), mixed
}

// call is a simple command of a script.
type call struct {
	words []string
	quiet bool // what it writes goes elsewhere
}

// collect lists the simple commands of statements whose output is the script's.
func collect(stmts []*syntax.Stmt, all *[]call) {
	for _, s := range stmts {
		from := len(*all)
		switch c := s.Cmd.(type) {
		case *syntax.CallExpr:
			if words := wordsOf(c.Args); len(words) > 0 {
				*all = append(*all, call{words: words})
			}
		case *syntax.BinaryCmd:
			if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
				collectPipe(c, all)
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
		case *syntax.CaseClause:
			for _, item := range c.Items {
				collect(item.Stmts, all)
			}
		}
		if redirected(s.Redirs) {
			for i := range (*all)[from:] {
				(*all)[from+i].quiet = true
			}
		}
	}
}

// collectPipe lists the command that the output of a pipeline is of: the first,
// since what follows mostly cuts it; the second where the first only feeds it.
func collectPipe(c *syntax.BinaryCmd, all *[]call) {
	var left, right []call
	collect([]*syntax.Stmt{c.X}, &left)
	collect([]*syntax.Stmt{c.Y}, &right)
	switch {
	case len(right) > 0 && program(right[0].words[0]) == "xargs":
		words := afterOptions(right[0].words[1:], []string{"-n", "-P", "-I", "-L", "-d", "-E", "-s", "-a", "--max-args", "--max-procs", "--replace", "--delimiter", "--arg-file"})
		if len(words) > 0 {
			*all = append(*all, call{words, right[0].quiet})
			return
		}
	case len(left) == 1 && len(right) > 0 && feeds(left[0].words):
		*all = append(*all, right...)
		return
	}
	for _, l := range left {
		l.quiet = l.quiet || len(right) == 1 && right[0].quiet && program(right[0].words[0]) != "tee"
		*all = append(*all, l)
	}
}

// feeds reports whether a command at the begin of a pipeline is only the input of
// the next one.
func feeds(words []string) bool {
	switch program(words[0]) {
	case "echo", "printf", "yes", ":", "true":
		return true
	}
	return false
}

// redirected reports whether standard output goes to a file.
func redirected(redirs []*syntax.Redirect) bool {
	for _, r := range redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		default:
			continue
		}
		if r.N != nil && r.N.Value != "1" {
			continue
		}
		switch wordOf(r.Word) {
		case "/dev/stdout", "/dev/stderr", "/dev/tty":
		default:
			return true
		}
	}
	return false
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
	case "cd", "pushd", "popd", "export", "unset", "set", "shopt", "source", ".", "mkdir", "rm", "touch", "cp", "mv", "ln", "chmod", "true", "false", ":", "exit", "return", "sleep", "wait", "trap", "local", "declare", "alias", "umask", "ulimit", "test", "[", "[[", "kill", "pkill", "killall", "chown", "read", "shift", "disown", "readonly", "typeset", "let", "hash", "stty", "sync", "truncate", "mkfifo", "rmdir", "deactivate":
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
	sets  bool     // it takes variables first
}{
	"env":        {takes: []string{"-u", "-C", "--unset", "--chdir"}, sets: true},
	"time":       {takes: []string{"-f", "-o"}},
	"timeout":    {takes: []string{"-k", "-s", "--kill-after", "--signal"}, skip: 1},
	"nice":       {takes: []string{"-n"}},
	"ionice":     {takes: []string{"-c", "-n"}},
	"nohup":      {},
	"sudo":       {takes: []string{"-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "-T", "-D", "-R", "--user", "--group", "--chdir"}, sets: true},
	"doas":       {takes: []string{"-u", "-C"}},
	"setsid":     {},
	"chronic":    {},
	"caffeinate": {takes: []string{"-t", "-w"}},
	"chroot":     {takes: []string{"--userspec", "--groups"}, skip: 1},
	"aws-vault":  {subs: []string{"exec"}, skip: 1},
	"op":         {subs: []string{"run"}},
	"doppler":    {subs: []string{"run"}},
	"taskset":    {skip: 1},
	"flock":      {takes: []string{"-w", "-E", "--wait", "--timeout"}, skip: 1},
	"xvfb-run":   {takes: []string{"-s", "-n", "-e", "-f", "-p", "-w", "--server-args"}},
	"winpty":     {},
	"cross-env":  {sets: true},
	"dotenv":     {takes: []string{"-e", "-f", "-c", "-v"}},
	"watch":      {takes: []string{"-n", "--interval"}},
	"conda":      {subs: []string{"run"}, takes: []string{"-n", "-p", "--name", "--prefix"}},
	"mamba":      {subs: []string{"run"}, takes: []string{"-n", "-p", "--name", "--prefix"}},
	"micromamba": {subs: []string{"run"}, takes: []string{"-n", "-p", "--name", "--prefix"}},
	"mise":       {subs: []string{"exec", "x"}},
	"asdf":       {subs: []string{"exec"}},
	"rbenv":      {subs: []string{"exec"}},
	"pipx":       {subs: []string{"run"}},
	"pixi":       {subs: []string{"run"}, takes: []string{"-e", "--environment"}},
	"direnv":     {subs: []string{"exec"}, skip: 1},
	"stdbuf":     {takes: []string{"-i", "-o", "-e"}},
	"command":    {},
	"exec":       {takes: []string{"-a"}},
	"unbuffer":   {},
	"npx":        {takes: []string{"-p", "--package"}},
	"bunx":       {},
	"pnpx":       {},
	"uvx":        {takes: []string{"--from", "--with", "-p", "--python"}},
	"uv":         {subs: []string{"run"}, takes: []string{"--with", "--extra", "--group", "-p", "--python", "--directory", "--project"}},
	"poetry":     {subs: []string{"run"}},
	"pipenv":     {subs: []string{"run"}},
	"pdm":        {subs: []string{"run"}},
	"hatch":      {subs: []string{"run"}},
	"rye":        {subs: []string{"run"}},
	"bundle":     {subs: []string{"exec"}},
	"pnpm":       {subs: []string{"exec", "dlx"}},
	"yarn":       {subs: []string{"exec", "dlx"}},
	"npm":        {subs: []string{"exec", "x"}},
	"bun":        {subs: []string{"x"}},
	"python":     {subs: []string{"-m"}},
	"python3":    {subs: []string{"-m"}},
	"py":         {subs: []string{"-m"}},
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
		if inner := contained(words); inner != nil {
			words = inner
			continue
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
		for len(rest) > 0 && w.sets && strings.Contains(rest[0], "=") {
			rest = rest[1:]
		}
		rest = rest[min(w.skip, len(rest)):]
		if len(rest) > 0 && rest[0] == "--" {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			break
		}
		words = rest
	}
	return subcommand(words)
}

// contained gives the command that another runs in a container, on another machine
// or on what it found; nil if there is none.
func contained(words []string) []string {
	for i, w := range words {
		rest := words[i+1:]
		if words[0] == "nix" && (w == "-c" || w == "--command") {
			return nonEmpty(rest)
		}
		if i == 0 || w != "exec" && !strings.HasPrefix(w, "-exec") {
			continue
		}
		switch {
		case words[0] == "find" && (w == "-exec" || w == "-execdir"):
			return nonEmpty(rest)
		case w != "exec":
		case words[0] == "kubectl" || words[0] == "oc":
			if dashes := slices.Index(rest, "--"); dashes >= 0 {
				return nonEmpty(rest[dashes+1:])
			}
		case words[0] == "docker" || words[0] == "podman" || words[0] == "docker-compose" || words[0] == "nerdctl":
			rest = afterOptions(rest, []string{"-e", "--env", "-u", "--user", "-w", "--workdir", "--env-file", "--index"})
			if len(rest) > 1 {
				return rest[1:]
			}
		}
	}
	return nil
}

func nonEmpty(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	return words
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
	"oc":        {"-n", "--namespace", "--context", "--kubeconfig"},
	"helm":      {"-n", "--namespace", "--kube-context", "--kubeconfig"},
	"podman":    {"-c", "--connection", "--url", "--log-level"},
	"apt":       {"-o", "-t", "-c"},
	"apt-get":   {"-o", "-t", "-c"},
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

// shellText gives the script that a shell is told to run, here or elsewhere.
func shellText(words []string) (string, bool) {
	if len(words) < 2 {
		return "", false
	}
	switch words[0] {
	case "eval":
		return strings.Join(words[1:], " "), true
	case "ssh":
		rest := afterOptions(words[1:], []string{"-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-e", "-m", "-O", "-S", "-W", "-w", "-B", "-I"})
		if len(rest) > 1 {
			return strings.Join(rest[1:], " "), true
		}
		return "", false
	case "bash", "sh", "zsh", "dash", "ash", "ksh", "fish", "su", "script":
	default:
		return "", false
	}
	for i, w := range words[1 : len(words)-1] {
		if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c") {
			return words[i+2], true
		}
	}
	return "", false
}
