package permission_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"
)

// reader describes a program that reads, independently of the policy's table:
// which of its options take a value, and which do harm.
type reader struct {
	values string   // short options that take a value
	long   []string // long options that take a value in the next word
	harm   []string // options that write, run or read more, with any value
	texts  int      // operands that are no files: 0, 1 (a pattern), or all (-1)
	most   int      // operands after which the next one is written; 0 means none
}

const all = -1

var readers = map[string]reader{
	"ls":  {values: "ITw", long: []string{"--ignore", "--hide", "--sort", "--time", "--format", "--time-style", "--indicator-style", "--tabsize", "--width"}},
	"cat": {}, "tac": {values: "s", long: []string{"--separator"}}, "rev": {},
	"head": {values: "nc", long: []string{"--lines", "--bytes"}}, "tail": {values: "ncs", long: []string{"--lines", "--bytes", "--pid", "--sleep-interval"}},
	"wc": {harm: []string{"--files0-from"}}, "nl": {values: "bdfhilnsvw"},
	"od": {values: "AjNtSw", long: []string{"--address-radix", "--format", "--skip-bytes", "--read-bytes"}},
	"sort": {values: "kStT", long: []string{"--key", "--field-separator", "--buffer-size", "--sort", "--parallel", "--batch-size", "--random-source"},
		harm: []string{"-o", "--output", "-T", "--temporary-directory", "--compress-program", "--files0-from", "--random-source"}},
	"uniq": {values: "fsw", long: []string{"--skip-fields", "--skip-chars", "--check-chars"}, most: 1},
	"cut":  {values: "bcdf", long: []string{"--bytes", "--characters", "--delimiter", "--fields", "--output-delimiter"}},
	"tr":   {texts: all}, "comm": {long: []string{"--output-delimiter"}}, "paste": {values: "d", long: []string{"--delimiters"}}, "join": {values: "12aeotvj"},
	"fold": {values: "w", long: []string{"--width"}}, "fmt": {values: "wpg", long: []string{"--width", "--prefix", "--goal"}},
	"column": {values: "csolNRTHEWidrpnO"}, "expand": {values: "t", long: []string{"--tabs"}}, "unexpand": {values: "t", long: []string{"--tabs"}},
	"pr": {values: "hlwWoNDseStn"},
	"diff": {values: "UCWFIxXSD", long: []string{"--label", "--ifdef", "--exclude"},
		harm: []string{"-l", "--paginate", "-r", "--recursive", "--from-file", "--to-file", "-X", "--exclude-from"}},
	"cmp":  {values: "in", long: []string{"--ignore-initial", "--bytes"}},
	"stat": {values: "c", long: []string{"--format", "--printf"}},
	"file": {values: "FemfP", harm: []string{"-C", "--compile", "-m", "--magic-file", "-f", "--files-from", "-z", "-Z", "-S"}},
	"du": {values: "dBtX", long: []string{"--max-depth", "--block-size", "--threshold", "--exclude", "--time-style"},
		harm: []string{"--files0-from", "-L", "--dereference", "-D", "-H", "-X", "--exclude-from"}}, "df": {values: "Btx"},
	"base64": {values: "w", long: []string{"--wrap"}},
	"grep": {values: "efmABCdD",
		long: []string{"--regexp", "--file", "--max-count", "--after-context", "--before-context", "--context", "--include", "--exclude", "--exclude-dir",
			"--label", "--binary-files", "--directories", "--devices"}, harm: []string{"-R", "--dereference-recursive"}, texts: 1},
	"rg": {values: "efgtTABCmdMErj",
		long: []string{"--regexp", "--file", "--glob", "--iglob", "--type", "--type-not", "--color", "--sort", "--sortr", "--max-depth", "--max-count",
			"--max-columns", "--context", "--replace", "--threads"}, harm: []string{"--pre", "--hostname-bin", "-z", "--search-zip", "-L", "--follow"}, texts: 1},
	"fd":     {values: "etdESjc", harm: []string{"-x", "-X", "--exec", "--exec-batch", "-l", "--list-details", "-L", "--follow"}, texts: 1},
	"fdfind": {values: "etdESjc", harm: []string{"-x", "-X", "--exec", "--exec-batch", "-l", "--list-details", "-L", "--follow"}, texts: 1},
	"tree":   {values: "LIPoTH", harm: []string{"-o", "--output", "-R", "-l"}}, "strings": {values: "netsT", long: []string{"--bytes", "--radix", "--encoding"}},
	"hexdump": {values: "efns"}, "xxd": {values: "lscg", most: 1},
	"readlink": {}, "realpath": {}, "md5sum": {harm: []string{"-c", "--check"}}, "sha1sum": {harm: []string{"-c", "--check"}},
	"sha256sum": {harm: []string{"-c", "--check"}}, "sha512sum": {harm: []string{"-c", "--check"}}, "shasum": {values: "a", harm: []string{"-c", "--check"}},
	"b2sum": {values: "l", harm: []string{"-c", "--check"}}, "cksum": {harm: []string{"-c", "--check"}}, "sum": {},
	"basename": {values: "s", texts: all}, "dirname": {texts: all}, "seq": {values: "fs", texts: all}, "sleep": {texts: all}, "which": {texts: all},
	"type": {texts: all}, "expr": {texts: all}, "echo": {texts: all}, "true": {texts: all}, "false": {texts: all}, ":": {texts: all}, "pwd": {},
	"cd":    {texts: all},
	"uname": {}, "id": {texts: all}, "whoami": {}, "hostname": {most: all}, "uptime": {}, "free": {values: "sc"}, "nproc": {},
	"date": {values: "drIf", long: []string{"--date", "--reference"}, harm: []string{"-s", "--set", "-f", "--file"}, texts: all},
	"ps":   {values: "opCuUgGt", texts: all},
	"set":  {texts: all}, "exit": {texts: all}, "break": {texts: all}, "continue": {texts: all}, "shuf": {values: "nioe", harm: []string{"-o", "--output"}},
	"gofmt": {harm: []string{"-w", "-cpuprofile", "-r"}}, "test": {texts: all}, "[": {texts: all}, "getconf": {texts: all}, "groups": {texts: all}, "tty": {},
	"arch": {}, "lscpu": {}, "cal": {texts: all},
	"factor": {texts: all}, "numfmt": {values: "d", texts: all}, "tsort": {}, "bc": {most: all}, "locale": {texts: all}, "printenv": {texts: all},
	"lsb_release": {}, "size": {values: "t"}, "nm": {values: "t", harm: []string{"--plugin"}},
	"readelf":    {values: "xpwR", harm: []string{"-w", "--debug-dump", "--dwarf-start"}},
	"objdump":    {values: "jMbm", harm: []string{"--dwarf", "-W", "-K", "-L", "--process-links"}},
	"yq":         {values: "opI", harm: []string{"-i", "--inplace", "-f", "--from-file", "-s", "--split-exp"}, texts: 1},
	"bat":        {values: "lrmH", long: []string{"--style", "--theme"}, harm: []string{"--pager", "--config-file", "-E"}},
	"shellcheck": {values: "efiosSW", harm: []string{"--rcfile", "-P", "--source-path"}},
	"xmllint":    {long: []string{"--xpath", "--encode", "--pretty"}, harm: []string{"--output", "-o", "--shell", "--push", "--load-trace"}},
}

