package command

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// GitSafeEnv are variables, as NAME=value, for every command: git then neither
// starts the file system monitor that a repository names nor writes its index
// when it only looks. The rest of what a repository's configuration can make
// git run has no such switch; package policy looks into that configuration.
func GitSafeEnv() []string {
	return []string{
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false",
		"GIT_OPTIONAL_LOCKS=0",
	}
}

// rule tells when a program only reads.
type rule struct {
	refused []string // options that make it do more: "-o", "--output"; a short one also inside of a bundle
	// allowed, if not nil, are the only options: anything else is refused.
	allowed  []string
	operands int  // at most so many; -1 means any number
	text     bool // operands may be computed: they are only printed or compared
	check    func(args []Word) bool
}

var anything = rule{operands: -1}

// readOnly are programs that only read, whatever the files are.
var readOnly = map[string]rule{
	":": {operands: -1, text: true}, "[": {operands: -1, text: true}, "arch": anything, "b2sum": anything, "base64": anything, "basename": {operands: -1, text: true},
	"cat": anything, "cksum": anything, "cmp": anything, "column": anything, "comm": anything, "cut": anything,
	"date": {refused: []string{"-s", "--set"}, operands: 1, check: dateReads}, "df": anything, "diff": {operands: -1}, "dirname": {operands: -1, text: true},
	"du": anything, "echo": {operands: -1, text: true}, "egrep": anything, "expr": {operands: -1, text: true}, "false": anything, "fgrep": anything,
	"fd": {refused: []string{"-x", "-X", "--exec", "--exec-batch"}, operands: -1}, "fdfind": {refused: []string{"-x", "-X", "--exec", "--exec-batch"}, operands: -1},
	"file": {refused: []string{"-C", "--compile", "-z", "-Z", "-S"}, operands: -1}, "fmt": anything, "fold": anything,
	"find": {refused: findRefused, operands: -1, check: noPrefix(findRefused)}, "getconf": anything, "grep": anything, "groups": anything, "head": anything,
	"hexdump": anything, "hostname": {allowed: []string{"-f", "-s", "-i", "-I"}}, "id": anything, "jq": {refused: []string{"-L"}, operands: -1, check: noEnv},
	"ls": anything, "md5sum": anything, "nl": anything, "nproc": anything, "od": anything, "paste": anything, "printf": {refused: []string{"-v"}, operands: -1, text: true},
	"ps": {operands: -1, check: psReads}, "pwd": anything, "readlink": anything, "realpath": anything, "rev": anything,
	"rg":  {refused: []string{"--pre", "--hostname-bin", "-z", "--search-zip"}, operands: -1},
	"sed": {allowed: []string{"-n", "-E", "-r", "--quiet", "--silent", "--regexp-extended"}, operands: -1, check: sedPrints},
	"seq": anything, "sha1sum": anything, "sha224sum": anything, "sha256sum": anything, "sha384sum": anything, "sha512sum": anything, "sleep": anything,
	"sort": {refused: []string{"-o", "--output", "--compress-program", "-T", "--temporary-directory"}, operands: -1}, "stat": anything, "strings": anything, "sum": anything,
	"tac": anything, "tail": anything, "test": {operands: -1, text: true}, "tr": anything, "tree": {refused: []string{"-o"}, operands: -1}, "true": anything, "tty": anything,
	"type": anything, "uname": anything, "uniq": {operands: 1}, "uptime": anything, "wc": anything, "which": anything, "whoami": anything, "cd": {operands: 1},
	"xxd": {refused: []string{"-r", "-revert"}, operands: 1}, "command": {check: commandTells, operands: -1}, "exit": {operands: 1, text: true}, "return": {operands: 1, text: true}, "set": {allowed: []string{"-e", "-u", "-x", "-eu", "-ex", "-eux", "-o", "-euo", "-euxo"}, operands: 1, check: setPlain},
}

var findRefused = []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}

// versions are programs that may tell their version, and nothing else, unasked.
var versions = []string{
	"bash", "bun", "cargo", "clang", "cmake", "cc", "deno", "docker", "dotnet", "g++", "gcc", "git", "go", "gofmt", "gradle", "java", "javac", "julia",
	"kotlinc", "kubectl", "lua", "make", "mvn", "ninja", "node", "npm", "npx", "perl", "php", "pip", "pip3", "pnpm", "podman", "python", "python3",
	"ruby", "rustc", "rustfmt", "rustup", "sbt", "sqlite3", "swift", "terraform", "tsc", "uv", "yarn", "zig", "zsh",
}

// gitReads are the git subcommands that only read. The subcommand must come
// first: options before it choose another repository or configuration.
var gitReads = map[string]rule{
	"blame": anything, "cat-file": {refused: []string{"--textconv", "--filters"}, operands: -1}, "check-ignore": anything, "cherry": anything,
	"count-objects": anything, "describe": anything, "diff": anything, "diff-tree": anything, "for-each-ref": anything, "log": anything, "ls-files": anything, "ls-tree": anything,
	"merge-base": anything, "name-rev": anything, "rev-list": anything, "rev-parse": anything, "shortlog": anything, "show": anything, "show-ref": anything, "status": anything, "version": anything,
	"branch": {allowed: []string{"-a", "-r", "-v", "-vv", "--list", "--all", "--remotes", "--verbose", "--show-current", "--no-color"}},
	"tag":    {allowed: []string{"-l", "--list", "-n"}, operands: 0}, "remote": {allowed: []string{"-v", "--verbose"}},
	"stash": {operands: -1, check: firstIs("list", "show")}, "worktree": {operands: 1, check: firstIs("list")}, "reflog": {operands: -1, check: firstIs("show")},
	"config": {allowed: []string{"--get", "--list", "-l", "--get-all", "--show-origin", "--name-only"}, operands: 1, check: hasOption},
}

