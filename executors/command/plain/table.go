package plain

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors/lazyregexp"
)

// versions are programs whose version may be queried. The list omits programs
// that first load code of the directory, or another version of themselves: the tools of
// rustup, juliaup, yarn, gradle and the like.
var versions = []string{
	"bash", "bun", "clang", "cmake", "cc", "curl", "deno", "docker", "fd", "fdfind", "g++", "gcc", "git", "gofmt", "grep", "java", "javac", "jq",
	"kubectl", "lua", "make", "ninja", "node", "npm", "perl", "php", "pip", "pip3", "podman", "python", "python3",
	"rg", "ruby", "sed", "sqlite3", "tar", "tree", "tsc", "uv", "zig", "zsh",
}

// versionOptions are the options that print the version of a program, if these are not
// the usual ones. With them, some of the other programs would start a shell or an
// interpreter.
var versionOptions = map[string]string{
	"curl": "-V", "docker": "-v", "fd": "-V", "git": "-v", "java": "-version", "javac": "-version", "jq": "-V", "lua": "-v", "node": "-v", "npm": "-v", "perl": "-v",
	"php": "-v", "pip": "-V", "pip3": "-V", "python": "-V", "python3": "-V", "rg": "-V", "ruby": "-v", "tsc": "-v", "uv": "-V",
}

// printsVersion reports whether a program with this one option prints its version.
func printsVersion(program, option string) bool {
	if !slices.Contains(versions, program) {
		return false
	}
	own, ok := versionOptions[program]
	return option == "--version" || ok && option == own
}

const grepOptions = "-ainvclLoqsHhwxEFGPrzZbUIT -# -e= -f: -A# -B# -C# -m# -d= --include= --exclude= --exclude-dir= --color? --colour? " +
	"--line-number --ignore-case --no-ignore-case --invert-match --count --files-with-matches --files-without-match --only-matching --quiet --silent --no-messages " +
	"--with-filename --no-filename --word-regexp --line-regexp --extended-regexp --fixed-strings --basic-regexp --perl-regexp --recursive --null --null-data --byte-offset --text " +
	"--initial-tab --regexp= --file: --after-context# --before-context# --context# --max-count# --binary-files= --directories="

const grepFilters = "-v -i -E -F -G -P -w -x -m --regexp --invert-match --ignore-case --extended-regexp --fixed-strings --perl-regexp --word-regexp --line-regexp --max-count"

const sumOptions = "-btz --binary --text --tag --zero"

const fdOptions = "-HIuaisgFp01 -e= -t= -d# -E= -S= --extension= --type= --max-depth# --min-depth# --exact-depth# --hidden --no-ignore --no-ignore-vcs --unrestricted " +
	"--glob --fixed-strings --absolute-path --full-path --exclude= --color= --max-results# --ignore-case --case-sensitive --size= --changed-within= --changed-before= --print0 --no-follow"

