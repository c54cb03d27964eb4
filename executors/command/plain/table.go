package plain

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// versions are programs whose version may be queried. A file of the directory may select another
// version of some, or code that they load, which then runs in the box.
var versions = []string{
	"ansible", "aws", "bash", "bat", "batcat", "black", "bun", "bundle", "cargo", "clang", "clang-format", "cmake", "cc", "curl", "deno", "docker", "dotnet", "eslint", "fd", "fdfind", "flake8", "g++", "gcc", "gh", "git", "gofmt", "golangci-lint", "grep", "helm", "java",
	"javac", "jq", "kubectl", "lua", "make", "mvn", "mypy", "ninja", "node", "npm", "npx", "openssl", "perl", "php", "pip", "pip3", "pnpm", "podman", "poetry", "prettier", "pylint", "pytest", "protoc", "psql", "python", "python3",
	"redis-cli", "rg", "rspec", "ruby", "rubocop", "rustup", "swift", "terraform", "yarn", "yq", "ruff", "rustc", "sed", "shellcheck", "sqlite3", "ssh", "tar", "tree", "tsc", "uv", "zig", "zsh",
}

// versionOptions are the options that print the version of a program, if these are not
// the usual ones. With them, some of the other programs would start a shell or an
// interpreter, and BSD's make would build the project by "-v".
var versionOptions = map[string]string{
	"cargo": "-V", "curl": "-V", "docker": "-v", "fd": "-V", "git": "-v", "java": "-version", "javac": "-version", "jq": "-V", "lua": "-v", "node": "-v", "npm": "-v", "openssl": "version", "perl": "-v",
	"php": "-v", "pip": "-V", "pip3": "-V", "psql": "-V", "python": "-V", "python3": "-V", "redis-cli": "-v", "rg": "-V", "ruby": "-v", "ruff": "-V", "rustc": "-V", "ssh": "-V", "tsc": "-v", "uv": "-V",
}

// printsVersion reports whether a program with this one option prints its version.
func printsVersion(program, option string) bool {
	if !slices.Contains(versions, program) {
		return false
	}
	own, ok := versionOptions[program]
	return option == "--version" || ok && option == own
}

// printsHelp reports whether a program of the table prints only its help or version by this
// option.
func printsHelp(name, option string) bool {
	p, ok := programs()[name]
	known := ok && p.startedPrograms == nil && !slices.Contains(shellCommands, name) || slices.Contains([]string{"date", "find", "ps", "xargs"}, name)
	return known && (option == "--help" || option == "--version")
}

const grepOptions = "-ainvclLoqsHhwxEFGPrzZbUIT -# -e= -f: -A# -B# -C# -m# -d= --include= --exclude= --exclude-dir= " +
	"--color? --colour? --line-number --ignore-case --no-ignore-case --invert-match --count " +
	"--files-with-matches --files-without-match --only-matching --quiet --silent --no-messages " +
	"--with-filename --no-filename --word-regexp --line-regexp --extended-regexp --fixed-strings " +
	"--basic-regexp --perl-regexp --recursive --null --null-data --byte-offset --text --initial-tab " +
	"--regexp= --file: --after-context# --before-context# --context# --max-count# --binary-files= " +
	"--directories="

const grepFilters = "-v -i -E -F -G -P -w -x -m --regexp --invert-match --ignore-case --extended-regexp --fixed-strings " +
	"--perl-regexp --word-regexp --line-regexp --max-count"

const grepLists = "-l -L -r -a -i -n -v -s -w -x -h -H -E -F -G -P -I -Z -e -f -m -d --files-with-matches --files-without-match " +
	"--recursive --include --exclude --exclude-dir --text --ignore-case --no-ignore-case --line-number --invert-match --no-messages " +
	"--word-regexp --line-regexp --with-filename --no-filename --extended-regexp --fixed-strings --basic-regexp --perl-regexp " +
	"--regexp --file --max-count --binary-files --directories --null"

const rgLists = "-l --files-with-matches --files-without-match --files -. -n -i -w -v -s -S -F -P -U -I -N -H -x -a -u -0 -e -f -m -d -E -g -t -T -j " +
	"--hidden --no-ignore --no-ignore-vcs --unrestricted --type --type-not --glob --iglob --line-number --no-line-number --ignore-case " +
	"--smart-case --case-sensitive --fixed-strings --word-regexp --line-regexp --multiline --multiline-dotall --pcre2 --invert-match " +
	"--sort --sortr --max-depth --max-count --no-messages --no-filename --with-filename --null --regexp --file --text --threads " +
	"--max-filesize"

