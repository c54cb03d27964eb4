package command

// rule tells when a program only reads.
type rule struct {
	refused  string // options that make it do more: "-o --output"; a short one also inside of a bundle
	reaches  string // options that make it read more than was named: a file that is called like one does no harm
	allowed  string // if not empty, the only options: anything else is refused
	operands int    // at most so many; -1 means any number
	text     bool   // operands may be computed: they are only printed or compared
	check    func(args []Word) bool
}

var (
	anything = rule{operands: -1}
	texts    = rule{operands: -1, text: true}
	nothing  = rule{}
)

// readOnly are programs that only read, whatever the files are: neither GNU's
// nor a BSD's version writes, runs a program, shows the environment or uses the
// network with the options that are left.
var readOnly = map[string]rule{
	":": texts, "[": {operands: -1, text: true, check: testReads}, "arch": nothing, "b2sum": anything, "base64": {refused: "-o --output", operands: -1}, "basename": texts, "break": nothing,
	"cat": anything, "cd": {operands: 1, check: noCdPath}, "cksum": anything, "cmp": anything, "column": anything, "comm": anything, "command": {check: commandTells, operands: -1}, "continue": nothing, "cut": anything,
	"date": {refused: "-s --set -f --file -n -t", operands: -1, check: dateReads}, "declare": declares, "df": anything, "diff": {refused: "-l --paginate", reaches: "-r --recursive", operands: -1}, "dirname": texts,
	"du": {operands: -1, reaches: "-L -D -H --dereference --dereference-args --files0-from"}, "echo": texts, "egrep": {operands: -1, reaches: "-R --dereference-recursive"}, "exit": {operands: 1, text: true}, "export": declares, "expr": texts, "false": texts, "fgrep": {operands: -1, reaches: "-R --dereference-recursive"},
	"fd": {refused: "-x -X --exec --exec-batch -l --list-details -L --follow", operands: -1}, "fdfind": {refused: "-x -X --exec --exec-batch -l --list-details -L --follow", operands: -1},
	"file": {refused: "-C --compile -z -Z -S --uncompress --uncompress-noreport --no-sandbox", operands: -1},
	"find": {refused: "-L -H -follow -files0-from -exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls", operands: -1}, "fmt": anything, "fold": anything, "getconf": anything, "grep": {operands: -1, reaches: "-R --dereference-recursive"}, "groups": anything, "head": anything,
	"hexdump": anything, "hostname": {allowed: "-f -s -i -I"}, "id": anything, "jq": {refused: "-L --library-path -f --from-file", operands: -1, check: jqReads},
	"local": declares, "ls": anything, "md5sum": anything, "nl": anything, "nproc": anything, "od": anything, "paste": anything, "printf": {operands: -1, text: true, check: printfPrints},
	"ps": {refused: "-E", operands: -1, check: psReads}, "pwd": anything, "readlink": anything, "readonly": declares, "realpath": anything, "return": {operands: 1, text: true}, "rev": anything,
	"rg":  {refused: "--pre --hostname-bin -z --search-zip -L --follow", operands: -1},
	"sed": {allowed: "-n -E -r --quiet --silent --regexp-extended", operands: -1, check: sedPrints},
	"seq": anything, "set": {allowed: "-e -u -x -eu -ex -eux -o -euo -euxo", operands: 1, check: setPlain}, "sha1sum": anything, "sha224sum": anything, "sha256sum": anything, "sha384sum": anything, "sha512sum": anything, "sleep": anything,
	"sort": {refused: "-o --output --compress-program -T --temporary-directory --files0-from", operands: -1}, "stat": anything, "strings": anything, "sum": anything,
	"tac": anything, "tail": anything, "test": {operands: -1, text: true, check: testReads}, "tr": anything, "tree": {refused: "-o --output -R -l", operands: -1}, "true": texts, "tty": nothing,
	"type": anything, "uname": anything, "uniq": {operands: 1}, "uptime": anything, "wc": {operands: -1, reaches: "--files0-from"}, "which": anything, "whoami": nothing,
}

// declares is what sets variables of the shell; which ones, policy judges.
var declares = rule{allowed: "-r -x -g -a -A", operands: -1, text: true, check: declaresSome}

// versions are programs that may tell their version, and nothing else, unasked.
// Those are missing which first load what the directory tells them to: the
// tools of rustup, yarn, gradle and the like.
var versions = []string{
	"bash", "bun", "clang", "cmake", "cc", "deno", "docker", "g++", "gcc", "git", "go", "gofmt", "java", "javac", "julia",
	"kubectl", "lua", "make", "ninja", "node", "npm", "perl", "php", "pip", "pip3", "podman", "python", "python3",
	"ruby", "sqlite3", "tsc", "uv", "zig", "zsh",
}

const gitRefused = "--ext-diff --textconv --output -o --open-files-in-pager -O --upload-pack --contents --show-signature --filters"

var gitLooks = rule{refused: gitRefused, operands: -1, check: noSignature}

// gitReads are the git subcommands that only read. Options before it choose
// another repository or configuration, except those that gitQuiet has.
var gitReads = map[string]rule{
	"blame": gitLooks, "cat-file": gitLooks, "check-ignore": gitLooks, "cherry": gitLooks,
	"count-objects": gitLooks, "describe": gitLooks, "diff": gitLooks, "diff-tree": gitLooks, "for-each-ref": gitLooks, "log": gitLooks, "ls-files": gitLooks, "ls-tree": gitLooks,
	"merge-base": gitLooks, "name-rev": gitLooks, "rev-list": gitLooks, "rev-parse": gitLooks, "shortlog": gitLooks, "show": gitLooks, "show-ref": gitLooks, "status": gitLooks, "version": nothing,
	"branch": {allowed: "-a -r -v -vv --list --all --remotes --verbose --show-current --no-color"},
	"tag":    {allowed: "-l --list -n"}, "remote": {allowed: "-v --verbose"},
	"stash": {refused: gitRefused, operands: -1, check: firstIs("list", "show")}, "worktree": {operands: 1, check: firstIs("list")}, "reflog": {refused: gitRefused, operands: -1, check: firstIs("show")},
	"config": {allowed: "--get --list -l --get-all --show-origin --name-only", operands: 1, check: hasOption},
}

var gitQuiet = []string{"--no-pager", "-P", "--no-optional-locks"}

// goReads are the go subcommands that only read. Their options may have one
// dash or two.
var goReads = map[string]rule{
	"version": {refused: "-m --m", operands: 1}, "env": {refused: "-w --w -u --u", operands: -1}, "help": anything,
}