// queries are programs with many commands, by the first words of those that only read.
var queries = map[string][]string{
	"openssl": {"x509", "req", "crl", "asn1parse", "dgst", "ciphers", "version", "list"},
	"npm":     {"ls", "list", "root", "prefix", "explain", "why", "pkg", "help"}, "pip": {"list", "show", "freeze", "check", "config", "help"},
	"cargo": {"tree", "metadata", "pkgid", "locate-project", "--list", "help"}, "apt": {"list", "show", "search", "policy", "depends", "rdepends"},
	"apt-cache": {"policy", "show", "search", "depends", "rdepends", "madison"},
	"dpkg":      {"-l", "-s", "-L", "-S", "-p", "--list", "--status", "--listfiles", "--search"}, "python3": {"-I"}, "bash": {"-n"}, "node": {"-c", "--check"},
	"rustup": {"show", "toolchain"},
}

// harm describes the possible effects of a command other than reading inside
// the test directory; "" means none. In doubt it reports harm.
func harm(td *commands.TestDir, dir string, words []string) string {
	name, args := filepath.Base(words[0]), words[1:]
	if len(args) == 1 && slices.Contains([]string{"--version", "-V", "-v", "-version", "--help"}, args[0]) && name != "command" {
		return ""
	}
	switch name {
	case "timeout", "nice":
		for i, a := range args {
			if a != "-n" && strings.Trim(a, "-0123456789.smhd") != "" {
				return harm(td, dir, args[i:])
			}
		}
		return "runs what is unknown"
	case "env":
		for i, a := range args {
			if n, _, ok := strings.Cut(a, "="); !ok {
				return harm(td, dir, args[i:])
			} else if !settings.MatchString(n + "=") {
				return "sets " + n
			}
		}
		return "shows the environment"
	case "xargs":
		for i, a := range args {
			if !slices.Contains([]string{"-0", "-r", "-n", "-d", "-L", "-I", "-t", "{}", "%", "1", "\\n"}, a) && !(strings.HasPrefix(a, "-") && strings.Trim(a[1:],
				"0rtnLIP123456789") == "") {
				return harm(td, dir, args[i:])
			}
		}
		return ""
	case "find":
		return findHarm(td, dir, args)
	case "git":
		return gitHarm(td, dir, args)
	case "go":
		return goHarm(args)
	case "command":
		if len(args) > 0 && (args[0] == "-v" || args[0] == "-V") {
			return ""
		}
		return "runs another command"
	case "printf":
		if len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--" {
			return "sets a variable"
		}
		return ""
	case "sed":
		return scriptHarm(td, dir, args, "efl", sedHarm, []string{"-i", "--in-place", "-f", "--file", "-s"})
	case "awk", "gawk", "mawk":
		return scriptHarm(td, dir, args, "Fvf", func(script string) bool {
			_, printed, _ := strings.Cut(script, "print")
			return strings.ContainsAny(printed, ">|") || slices.ContainsFunc([]string{"@", "system", "getline", "ENVIRON", "ARGV"}, func(s string) bool {
				return strings.Contains(script, s)
			})
		}, []string{"-f", "--file", "-i", "-l", "-E", "-o", "-p", "-d", "-D"})
	case "jq":
		return scriptHarm(td, dir, args, "fL", func(script string) bool {
			if !strings.Contains(script, "..") {
				script = strings.ReplaceAll(script, ".env", "")
			}
			return strings.Contains(strings.ReplaceAll(script, " ", ""),
				"$ENV") || slices.Contains(strings.FieldsFunc(script, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }), "env")
		}, []string{"-f", "--from-file", "-L", "--rawfile", "--slurpfile", "--argfile"})
	}
	if list, ok := queries[name]; ok {
		bad := func(a string) bool {
			return slices.ContainsFunc([]string{"-out", "-writerand", "-sign", "-engine", "-provider", "--prefix", "--target", "--manifest-path", "--config", "-i",
				"--install", "-r", "--root", "--index-url"}, func(b string) bool { return a == b || strings.HasPrefix(a, b+"=") })
		}
		if len(args) == 0 || !slices.Contains(list, args[0]) || slices.ContainsFunc(args, bad) {
			return fmt.Sprintf("runs %s %q", name, args)
		}
		return ""
	}
	if slices.Contains([]string{"test", "["}, name) {
		if i := slices.Index(args, "-v"); i >= 0 && i+1 < len(args) && strings.Contains(args[i+1], "[") {
			return "evaluates a subscript"
		}
		return ""
	}
	r, ok := readers[strings.TrimPrefix(strings.TrimPrefix(name, "e"), "f")] // egrep, fgrep
	if !ok {
		r, ok = readers[name]
	}
	if !ok {
		return "is a program that is not known to be read-only"
	}
	return r.check(td, dir, args)
}