const fdLists = "-H -I -u -a -i -s -g -F -p -0 -1 -e -t -d -E -S --extension --type --max-depth --min-depth --exact-depth --hidden --no-ignore " +
	"--no-ignore-vcs --unrestricted --glob --fixed-strings --absolute-path --full-path --exclude --max-results --ignore-case " +
	"--case-sensitive --size --changed-within --changed-before --print0 --no-follow"

const sumOptions = "-btz --binary --text --tag --zero"

const fdOptions = "-HIuaisgFp01 -e= -t= -d# -E= -S= --extension= --type= --max-depth# --min-depth# --exact-depth# " +
	"--hidden --no-ignore --no-ignore-vcs --unrestricted --glob --fixed-strings --absolute-path " +
	"--full-path --exclude= --color= --max-results# --ignore-case --case-sensitive --size= " +
	"--changed-within= --changed-before= --print0 --no-follow"

// programs are programs that only read, with every option that they may have
// here. Neither GNU's nor a BSD's version of them writes, runs a program, shows
// the environment or uses the network by these options.
var programs = sync.OnceValue(func() map[string]*program {
	grep := &program{
		options: grepOptions, operands: patternThenFiles, leadingWildcard: true,
		listOptions: grepLists, lineFilters: grepFilters, nullOption: "-z",
	}
	other := *grep
	other.startedPrograms = []string{"grep"} // these are scripts
	sum := &program{options: sumOptions, leadingWildcard: true}
	fd := &program{opensNothing: true, options: fdOptions, operands: patternThenFiles, nullOption: "-0", listOptions: fdLists}
	bzip, xz, zstd := decompresses(".bz2", ".tbz2"), decompresses(".xz", ".txz", ".lzma"), decompresses(".zst")
	gzip, gunzip := decompresses(".gz", ".tgz", ".z"), decompresses(".gz", ".tgz", ".z")
	gunzip.startedPrograms = []string{"gzip"}                      // this is a script
	bzip.options = "-dcvq --decompress --stdout --verbose --quiet" // it lists nothing
	all := map[string]*program{
		"gzip": gzip, "gunzip": gunzip, "bzip2": bzip, "xz": xz, "zstd": zstd,
		"arch":     {operands: noOperands},
		"basename": {options: "-az -s= --multiple --suffix= --zero", operands: textOperands},
		"dirname":  {options: "-z --zero", operands: textOperands},
		"base64":   {options: "-dD -w# --decode --wrap#", operands: fileOperands, maxOperands: 1},
		"cal":      {options: "-13y", operands: textOperands},
		"cat": {
			options: "-AbEenstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs " +
				"--show-nonprinting",
			leadingWildcard: true,
		},
		"tac": {options: "-br -s= --before --regex --separator=", leadingWildcard: true},
		"nl": {
			options:         "-p -b= -d= -f= -h= -i# -l# -n= -s= -v# -w# --body-numbering= --number-width# --number-separator=",
			leadingWildcard: true,
		},
		"head": {
			options:         "-qvz -# -n# -c# --lines# --bytes# --quiet --silent --verbose",
			leadingWildcard: true, lineFilters: "-n --lines -# -q", nullOption: "-z",
			bounds: "-c --bytes", unbounds: "-n --lines",
		},
		"tail": {
			options:         "-qvzfFr -# -n# -c# -s# --lines# --bytes# --quiet --silent --verbose --follow?",
			leadingWildcard: true, lineFilters: "-n --lines -# -q", nullOption: "-z",
		},
		"wc": {options: "-clmwL --lines --words --bytes --chars --max-line-length", leadingWildcard: true},
		"ls": {
			options: "-1aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ --all --almost-all --author --color? --classify? --directory " +
				"--full-time --group-directories-first --no-group --human-readable --si --inode --size --sort= " +
				"--time= --time-style= --format= --reverse --recursive --numeric-uid-gid --hide= --ignore= --escape " +
				"--literal --quote-name --indicator-style= --file-type",
			opensNothing: true, leadingWildcard: true,
		},
		"cut": {
			options: "-b= -sn -z -c= -f= -d= --fields= --delimiter= --characters= --bytes= --only-delimited --complement " +
				"--output-delimiter=",
		},
		"tr": {options: "-cCdst --complement --delete --squeeze-repeats --truncate-set1", operands: textOperands},
		"sort": {
			options: "-bdfgiMhnRrVcCmsuz -k= -t= --numeric-sort --reverse --unique --human-numeric-sort --version-sort " +
				"--key= --field-separator= --ignore-case --general-numeric-sort --stable --check? --month-sort " +
				"--dictionary-order --ignore-leading-blanks --ignore-nonprinting --random-sort --zero-terminated", lineFilters: "-r -u -n -V -f -d -b --reverse --unique", nullOption: "-z",
		},
		"uniq": {
			options: "-cdDiuz -f# -s# -w# --count --repeated --unique --ignore-case --skip-fields# --skip-chars# " +
				"--check-chars#",
			maxOperands: 1, lineFilters: "-i -u -d", nullOption: "-z",
		},
		"comm":     {options: "-123z --check-order --nocheck-order --total --output-delimiter=", maxOperands: 2},
		"paste":    {options: "-sz -d= --serial --delimiters="},
		"join":     {options: "-i -t= -1# -2# -a# -v# -e= -o= -j#", maxOperands: 2},
		"rev":      {},
		"fold":     {options: "-bs -w# --width# --spaces"},
		"fmt":      {options: "-sut -w# -# --width#"},
		"expand":   {options: "-i -t= --tabs="},
		"unexpand": {options: "-a -t= --tabs="},
		"column":   {options: "-txJ -s= -c# -o= --table --separator= --output-separator= --columns#"},
		"pr":       {options: "-tmdn -l# -w# -h="},
		"diff": {
			options: "-abBcdeEinNpqstTuwyZ -U# -C# -W# --unified? --context? --color? --brief --side-by-side " +
				"--ignore-all-space --ignore-case --ignore-space-change --ignore-trailing-space --ignore-blank-lines " +
				"--suppress-common-lines --strip-trailing-cr --width# --text --new-file --report-identical-files " +
				"--label= --minimal --normal --left-column",
			maxOperands: 2,
		},
		"cmp": {options: "-bls -i# -n# --print-bytes --verbose --silent --quiet --bytes#", maxOperands: 2},
		"stat": {
			opensNothing: true, options: "-Lx -c= -f= --format= --printf= --terse --dereference", leadingWildcard: true, check: statFormat,
		},
		"file": {
			options: "-bihkNrI0 --brief --mime --mime-type --mime-encoding --extension --keep-going --no-pad --raw " +
				"--no-dereference",
			opensNothing: true, leadingWildcard: true,
		},
		"du": {
			options: "-0abchkmsSx -d# --max-depth# --human-readable --summarize --all --total --apparent-size --bytes " +
				"--exclude= --si --one-file-system --inodes",
			opensNothing: true, leadingWildcard: true,
		},
		"df": {
			options: "-ahHiklmPT -t= -x= --human-readable --total --all --inodes --portability --print-type --type= " +
				"--output?",
			opensNothing: true,
		},
		"b2sum":     sum,
		"md5":       {options: "-qr", leadingWildcard: true},
		"shasum":    {options: "-bt -a# --algorithm# --binary --text", leadingWildcard: true, startedPrograms: []string{"perl"}},
		"md5sum":    sum,
		"sha1sum":   sum,
		"sha224sum": sum,
		"sha256sum": sum,
		"sha384sum": sum,
		"sha512sum": sum,
		"cksum":     {leadingWildcard: true},
		"sum":       {options: "-rs", leadingWildcard: true},
		"od":        {options: "-acdbxvos -A= -t= -j# -N# -w? --address-radix= --format= --skip-bytes# --read-bytes#", bounds: "-N --read-bytes", unbounds: "-j --skip-bytes"},
		"hexdump":   {options: "-bcCdovx -n# -s# --canonical --length# --skip#", bounds: "-n --length", unbounds: "-s --skip"},
		"xxd":       {options: "-b -u -p -i -E -l# -s# -c# -g#", maxOperands: 1, singleDash: true, bounds: "-l", unbounds: "-s"},
		"strings":   {options: "-ao -n# -t= -e= -# --all --bytes# --radix= --encoding=", expandsAtFiles: true},
		"readlink": {
			options:      "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline",
			opensNothing: true, leadingWildcard: true,
		},
		"realpath": {
			options: "-emqsLPz --relative-to: --relative-base: --canonicalize-existing --canonicalize-missing " +
				"--no-symlinks",
			opensNothing: true, leadingWildcard: true,
		},
		"uname":    {options: "-asnrvmpio --all --kernel-name --kernel-release --machine --operating-system", operands: noOperands},
		"nproc":    {options: "--all --ignore#", operands: noOperands},
		"whoami":   {operands: noOperands},
		"id":       {options: "-unGgrz --user --name --groups --group", operands: textOperands},
		"groups":   {operands: textOperands},
		"uptime":   {options: "-ps --pretty --since", operands: noOperands},
		"tty":      {options: "-s", operands: noOperands},
		"hostname": {options: "-sI", operands: noOperands},
		"getconf":  {operands: textOperands},
		"free":     {options: "-bkmghtw --human", operands: noOperands},
		"lscpu":    {operands: noOperands},
		"pgrep":    {options: "-flaxcnoi", operands: textOperands},
		"sw_vers":  {options: "-productName -productVersion -buildVersion", singleDash: true, operands: noOperands},
		"seq":      {options: "-w -f= -s= --equal-width --separator= --format=", operands: textOperands},
		"sleep":    {operands: textOperands, maxOperands: 1},
		"which":    {options: "-a", operands: textOperands},
		"type":     {options: "-atpPf", operands: textOperands},
		"command":  {options: "-vV", operands: textOperands, check: queriesCommand},
		"shuf":     {options: "-n# -z -r --head-count#", maxOperands: 1},
		"tree": {
			options: "-adfishDFCnpugtrvUJX -L# -I= -P= --dirsfirst --noreport --gitignore --du --prune --filelimit# " +
				"--sort= --charset= --matchdirs --ignore-case --filesfirst",
			opensNothing: true, ownParser: true,
		},
		"grep":   grep,
		"egrep":  &other,
		"fgrep":  &other,
		"fd":     fd,
		"fdfind": fd,
		"rg": {
			options: "-.nilcwvosSFPUHINxaqu0p -# -e= -f: -A# -B# -C# -m# -d# -M# -E= -g= -t= -T= -r= -j# --files --hidden " +
				"--no-ignore --no-ignore-vcs --unrestricted --type= --type-not= --glob= --iglob= --color= --heading " +
				"--no-heading --line-number --no-line-number --column --count --count-matches --files-with-matches " +
				"--files-without-match --ignore-case --smart-case --case-sensitive --fixed-strings --word-regexp " +
				"--line-regexp --multiline --multiline-dotall --pcre2 --only-matching --invert-match --json --stats " +
				"--sort= --sortr= --max-depth# --max-count# --max-columns# --context# --after-context# " +
				"--before-context# --no-messages --quiet --trim --replace= --vimgrep --type-list --passthru " +
				"--no-filename --with-filename --null --regexp= --file: --pretty --text --threads# --max-filesize=",
			operands: patternThenFiles, nullOption: "-0", listOptions: rgLists,
			insertedWords: []string{"--no-config", "--no-ignore-messages"},
		},
		"jq": {
			options: "-rcSnesMCaj --raw-output --compact-output --sort-keys --null-input --exit-status --slurp " +
				"--monochrome-output --color-output --ascii-output --join-output --raw-input -R --tab --indent#",
			operands: patternThenFiles, ownParser: true, noDoubleDash: true, check: jqReads,
		},
		"sed": {
			options:  "-nEruz -e= --expression= --quiet --silent --regexp-extended --posix --unbuffered --null-data",
			operands: patternThenFiles, check: sedPrints,
		},
		"awk":      awk,
		"gawk":     awk,
		"mawk":     awk,
		"true":     {operands: textOperands, noDoubleDash: true},
		"false":    {operands: textOperands, noDoubleDash: true},
		":":        {operands: textOperands, noDoubleDash: true},
		"pwd":      {options: "-LP", operands: noOperands},
		"exit":     {operands: textOperands, maxOperands: 1, check: numericOperands},
		"break":    {operands: textOperands, maxOperands: 1, check: numericOperands},
		"continue": {operands: textOperands, maxOperands: 1, check: numericOperands},
		"gofmt": {
			options: "-l -d -s -e", singleDash: true, noDoubleDash: true,
			startedPrograms: []string{"diff"}, // before Go 1.19
		},
	}
	addBoxed(all)
	return all
})