// programs are programs that only read, with every option that they may have
// here. Neither GNU's nor a BSD's version of them writes, runs a program, shows
// the environment or uses the network by these options.
var programs = sync.OnceValue(func() map[string]*program {
	grep := &program{options: grepOptions, operands: pattern, wild: true, shows: true, below: []string{"-r", "--recursive", "-d", "--directories"}, filters: grepFilters, null: "-z"}
	other := *grep
	other.starts = []string{"grep"} // these are scripts
	sum := &program{options: sumOptions, wild: true}
	fd := &program{looks: true, options: fdOptions, operands: pattern, null: "-0"}
	return map[string]*program{
		"arch": {operands: none}, "basename": {options: "-az -s= --multiple --suffix= --zero", operands: texts}, "dirname": {options: "-z --zero", operands: texts},
		"base64": {options: "-dD -w# --decode --wrap#", operands: files, most: 1, shows: true}, "cal": {options: "-13y", operands: texts},
		"cat":  {options: "-AbEenstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting", wild: true, shows: true},
		"tac":  {options: "-br -s= --before --regex --separator=", wild: true, shows: true},
		"nl":   {options: "-p -b= -d= -f= -h= -i# -l# -n= -s= -v# -w# --body-numbering= --number-width# --number-separator=", wild: true, shows: true},
		"head": {options: "-qvz -# -n# -c# --lines# --bytes# --quiet --silent --verbose", wild: true, shows: true, filters: "-n --lines -# -q", null: "-z"},
		"tail": {options: "-qvzfFr -# -n# -c# -s# --lines# --bytes# --quiet --silent --verbose --follow?", wild: true, shows: true, filters: "-n --lines -# -q", null: "-z"},
		"wc":   {options: "-clmwL --lines --words --bytes --chars --max-line-length", wild: true},
		"ls": {looks: true, options: "-1aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ --all --almost-all --author --color? --classify? --directory --full-time --group-directories-first --no-group --human-readable " +
			"--si --inode --size --sort= --time= --time-style= --format= --reverse --recursive --numeric-uid-gid --hide= --ignore= --escape --literal --quote-name --indicator-style= --file-type", wild: true},
		"cut": {options: "-b= -sn -z -c= -f= -d= --fields= --delimiter= --characters= --bytes= --only-delimited --complement --output-delimiter=", shows: true},
		"tr":  {options: "-cCdst --complement --delete --squeeze-repeats --truncate-set1", operands: texts},
		"sort": {options: "-bdfgiMhnRrVcCmsuz -k= -t= --numeric-sort --reverse --unique --human-numeric-sort --version-sort --key= --field-separator= --ignore-case --general-numeric-sort " +
			"--stable --check? --month-sort --dictionary-order --ignore-leading-blanks --ignore-nonprinting --random-sort --zero-terminated", shows: true, filters: "-r -u -n -V -f -d -b --reverse --unique", null: "-z"},
		"uniq": {options: "-cdDiuz -f# -s# -w# --count --repeated --unique --ignore-case --skip-fields# --skip-chars# --check-chars#", most: 1, shows: true, filters: "-i -u -d", null: "-z"},
		"comm": {options: "-123z --check-order --nocheck-order --total --output-delimiter=", most: 2, shows: true}, "paste": {options: "-sz -d= --serial --delimiters=", shows: true},
		"join": {options: "-i -t= -1# -2# -a# -v# -e= -o= -j#", most: 2, shows: true}, "rev": {shows: true}, "fold": {options: "-bs -w# --width# --spaces", shows: true},
		"fmt": {options: "-sut -w# -# --width#", shows: true}, "expand": {options: "-i -t= --tabs=", shows: true}, "unexpand": {options: "-a -t= --tabs=", shows: true},
		"column": {options: "-txJ -s= -c# -o= --table --separator= --output-separator= --columns#", shows: true}, "pr": {options: "-tmdn -l# -w# -h=", shows: true},
		"diff": {options: "-abBcdeEinNpqstTuwyZ -U# -C# -W# --unified? --context? --color? --brief --side-by-side --ignore-all-space --ignore-case --ignore-space-change --ignore-trailing-space " +
			"--ignore-blank-lines --suppress-common-lines --strip-trailing-cr --width# --text --new-file --report-identical-files --label= --minimal --normal --left-column", operands: plains, most: 2, shows: true},
		"cmp":   {options: "-bls -i# -n# --print-bytes --verbose --silent --quiet --bytes#", operands: plains, most: 2},
		"stat":  {looks: true, options: "-Lx -c= --format= --printf= --terse --dereference", wild: true},
		"file":  {looks: true, options: "-bihkNrI0 --brief --mime --mime-type --mime-encoding --extension --keep-going --no-pad --raw --no-dereference", wild: true},
		"du":    {looks: true, options: "-0abchkmsSx -d# --max-depth# --human-readable --summarize --all --total --apparent-size --bytes --exclude= --si --one-file-system --inodes", wild: true},
		"df":    {looks: true, options: "-ahHiklmPT -t= -x= --human-readable --total --all --inodes --portability --print-type --type= --output?"},
		"b2sum": sum, "md5sum": sum, "sha1sum": sum, "sha224sum": sum, "sha256sum": sum, "sha384sum": sum, "sha512sum": sum, "cksum": {wild: true}, "sum": {options: "-rs", wild: true},
		"od":      {options: "-acdbxvos -A= -t= -j# -N# -w? --address-radix= --format= --skip-bytes# --read-bytes#", shows: true},
		"hexdump": {options: "-bcCdovx -n# -s# --canonical --length# --skip#", shows: true}, "xxd": {options: "-b -u -p -i -E -l# -s# -c# -g#", most: 1, shows: true, single: true},
		"strings":  {options: "-ao -n# -t= -e= -# --all --bytes# --radix= --encoding=", shows: true, expands: true},
		"readlink": {looks: true, options: "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline", wild: true}, "realpath": {looks: true, options: "-emqsLPz --relative-to: --relative-base: --canonicalize-existing --canonicalize-missing --no-symlinks", wild: true},
		"uname": {options: "-asnrvmpio --all --kernel-name --kernel-release --machine --operating-system", operands: none}, "nproc": {options: "--all --ignore#", operands: none}, "whoami": {operands: none},
		"id": {options: "-unGgrz --user --name --groups --group", operands: texts}, "groups": {operands: texts}, "uptime": {options: "-ps --pretty --since", operands: none}, "tty": {options: "-s", operands: none},
		"hostname": {options: "-sI", operands: none}, "getconf": {operands: texts}, "free": {options: "-bkmghtw --human", operands: none}, "lscpu": {operands: none},
		"seq": {options: "-w -f= -s= --equal-width --separator= --format=", operands: texts}, "sleep": {operands: texts, most: 1},
		"which": {options: "-a", operands: texts}, "type": {options: "-atpPf", operands: texts}, "command": {options: "-vV", operands: texts, check: names},
		"shuf": {options: "-n# -z -r --head-count#", most: 1, shows: true},
		"tree": {looks: true, options: "-adfishDFCnpugtrvUJX -L# -I= -P= --dirsfirst --noreport --gitignore --du --prune --filelimit# --sort= --charset= --matchdirs --ignore-case --filesfirst", own: true},
		"grep": grep, "egrep": &other, "fgrep": &other, "fd": fd, "fdfind": fd,
		"rg": {options: "-.nilcwvosSFPUHINxaqu0p -# -e= -f: -A# -B# -C# -m# -d# -M# -E= -g= -t= -T= -r= -j# --files --hidden --no-ignore --no-ignore-vcs --unrestricted --type= --type-not= --glob= --iglob= " +
			"--color= --heading --no-heading --line-number --no-line-number --column --count --count-matches --files-with-matches --files-without-match --ignore-case --smart-case --case-sensitive " +
			"--fixed-strings --word-regexp --line-regexp --multiline --multiline-dotall --pcre2 --only-matching --invert-match --json --stats --sort= --sortr= --max-depth# --max-count# --max-columns# " +
			"--context# --after-context# --before-context# --no-messages --quiet --trim --replace= --vimgrep --type-list --passthru --no-filename --with-filename --null --regexp= --file: --pretty --text --threads# --max-filesize=",
			operands: pattern, shows: true, null: "-0", lead: []string{"--no-config", "--no-ignore-messages"}},
		"jq": {options: "-rcSnesMCaj --raw-output --compact-output --sort-keys --null-input --exit-status --slurp --monochrome-output --color-output --ascii-output --join-output --raw-input -R --tab --indent#",
			operands: pattern, own: true, noEnd: true, shows: true, check: jqReads},
		"sed": {options: "-nEruz -e= --expression= --quiet --silent --regexp-extended --posix --unbuffered --null-data", operands: pattern, shows: true, check: sedPrints},
		"awk": awk, "gawk": awk, "mawk": awk,
		"true": {operands: texts, noEnd: true}, "false": {operands: texts, noEnd: true}, ":": {operands: texts, noEnd: true}, "pwd": {options: "-LP", operands: none},
		"exit": {operands: texts, most: 1, check: numeric}, "break": {operands: texts, most: 1, check: numeric}, "continue": {operands: texts, most: 1, check: numeric},
		"gofmt": {options: "-l -d -s -e", operands: plains, single: true, noEnd: true, shows: true},
	}
})