// check parses the words as getopt does.
func (r reader) check(td *commands.TestDir, dir string, args []string) string {
	var operands []string
	bad := func(option string) bool {
		return slices.ContainsFunc(r.harm, func(h string) bool {
			return h == option || strings.HasPrefix(option, "--") && len(option) > 3 && strings.HasPrefix(h, option)
		})
	}
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch {
		case r.texts == all && !strings.HasPrefix(a, "-"):
			operands = append(operands, a)
		case a == "--":
			operands, args = append(operands, args...), nil
		case a == "-" || !strings.HasPrefix(a, "-"):
			operands = append(operands, a)
		case strings.HasPrefix(a, "--"):
			option, _, glued := strings.Cut(a, "=")
			if bad(option) {
				return "has the option " + option
			}
			if !glued && len(args) > 0 && slices.ContainsFunc(r.long, func(l string) bool { return strings.HasPrefix(l, option) }) {
				args = args[1:]
			}
		default:
			if len(r.harm) > 0 && bad(a) {
				return "has the option " + a
			}
			for i, c := range a[1:] {
				if bad("-" + string(c)) {
					return "has the option -" + string(c)
				}
				if strings.ContainsRune(r.values, c) {
					if i+1 == len(a)-1 && len(args) > 0 {
						args = args[1:]
					}
					break
				}
			}
		}
	}
	if r.most > 0 && len(operands) > r.most {
		return "writes its last operand"
	}
	if r.most == all && len(operands) > 0 {
		return "sets its operands"
	}
	if r.texts == all {
		return ""
	}
	for _, o := range operands[min(r.texts, len(operands)):] {
		if outside(td, dir, o) {
			return "reads " + o
		}
	}
	return ""
}