// decompresses returns a program that prints the text of compressed files, or lists them. With
// another ending it would look for a file with one of these.
func decompresses(endings ...string) *program {
	return &program{options: "-dclvq --decompress --stdout --list --verbose --quiet", maxOperands: 1, check: func(o *parsedOptions) error {
		if !o.has("-c", "--stdout") && (!o.has("-l", "--list") || o.has("-d", "--decompress")) { // the last of these may count
			return errors.New("it may write the text of the file")
		}
		for _, w := range o.operands {
			known := func(ending string) bool { return strings.HasSuffix(w.text(), ending) }
			if !w.literal() || !slices.ContainsFunc(endings, known) {
				return errorf("%s may stand for a file with another name", w.source)
			}
		}
		return nil
	}}
}

// queriesCommand accepts "command -v NAME" alone: without the option it runs NAME.
func queriesCommand(o *parsedOptions) error {
	if !o.has("-v", "-V") {
		return errors.New("it runs another command")
	}
	return nil
}

// statFormat accepts the formats of BSD's "stat -f". GNU's stat has no value there, and looks for
// a file of that name.
func statFormat(o *parsedOptions) error {
	for _, g := range o.options {
		if g.name == "-f" && (!strings.Contains(g.value, "%") || strings.Contains(g.value, "/")) {
			return errors.New("the value of -f is not a format")
		}
	}
	return nil
}