// gitRefused are options of them that write a file or run a program.
var gitRefused = []string{
	"--ext-diff", "--textconv", "--output", "-o", "--open-files-in-pager", "-O", "--upload-pack", "--contents", "--show-signature",
}

// goReads are the go subcommands that only read.
var goReads = map[string]rule{
	"version": {refused: []string{"-m"}, operands: 1}, "env": {refused: []string{"-w", "-u"}, operands: -1}, "help": anything, "doc": {refused: []string{"-http"}, operands: -1},
}

// ReadOnly reports whether the command only looks: it is in the table, none of
// its options is one that does more, and nothing in it is computed that could
// name a file. What it looks at is not judged here.
func (c *Command) ReadOnly() bool {
	if len(c.Assigns) > 0 || !trusted(c.Words[0]) {
		return false
	}
	p, args := c.Program(), c.Args()
	switch {
	case slices.Contains(versions, p) && len(args) == 1 && slices.Contains([]string{"--version", "-V", "-version"}, args[0].Text):
		return true
	case p == "git":
		return len(args) > 0 && subcommand(gitReads, args) && !refuses(gitRefused, args)
	case p == "go":
		return len(args) > 0 && subcommand(goReads, args)
	}
	r, ok := readOnly[p]
	return ok && r.accepts(args)
}

// trusted reports whether the program is found through PATH or where systems
// keep their own: "./ls" is not ls.
func trusted(program Word) bool {
	if !program.Literal || program.Glob {
		return false
	}
	dir := filepath.Dir(program.Text)
	return !strings.ContainsAny(program.Text, `/\`) || slices.Contains([]string{"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/go/bin"}, dir)
}

func subcommand(table map[string]rule, args []Word) bool {
	if !args[0].Literal {
		return false
	}
	r, ok := table[args[0].Text]
	return ok && r.accepts(args[1:])
}

func (r rule) accepts(args []Word) bool {
	n := len(operands(args))
	for _, a := range args {
		if !a.Literal && !r.text {
			return false
		}
		if r.allowed != nil && strings.HasPrefix(a.Text, "-") && !slices.Contains(r.allowed, a.Text) {
			return false
		}
	}
	return (r.operands < 0 || n <= r.operands) && !refuses(r.refused, args) && (r.check == nil || r.check(args))
}

// refuses reports whether one of the options is among args: alone, with a value
// glued to it, abbreviated, or in a bundle of short ones.
func refuses(options []string, args []Word) bool {
	for _, a := range args {
		if a.Text == "--" {
			return false
		}
		if !strings.HasPrefix(a.Text, "-") || a.Text == "-" {
			continue
		}
		name, _, _ := strings.Cut(a.Text, "=")
		for _, o := range options {
			long := strings.HasPrefix(o, "--")
			switch {
			case name == o,
				long && strings.HasPrefix(name, "--") && len(name) > 3 && strings.HasPrefix(o, name),
				!long && len(o) == 2 && !strings.HasPrefix(name, "--") && strings.IndexByte(name, o[1]) > 0:
				return true
			}
		}
	}
	return false
}

func noPrefix(options []string) func([]Word) bool {
	return func(args []Word) bool {
		return !slices.ContainsFunc(args, func(a Word) bool { return slices.Contains(options, a.Text) })
	}
}

func firstIs(names ...string) func([]Word) bool {
	return func(args []Word) bool { return len(args) > 0 && slices.Contains(names, args[0].Text) }
}

func hasOption(args []Word) bool { return len(operands(args)) < len(args) }

// dateReads refuses the operand that sets the clock.
func dateReads(args []Word) bool {
	for _, a := range operands(args) {
		if !strings.HasPrefix(a.Text, "+") {
			return false
		}
	}
	return true
}

// psReads refuses the options that show environments, which hold secrets.
func psReads(args []Word) bool {
	return !slices.ContainsFunc(args, func(a Word) bool { return !strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "e") })
}

// noEnv refuses jq programs that read the environment.
func noEnv(args []Word) bool {
	return !slices.ContainsFunc(args, func(a Word) bool { return strings.Contains(a.Text, "env") || strings.Contains(a.Text, "$ENV") })
}

// commandTells accepts "command -v name" alone.
func commandTells(args []Word) bool {
	return len(args) == 2 && (args[0].Text == "-v" || args[0].Text == "-V")
}

func setPlain(args []Word) bool {
	rest := operands(args)
	return len(rest) == 0 || len(rest) == 1 && slices.Contains([]string{"pipefail", "errexit", "nounset"}, rest[0].Text)
}

// plainSed is a script of sed that only prints lines: "5p", "1,20p", "/x/,/y/p",
// "$p", "5q".
var plainSed = regexp.MustCompile(`^(\d+|\$|/[^/\n]*/)(,(\d+|\$|\+\d+|/[^/\n]*/))?\s*[pq=]$`)

func sedPrints(args []Word) bool {
	rest := operands(args)
	if len(rest) == 0 || !slices.ContainsFunc(args, func(a Word) bool { return a.Text == "-n" || a.Text == "--quiet" || a.Text == "--silent" }) {
		return false
	}
	for part := range strings.SplitSeq(rest[0].Text, ";") {
		if !plainSed.MatchString(strings.TrimSpace(part)) {
			return false
		}
	}
	return true
}