// outside reports whether name is an existing file outside the working directory. The box keeps a
// command from following a link out of it.
func outside(td *commands.TestDir, dir, name string) bool {
	if strings.HasPrefix(name, "@") {
		return true
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if name == "/dev/null" || strings.HasPrefix(name, "/dev/std") || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name,
		td.Dir+string(filepath.Separator)) {
		return false
	}
	system := func(dir string) bool { return strings.HasPrefix(name, dir) }
	if slices.ContainsFunc([]string{"/usr/", "/bin/", "/etc/os-release", "/etc/hostname", "/proc/version", "/proc/meminfo"}, system) {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// scriptHarm checks a program whose script is its first operand or the value of
// -e.
func scriptHarm(td *commands.TestDir, dir string, args []string, values string, bad func(string) bool, options []string) string {
	r := reader{values: values, harm: options, texts: 1}
	first := true
	for i, a := range args {
		script := first && !strings.HasPrefix(a, "-")
		switch {
		case i > 0 && (args[i-1] == "-e" || args[i-1] == "--expression"):
			script, first = true, false
		case strings.HasPrefix(a, "--expression="):
			_, a, _ = strings.Cut(a, "=")
			script, first = true, false
		case i > 0 && strings.HasPrefix(args[i-1], "-") && len(args[i-1]) == 2 && strings.Contains(values, args[i-1][1:]):
			script = false
		}
		if script && bad(a) {
			return "has the script " + a
		}
		first = first && !script
	}
	return r.check(td, dir, args)
}

// sedHarm reports whether a sed script may write, run or read a file in any
// version of sed. In GNU sed a delimiter in brackets ends a pattern, in others
// it does not.
func sedHarm(script string) bool { return sedHarms(script, false) || sedHarms(script, true) }

func sedHarms(script string, brackets bool) bool {
	for script != "" {
		c := script[0]
		script = script[1:]
		switch {
		case c == '/':
			_, script = delimited(script, c, brackets)
		case c == 's' && script != "":
			delimiter := script[0]
			_, rest := delimited(script[1:], delimiter, brackets)
			ended, rest := delimited(rest, delimiter, false)
			flags := rest[:len(rest)-len(strings.TrimLeft(rest, "gIiMmp0123456789 we"))]
			if ended && strings.ContainsAny(flags, "we") {
				return true
			}
			script = rest[len(flags):]
		case strings.IndexByte("wWerRF", c) >= 0:
			return true
		}
	}
	return false
}

// delimited returns the text after the first delimiter, and whether there is
// one.
func delimited(text string, delimiter byte, brackets bool) (ended bool, rest string) {
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && !inside:
			i++
		case c == '[' && brackets:
			inside = true
		case c == ']':
			inside = false
		case c == delimiter && !inside:
			return true, text[i+1:]
		}
	}
	return false, ""
}