func numericOperands(o *parsedOptions) error {
	for _, w := range o.operands {
		if !w.literal() || !number.MatchString(w.text()) {
			return errors.New("its operand is not a number")
		}
	}
	return nil
}

// jqUnsafeNames matches names by which a jq program does more than read its input. After one
// dot such a name is a field, as in ".env".
var jqUnsafeNames = lazyregexp.New(`(?i)\$(env|__prog\w*|__loc__)\b|(^|\.\.|[^.\w])(env|import|include|modulemeta|get_search_list|input_filename|debug|stderr)\b`)

func jqReads(o *parsedOptions) error {
	for i, w := range o.operands {
		switch {
		case i == 0 && (!w.literal() || jqUnsafeNames.MatchString(w.text())):
			return errors.New("its program may do more than look at its input")
		case w.mayBegin('-'):
			return errorf("%s may be an option", w.source)
		}
	}
	return nil
}

// delimited matches the text before the delimiter of a regular expression in sed and awk.
// Programs disagree about a delimiter after a backslash or in brackets, so it matches neither.
// In brackets a backslash must precede a letter of an ordinary escape: "[ \t]".
func delimited(delimiter string) string {
	return `(?:[^\\\[\n` + delimiter + `]|\\[^\n` + delimiter + `]|\[\^?(?:\[:[a-z]+:\]|\\[nrt]|[^]\[\\^\n` + delimiter + `])+\])*`
}