// names accepts "command -v NAME" alone: without the option it runs NAME.
func names(o *parsedOptions) error {
	if !o.has("-v", "-V") {
		return errors.New("it runs another command")
	}
	return nil
}

func numeric(o *parsedOptions) error {
	for _, w := range o.operands {
		if !w.literal() || !number.MatchString(w.text()) {
			return errors.New("its operand is not a number")
		}
	}
	return nil
}

// jqMore matches names by which a jq program does more than read its input.
var jqMore = lazyregexp.New(`(?i)\benv\b|\b(import|include|modulemeta|get_search_list|input_filename|debug|stderr|__prog\w*|__loc__)\b`)

// jqReads checks all operands, since only jq can tell which is its program.
func jqReads(o *parsedOptions) error {
	for _, w := range o.operands {
		if !w.literal() || jqMore.MatchString(w.text()) || strings.HasPrefix(w.text(), "-") {
			return errors.New("its program may do more than look at its input")
		}
	}
	return nil
}

// delimited matches the text before the delimiter of a regular expression in
// sed and awk. Programs disagree about a delimiter after a backslash and inside
// brackets, so neither matches.
func delimited(delimiter string) string {
	return `(?:[^\\\[\n;` + delimiter + `]|\\[^\n;` + delimiter + `]|\[\^?(?:\[:[a-z]+:\]|[^]\[\\^\n;` + delimiter + `])+\])*`
}

