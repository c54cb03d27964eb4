package plain

import (
	"errors"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// addBoxed adds the programs that only read, but also read settings of the project or state of
// the system that the command does not name. They run without a question only in the box.
func addBoxed(all map[string]*program) {
	bat := &program{
		options: "-pnAP -l= -r= -m= -H# --plain --number --show-all --language= --line-range= --highlight-line# --style= --color= --decorations= --wrap= --tabs# " +
			"--theme= --terminal-width# --squeeze-blank --paging=",
		insertedWords: []string{"--no-config", "--paging=never"},
		check: func(o *parsedOptions) error {
			o.options = slices.DeleteFunc(o.options, func(g parsedOption) bool { return g.name == "-P" || g.name == "--paging" })
			return nil
		},
	}
	objects := func(options string) *program { return &program{options: options} }
	for name, p := range map[string]*program{
		"bat": bat, "batcat": bat,
		"bash":   {options: "-n", maxOperands: 1, check: must("-n")},
		"node":   {options: "-c --check", maxOperands: 1, check: must("-c", "--check")},
		"bc":     {options: "-lq --mathlib --quiet", operands: noOperands},
		"factor": {options: "-h --exponents", operands: textOperands},
		"numfmt": {
			options:  "-d= -z --from= --to= --from-unit# --to-unit# --suffix= --padding# --round= --format= --field= --header? --grouping --invalid=",
			operands: textOperands,
		},
		"tsort": {maxOperands: 1},
		"printenv": {operands: textOperands, check: func(o *parsedOptions) error {
			for _, w := range o.operands {
				if !w.literal() || !slices.Contains(shownVariables, w.text()) && !slices.Contains([]string{"HOME", "PWD", "TZ", "CI", "LC_ALL", "LC_CTYPE", "COLUMNS", "HOSTNAME"}, w.text()) {
					return errorf("%s may hold a secret", w.source)
				}
			}
			return some(o, "it shows the whole environment")
		}},
		"locale":      {options: "-akcmv --all-locales --keyword-name --category-name --charmaps", operands: textOperands},
		"lsb_release": {options: "-aidrcsv --all --id --description --release --codename --short", operands: noOperands},
		"lsblk":       {options: "-afnlprbJm -o= --all --fs --json --output= --noheadings", operands: noOperands},

		"nm":      objects("-aAgnopPrsSuClDf --defined-only --extern-only --undefined-only --dynamic --demangle? --numeric-sort --size-sort --reverse-sort --print-size --format="),
		"size":    objects("-ABdotx --common --format= --radix# --totals"),
		"readelf": objects("-ahlSgteIWnrudVAsDC -x= -p= --all --file-header --program-headers --sections --segments --symbols --syms --dyn-syms --notes --relocs --dynamic --version-info --wide --hex-dump= --string-dump= --histogram"),
		"objdump": objects("-adDfhprRsStTxCwzG -j= -M= -b= -m= --archive-headers --all-headers --disassemble? --disassemble-all --file-headers --section-headers --headers --full-contents --source --syms --dynamic-syms " +
			"--reloc --dynamic-reloc --demangle? --section= --start-address= --stop-address= --no-show-raw-insn --private-headers --info"),
		"shellcheck": {
			options: "-axVC? -e= -f= -i= -o= -s= -S= -W# --check-sourced --color? --include= --exclude= --format= --list-optional --norc --enable= --shell= --severity= --wiki-link-count# --external-sources --version",
		},
		"ssh-keygen": {options: "-lvB -E= -f:", operands: noOperands, check: must("-l")},
		"dpkg": {
			options: "-l -s -L -S -p --list --status --listfiles --search --print-avail --get-selections --print-architecture --audit -C", operands: textOperands,
			check: must("-l", "-s", "-L", "-S", "-p", "--list", "--status", "--listfiles", "--search", "--print-avail", "--get-selections", "--print-architecture", "--audit", "-C"),
		},
		"dpkg-query": {
			options: "-l -W -s -L -S -p -f= --list --show --status --listfiles --search --print-avail --showformat=", operands: textOperands,
			check: must("-l", "-W", "-s", "-L", "-S", "-p", "--list", "--show", "--status", "--listfiles", "--search", "--print-avail"),
		},
		"rpm": {options: "-q -a -i -l -f -c -d -R -qa -qi -ql -qf --query --all --info --list --queryformat= --changelog --requires --provides", operands: textOperands, singleDash: true, check: func(o *parsedOptions) error {
			if !slices.ContainsFunc(o.options, func(g parsedOption) bool { return strings.HasPrefix(g.name, "-q") || g.name == "--query" }) {
				return errors.New("it may change the installed packages")
			}
			return nil
		}},
		"xmllint": {
			options: "--xpath= --noout --format --recover --html --pretty# --encode= --noblanks --nsclean --c14n --xmlout --huge --schema: --relaxng: --valid --debug --nowarning", noDoubleDash: true, ownParser: true,
			insertedWords: []string{"--nonet"},
		},
		"yq": {
			options:  "-rPeNCMjnsy -o= -p= -I# --raw-output --unwrapScalar? --prettyPrint --exit-status --no-doc --no-colors --colors --tojson --null-input --output-format= --input-format= --indent# --compact-output -c --yaml-output",
			operands: patternThenFiles, ownParser: true, noDoubleDash: true, check: yqReads,
		},
	} {
		all[name] = p
	}
}

// must returns a check that one of the options is there: without it the program does something else.
func must(options ...string) func(*parsedOptions) error {
	return func(o *parsedOptions) error {
		if !o.has(options...) {
			return errorf("without %s it may do more than read", options[0])
		}
		return nil
	}
}

// some returns an error if there are no operands.
func some(o *parsedOptions, why string) error {
	if len(o.operands) == 0 {
		return errors.New(why)
	}
	return nil
}

// yqUnsafe matches names by which a program of yq reads the environment or another file.
var yqUnsafe = lazyregexp.New(`(?i)env|load|system|splitDoc|eval\(|filename`)

// yqReads accepts a program that only looks at its input. The command "eval" may precede it.
func yqReads(o *parsedOptions) error {
	at := 0 // of the program
	if len(o.operands) > 1 && slices.Contains([]string{"e", "eval"}, o.operands[0].text()) {
		at = 1
	}
	for i, w := range o.operands {
		switch {
		case i <= at && (!w.literal() || i == at && yqUnsafe.MatchString(w.text())):
			return errors.New("its program may do more than look at its input")
		case w.mayBegin('-'):
			return errorf("%s may be an option", w.source)
		}
	}
	return some(o, "it has no program")
}

// subcommand is a command of a program with subcommands.
type subcommand struct {
	words string // the subcommand
	program
}

// subcommandPrograms are programs of which some subcommands only read.
func subcommandPrograms(name string) []subcommand {
	texts := func(words, options string, more ...string) subcommand {
		return subcommand{words, program{options: options, operands: textOperands, noDoubleDash: true, ownParser: true, insertedWords: more, check: plainNames}}
	}
	switch name {
	case "pip", "pip3":
		return pipCommands()
	case "npm":
		return []subcommand{
			texts("ls", "-aglp --all --json --long --parseable --global --depth# --omit= --include= --prod"), texts("list", "-aglp --all --json --long --parseable --global --depth# --omit= --include= --prod"),
			texts("root", "-g --global"), texts("prefix", "-g --global"), texts("explain", "--json"), texts("why", "--json"), texts("pkg get", "--json"), texts("help", ""),
		}
	case "cargo":
		const features = "-F= --features= --all-features --no-default-features --offline --locked --frozen -q --quiet -v --color= "
		return []subcommand{
			texts("tree", features+"-p= --package= -e= --edges= -i? --invert? --prune= --depth= --duplicates -d --prefix= --charset= --format= -f= --target= --workspace", "--offline"),
			texts("metadata", features+"--no-deps --format-version= --filter-platform=", "--offline"),
			texts("pkgid", "-p= --package= --offline", "--offline"), texts("locate-project", "--workspace --message-format="), texts("--list", ""), texts("help", ""),
		}
	case "rustup":
		return []subcommand{texts("show", "-v --verbose"), texts("toolchain list", "-v --verbose"), texts("target list", "--installed"), texts("component list", "--installed")}
	case "rustc":
		return []subcommand{texts("--explain", ""), texts("--print", "")}
	case "apt":
		return []subcommand{texts("list", "-a --installed --upgradable --all-versions --manual-installed"), texts("show", "-a"), texts("search", "-n --names-only"), texts("policy", ""), texts("depends", ""), texts("rdepends", "")}
	case "apt-cache":
		return []subcommand{texts("policy", ""), texts("show", ""), texts("search", "-n --names-only"), texts("depends", ""), texts("rdepends", ""), texts("madison", "")}
	case "apt-mark":
		return []subcommand{texts("showauto", ""), texts("showmanual", ""), texts("showhold", "")}
	}
	return nil
}

// pipCommands are the subcommands of pip that look at installed packages. It would look for another
// version of itself.
func pipCommands() []subcommand {
	one := func(words, options string) subcommand {
		const common = " -v -q --verbose --quiet --user --local --exclude= --path: --no-color --disable-pip-version-check"
		return subcommand{words, program{
			options: options + common, operands: textOperands, ownParser: true, noDoubleDash: true,
			insertedWords: []string{"--disable-pip-version-check"}, check: plainNames,
		}}
	}
	return []subcommand{
		one("list", "--format= --editable -e --not-required --include-editable --exclude-editable"), one("show", "-f --files"),
		one("freeze", "--all -l --exclude-editable"), one("check", ""), one("config list", ""), one("help", ""),
	}
}

// acceptSubcommand accepts the subcommands of a program that only read.
func acceptSubcommand(name string, b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	for _, sub := range subcommandPrograms(name) {
		words := strings.Fields(sub.words)
		if len(args) < len(words) || !slices.EqualFunc(args[:len(words)], words, func(w Word, text string) bool { return w.literal() && w.text() == text }) {
			continue
		}
		one := sub.program
		one.insertedWords = append(words, one.insertedWords...)
		out, err := one.accept(b, quoteProgram(c.words[0].text()), args[len(words):])
		if err != nil {
			return nil, errorf("%s %s: %w", name, sub.words, err)
		}
		if name == "npm" {
			out.starts = []string{"node"}
		}
		return out, nil
	}
	what := name
	if len(args) > 0 {
		what += " " + args[0].source
	}
	return nil, errorf("%s is not known to be read-only", what)
}

// plainNames accepts words that no program takes for a file, a URL or an option.
func plainNames(o *parsedOptions) error {
	for _, w := range o.operands {
		if !w.literal() || !packageName.MatchString(w.text()) {
			return errorf("%s may be more than a name", w.source)
		}
	}
	return nil
}

var packageName = lazyregexp.New(`^[@A-Za-z0-9][A-Za-z0-9._*?+@:/=-]*$`)

// opensslOptions returns the options of a command of openssl that prints a certificate, a request, a
// list or a digest, "" for any other. None of them reads a private key or the network.
func opensslOptions(command string) string {
	switch command {
	case "x509":
		return "-in: -inform= -noout -text -subject -issuer -dates -startdate -enddate -fingerprint -serial -ext= -pubkey -sha256 -sha1 -checkend# -email " +
			"-purpose -nameopt= -certopt= -modulus -hash -issuer_hash"
	case "req":
		return "-in: -inform= -noout -text -subject -pubkey -verify -nameopt="
	case "crl":
		return "-in: -inform= -noout -text -issuer -lastupdate -nextupdate -fingerprint"
	case "asn1parse":
		return "-in: -inform= -i -strparse# -offset# -length#"
	case "dgst":
		return "-sha1 -sha224 -sha256 -sha384 -sha512 -md5 -r -hex -c"
	case "ciphers":
		return "-v -V -s -tls1_3"
	case "version":
		return "-a -v -b -o -f -p"
	case "list":
		return "-commands -digest-commands -cipher-commands -providers"
	}
	return ""
}

func acceptOpenssl(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	if len(args) > 0 && args[0].literal() {
		if options := opensslOptions(args[0].text()); options != "" {
			p := program{options: options, operands: noOperands, singleDash: true, noDoubleDash: true, ownParser: true, insertedWords: []string{args[0].text()}}
			if args[0].text() == "dgst" {
				p.operands = fileOperands
			}
			out, err := p.accept(b, quoteProgram(c.words[0].text()), args[1:])
			if err != nil {
				return nil, errorf("openssl %s: %w", args[0].text(), err)
			}
			return out, nil
		}
	}
	return nil, errors.New("openssl: it may use a private key or the network")
}

// pythonModules are the modules that "python3 -m" may run. The plain form has -I, so that Python
// finds no module of the project.
func acceptPython(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	if len(args) < 2 || !args[0].literal() || args[0].text() != "-m" || !args[1].literal() {
		return nil, errors.New("python: it runs a program")
	}
	name, rest := quoteProgram(c.words[0].text()), args[2:]
	switch args[1].text() {
	case "json.tool":
		p := program{
			options:  "--sort-keys --indent# --tab --no-indent --compact --json-lines --no-ensure-ascii",
			operands: fileOperands, maxOperands: 1, noDoubleDash: true, ownParser: true, insertedWords: []string{"-I", "-m", "json.tool"},
		}
		return p.accept(b, name, rest)
	case "pip":
		out, err := acceptSubcommand("pip", b, c, rest)
		if err == nil {
			out.words = slices.Concat([]string{name, "-I", "-m", "pip"}, out.words[1:])
		}
		return out, err
	}
	return nil, errorf("python -m %s is not known to be read-only", args[1].source)
}