// sedCommand matches the first command of a script of sed that prints, counts, edits or leaves
// out lines, with the separator after it: "5p", "1,20p", "/x/,/y/d", "$p", "5q", "/x/{p;q}",
// "s/a/b/g". The flags of a substitution neither write a file nor run a command.
var sedCommand = lazyregexp.Build(func() string {
	const simple, address = `[pPdDqQnNgGhHxlz=]`, `(?:\d+(?:~\d+)?|\$|/%s/)`
	text := delimited("/")
	addresses := strings.ReplaceAll(`(?:`+address+`(?:,(?:\+\d+|`+address+`))?)?\s*!?\s*`, "%s", text)
	commands := []string{simple, `\{\s*` + simple + `(?:\s*;\s*` + simple + `)*\s*;?\s*\}`}
	for _, d := range []string{"/", "|", "#", ",", "@", ":", "!", "%", "~"} {
		q := regexp.QuoteMeta(d)
		replacement := `(?:[^\\\n` + d + `]|\\[^\n` + d + `])*`
		commands = append(commands, `s`+q+delimited(d)+q+replacement+q+`[gIip0-9]{0,3}`, `y`+q+replacement+q+replacement+q)
	}
	return `^\s*` + addresses + `(?:` + strings.Join(commands, "|") + `)\s*(?:[;\n]|$)`
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
		for rest := script; strings.TrimSpace(rest) != ""; {
			command := sedCommand.FindString(rest)
			if command == "" {
				return errorf("its command %q may do more than print", strings.TrimSpace(rest))
			}
			rest = rest[len(command):]
		}
	}
	return nil
}