// sedAddresses returns an expression for the addresses of a command of sed: "5", "1,20",
// "$", "/x/,/y/".
func sedAddresses() string {
	text := delimited("/")
	return `((\d+|\$|/` + text + `/)(,(\d+|\$|\+\d+|/` + text + `/))?)?\s*!?\s*`
}

// sedCommand matches one command of sed that prints, counts or leaves out lines: "5p",
// "1,20p", "/x/,/y/d", "$p", "5q".
var sedCommand = lazyregexp.Build(func() string { return `^` + sedAddresses() + `[pqd=]$` })

// sedReplaces matches a substitution by sed whose flags neither write a file nor run a
// command.
var sedReplaces = lazyregexp.Build(func() string {
	var forms []string
	for _, d := range []string{"/", "|", "#", ","} {
		q := regexp.QuoteMeta(d)
		replacement := `(?:[^\\\n;` + d + `]|\\[^\n;` + d + `])*`
		forms = append(forms, q+delimited(d)+q+replacement+q)
	}
	return `^` + sedAddresses() + `s(` + strings.Join(forms, "|") + `)[gIip]{0,3}$`
})

func sedPrints(o *parsedOptions) error {
	var scripts []string
	for _, g := range o.options {
		if g.name == "-e" || g.name == "--expression" {
			scripts = append(scripts, g.value)
		}
	}
	if len(scripts) == 0 {
		if len(o.operands) == 0 || !o.operands[0].literal() {
			return errors.New("it has no script")
		}
		scripts = append(scripts, o.operands[0].text())
	}
	for _, script := range scripts {
		for part := range strings.SplitSeq(script, ";") {
			if part = strings.TrimSpace(part); !sedCommand.MatchString(part) && !sedReplaces.MatchString(part) {
				return fmt.Errorf("its command %q may do more than print", part)
			}
		}
	}
	return nil
}

// awkPrints matches a program of awk that prints fields of lines, or the sum of one field.
var awkPrints = lazyregexp.Build(func() string {
	condition := `(/` + delimited("/") + `/|(NR|NF|\$\d+) ?(==|!=|<|<=|>|>=) ?(\d+|"[\w .:-]*")|NF|END)`
	conditions := condition + `( ?(&&|\|\|) ?` + condition + `)*`
	const item = `(\$\d+|\$NF|NR|NF|"[^"\\\n]*")`
	const sum = `\{\s*(s|sum|n|count|total)\s*\+=\s*(\$\d+|\$NF|\d+)\s*;?\s*\}\s*END\s*\{\s*print\s+(s|sum|n|count|total)\s*\}`
	return `^\s*(` + conditions + `|(` + conditions + `)?\s*\{\s*print(\s*` + item + `([ ,]*` + item + `)*)?\s*;?\s*\}|` + sum + `)\s*$`
})

var awk = &program{options: "-F=", operands: pattern, shows: true, check: func(o *parsedOptions) error {
	if len(o.operands) == 0 || !o.operands[0].literal() || !awkPrints.MatchString(o.operands[0].text()) {
		return errors.New("its program may do more than print fields")
	}
	if slices.ContainsFunc(o.operands[1:], func(w Word) bool { return !w.known() || strings.Contains(w.text(), "=") }) {
		return errors.New("an operand may set a variable")
	}
	return nil
}}