func findHarm(td *commands.TestDir, dir string, args []string) string {
	values := []string{"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-lname", "-printf", "-type", "-maxdepth", "-mindepth", "-size",
		"-newer", "-mtime", "-mmin", "-perm", "-user", "-group", "-samefile"}
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(values, args[i]):
			i++
		case args[i] == "-exec":
			end := i + 1
			for end < len(args) && args[end] != ";" && args[end] != "+" {
				end++
			}
			inner := args[i+1 : end]
			if end == len(args) || len(inner) < 2 || inner[len(inner)-1] != "{}" {
				return "has the action -exec"
			}
			if why := harm(td, dir, inner[:len(inner)-1]); why != "" {
				return why
			}
			i = end
		case slices.Contains([]string{"-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-L", "-H", "-follow", "-files0-from"},
			args[i]):
			return "has the action " + args[i]
		case i == 0 && outside(td, dir, args[i]):
			return "reads " + args[i]
		}
	}
	return ""
}

func gitHarm(td *commands.TestDir, dir string, args []string) string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch name, _, _ := strings.Cut(args[0], "="); {
		case args[0] == "-c" && len(args) > 1:
			key, value, _ := strings.Cut(args[1], "=")
			if !slices.Contains([]string{"", "false", "/dev/null", "never", "cat", "true", "no", "0", "all", "dirty"}, value) {
				return "sets " + key
			}
			args = args[2:]
		case args[0] == "-C" && len(args) > 1:
			if !strings.HasPrefix(filepath.Join(dir, args[1])+"/", td.Dir+"/") {
				return "goes to " + args[1]
			}
			args = args[2:]
		case slices.Contains([]string{"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--no-lazy-fetch"}, name):
			args = args[1:]
		default:
			return "has the option " + args[0]
		}
	}
	if len(args) == 0 {
		return ""
	}
	looks := []string{"blame", "branch", "cat-file", "check-ignore", "cherry", "config", "count-objects", "describe", "diff", "diff-files", "diff-index",
		"diff-tree", "for-each-ref", "grep", "log", "ls-files", "ls-tree", "merge-base", "symbolic-ref", "submodule", "help", "notes", "bisect", "range-diff",
		"whatchanged", "check-mailmap", "check-attr", "name-rev", "reflog", "remote", "rev-list", "rev-parse", "shortlog", "show", "show-ref", "stash", "status",
		"tag", "version", "worktree"}
	if !slices.Contains(looks, args[0]) {
		return "runs git " + args[0]
	}
	bad := []string{"--output", "--ext-diff", "--textconv", "--open-files-in-pager", "--contents", "--filters", "--show-signature", "--upload-pack"}
	for i, a := range args[1:] {
		if a == "--" && args[0] != "blame" && !slices.Contains([]string{"-S", "-G", "-e", "-f", "-A", "-O", "-L", "-n", "--grep", "--author"}, args[i]) {
			break
		}
		name, _, _ := strings.Cut(a, "=")
		if slices.ContainsFunc(bad, func(b string) bool { return len(name) > 4 && strings.HasPrefix(b, name) }) || args[0] == "grep" && strings.HasPrefix(a, "-O") {
			return "has the option " + a
		}
		if strings.Contains(a, "%G") && !slices.Contains([]string{"grep", "branch"}, args[0]) {
			return "verifies signatures"
		}
	}
	changes := map[string][]string{
		"submodule": {"add", "update", "init", "deinit", "foreach", "sync", "absorbgitdirs", "set-url"},
		"notes":     {"add", "edit", "remove", "prune", "append", "copy"}, "bisect": {"start", "run", "reset", "good", "bad"}, "help": {"-w", "--web", "-i"},
		"branch": {"-d", "-D", "-m", "-M", "-c", "-C", "-f", "-u", "--delete", "--move", "--copy", "--force", "--edit-description", "--unset-upstream"},
		"tag":    {"-d", "-a", "-s", "-f", "-m", "--delete"},
		"stash":  {"drop", "pop", "push", "clear", "apply", "save", "store", "branch", "create", "-q", "-m"},
		"remote": {"add", "remove", "rm", "rename", "set-url", "update", "prune", "show"}, "reflog": {"expire", "delete"},
		"worktree": {"add", "remove", "prune", "lock", "move"},
		"config":   {"--add", "--unset", "--global", "-f", "--file", "-e", "--edit", "--replace-all", "--remove-section"},
	}
	for _, a := range args[1:] {
		if slices.Contains(changes[args[0]], a) {
			return fmt.Sprintf("runs git %s %s", args[0], a)
		}
	}
	return ""
}

func goHarm(args []string) string {
	if len(args) == 0 {
		return ""
	}
	if !slices.Contains([]string{"version", "env", "list", "help"}, args[0]) {
		return "runs go " + args[0]
	}
	for _, a := range args[1:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if slices.Contains([]string{"-toolexec", "-w", "-u", "-export", "-compiled", "-overlay", "-modfile", "-debug-trace", "-trace", "-pkgdir", "-exec",
			"-vettool", "-mod", "-debug-actiongraph", "-test", "-C", "toolexec", "w", "u", "export", "compiled", "overlay", "modfile", "debug-trace"},
			name) && strings.HasPrefix(a, "-") {
			return "has the option " + a
		}
	}
	return ""
}

// The check itself must detect harm.
func TestHarm(t *testing.T) {
	pool := newPool(t)
	td := take(t, pool, "plain")
	defer giveBack(t, td)
	for line, want := range map[string]bool{
		"ls -la": false, "sort -k 2 in": false, "sort -oPWN in": true, "sort -no PWN in": true, "sort --outp=PWN in": true, "sort -t -- -o PWN in": true,
		"sort -- -o": false, "uniq in PWN": true, "uniq -f 1 in": false, "find . -name -exec": false, "find . -delete": true, "find . -exec cat {} ;": false,
		"find . ( ! -type l -exec cat -- {} + )": false, "find . -exec ls -l {} ;": false, "find . ! -type l -exec touch {} ;": true,
		"cat ../out/secret.txt": true, "cat a.txt": false, "grep link a.txt": false, "git log --output=PWN": true, "git -c core.pager=x log": true,
		"git log -- --output=PWN": false, "git branch x": false, "git branch -D x": true, "touch PWN": true, "timeout 5 touch x": true, "xargs -0 wc -l": false,
		"xargs touch":        true,
		"rg -e -- --pre=x .": true, "rg --pre x": true, "tree -o x": true, "sed -n 1,5p in": false, "sed -i p in": true, "sed -n /ewe/,$p in": false,
		"sed -n 1wPWN in": true, "sed s/e/w/g in": false, "sed s/x/y/w in": true, `sed s/a\/b/p;/e#/p in`: true, `sed s/[/]/p;/wPWN/p in`: true,
		`sed s/[wer]\/x/e/g in`: false, "sed -n 3p cat": false, "jq . a.txt": false, "jq $ENV": true, "date +%s": false, "date -s 1": true, "test -v a[b]": true,
		"go env -w A=b": true, "go list ./...": false, "env": true, "command ls": true,
	} {
		if got := harm(td, td.Dir, strings.Fields(line)); (got != "") != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}
