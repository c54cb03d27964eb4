package permission_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"
)

var (
	scriptCount = flag.Int("scripts", 3000, "how many generated scripts TestDifferential judges")
	scriptSeed  = flag.Uint64("seed", 1, "the seed of these scripts")
)

// TestDifferential checks generated scripts and runs the allowed ones in a bash
// in which every program only records its words. Each recorded command must be
// in the printed script, as a reader of a few dozen lines parses it. It must be
// harmless by an independent check, and must not have written a file.
func TestDifferential(t *testing.T) {
	pool := newPool(t)
	td := take(t, pool, "plain")
	gen := newGenerator(t, *scriptSeed)
	var batch []allowedScript
	allowed, scripts := 0, commands.Scale(*scriptCount)
	for n := range scripts {
		script := gen.script()
		if printed, ok, _ := decideScript(t, td, "ask", script); ok {
			allowed++
			batch = append(batch, allowedScript{script, printed})
		}
		if len(batch) == 400 || n == scripts-1 {
			td = runBatch(t, pool, td, batch)
			batch = nil
		}
	}
	if allowed < scripts/50 {
		t.Errorf("only %d of %d scripts run without a question", allowed, scripts)
	}
	t.Logf("%d of %d scripts run without a question", allowed, scripts)
}

// allowedScript is a script that may run without a question: its original text
// and the form that runs.
type allowedScript struct{ written, printed string }

// runBatch runs scripts in one bash and checks what it recorded. It returns the
// directory for the next batch.
func runBatch(t *testing.T, pool *commands.Pool, td *commands.TestDir, batch []allowedScript) *commands.TestDir {
	t.Helper()
	for i, ran := range record(t, td, batch) {
		check(t, td, batch[i], ran)
	}
	if changed := giveBack(t, td); len(changed) > 0 {
		if len(batch) == 1 {
			t.Errorf("%q, which runs as %q, changed %q", batch[0].written, batch[0].printed, changed)
			return take(t, pool, "plain")
		}
		for half := range slices.Chunk(batch, (len(batch)+1)/2) { // find the script
			td = runBatch(t, pool, take(t, pool, "plain"), half)
		}
		return td
	}
	return take(t, pool, "plain")
}

// check compares the commands that bash ran with the text of the script.
func check(t *testing.T, td *commands.TestDir, s allowedScript, ran []recorded) {
	t.Helper()
	says, err := readPlain(s.printed)
	if err != nil {
		t.Errorf("%q runs as %q, which is not of the plain grammar: %v", s.written, s.printed, err)
		return
	}
	for _, r := range ran {
		if !slices.ContainsFunc(says, func(c plainCommand) bool { return c.fits(r.words) }) {
			t.Errorf("%q runs as %q, and bash ran %q, which is not in it", s.written, s.printed, r.words)
		}
		if why := harm(td, r.dir, r.words); why != "" {
			t.Errorf("%q runs as %q, and %q %s", s.written, s.printed, r.words, why)
		}
	}
}

// recorded is one command that bash ran.
type recorded struct {
	dir   string
	words []string
}

// recorder is the prologue of a bash in which builtins and programs only record
// their words. Descriptor 9 receives the number of words, the directory and the
// words, each ended by NUL: each script has a file of its own, since a process
// substitution may outlive its script. Descriptor 7 is the output, which ends with
// the last process. A name with a slash runs a real program; the programs of the
// test directory record their own calls.
const recorder = `
builtin exec 7>&1
n=0
rec() { builtin printf '%s\0' "$#" "$PWD" "$@" >&9; }
command_not_found_handle() { rec "$@"; return 0; }
for name in . : [ alias bind caller command compgen complete declare dirs disown echo enable eval exec export false fc getopts hash history \
	jobs kill let local logout mapfile popd printf pushd readarray readonly set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait
do
	[[ $name == "[" ]] && builtin eval '[() { rec "[" "$@"; }' && continue
	builtin eval "function $name { rec $name \"\$@\"; $([[ $name == false ]] && builtin echo 'builtin return 1;') }"
done
cd() { rec cd "$@"; builtin cd "$@"; }
PATH=/nonexistent
while IFS= builtin read -r -d '' script <&8; do
	( builtin eval "$script" ) 8<&- </dev/null >/dev/null 2>&1 9>>"$out/$n"
	n=$((n+1))
done
builtin true
`

// record runs scripts in one bash and returns the recorded commands of each.
func record(t *testing.T, td *commands.TestDir, batch []allowedScript) [][]recorded {
	t.Helper()
	if len(batch) == 0 {
		return nil
	}
	dir := t.TempDir()
	var text bytes.Buffer
	for _, s := range batch {
		text.WriteString(s.printed + "\x00")
	}
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, "-c", "exec 8<"+in+"; out="+dir+recorder)
	cmd.Dir, cmd.Env = td.Dir, td.Env()
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("bash: %v\n%s", err, text)
	}
	all := make([][]recorded, 0, len(batch))
	for n, script := range batch {
		log, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n)))
		if err != nil {
			t.Fatalf("bash did not run script %d of %d, %q: %v", n, len(batch), script.printed, err)
		}
		all = append(all, readRecords(t, string(log)))
	}
	return all
}

// readRecords parses the records of one script.
func readRecords(t *testing.T, log string) (ran []recorded) {
	t.Helper()
	for parts := strings.Split(log, "\x00"); len(parts) > 1; {
		n, err := strconv.Atoi(parts[0])
		if err != nil || n+2 > len(parts) {
			t.Fatalf("a record that cannot be read: %q", parts[:min(len(parts), 5)])
		}
		ran, parts = append(ran, recorded{parts[1], parts[2 : 2+n]}), parts[2+n:]
	}
	return ran
}

// generator makes scripts from the words of the lists and from words that do
// harm in the wrong position.
type generator struct {
	*rand.Rand
	daily, hostile []string // the lists
}

func newGenerator(t testing.TB, seed uint64) *generator {
	t.Helper()
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 11))}
	daily, err := commands.Daily("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range daily {
		g.daily = append(g.daily, s.Text)
	}
	for _, s := range hostile(t) {
		if s.Tree == "plain" {
			g.hostile = append(g.hostile, s.Text)
		}
	}
	return g
}

func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }

// script returns a random script: from a grammar, or from the lists with a
// change.
func (g *generator) script() string {
	text := g.listed()
	if g.IntN(3) == 0 {
		text = g.statement(2)
	}
	for range g.IntN(4) {
		text = g.change(text)
	}
	return text
}

// listed returns a script of the lists, more often an allowed one.
func (g *generator) listed() string {
	if g.IntN(4) == 0 {
		return g.pick(g.hostile...)
	}
	return g.pick(g.daily...)
}

// change makes one change to a script.
func (g *generator) change(text string) string {
	words := strings.Split(text, " ")
	at := g.IntN(len(words))
	switch g.IntN(9) {
	case 0:
		words[at] = g.word()
	case 1:
		words = slices.Insert(words, at, g.word())
	case 2:
		words = slices.Insert(words, at, g.pick("--", "-e --", "-S --", "-k --", "-name --", "-o", "-T --"))
	case 3:
		words[at] = g.spell(words[at])
	case 4:
		words = slices.Delete(words, at, at+1)
	case 5:
		return text + g.separator() + g.statement(1)
	case 6:
		return g.wrap(text)
	case 7:
		words = append(words, g.redirect())
	case 8:
		other := strings.Split(g.listed(), " ")
		words = append(words[:at:at], other[g.IntN(len(other)):]...)
	}
	return strings.Join(words, " ")
}

func (g *generator) separator() string {
	return g.pick("; ", " && ", " || ", " | ", "\n", " |& ", " & ", ";", "|", " ; ! ", " # x\n", " \\\n && ")
}

// statement returns a statement with at most this nesting depth.
func (g *generator) statement(deep int) string {
	if deep == 0 || g.IntN(3) > 0 {
		return g.simple()
	}
	a, b := g.statement(deep-1), g.statement(deep-1)
	return g.pick(
		a+g.separator()+b, g.wrap(a), "for f in "+g.words(3)+"; do "+a+"; done", "if "+a+"; then "+b+"; fi", "! "+a, "( "+a+"; "+b+" )", "{ "+a+"; "+b+"; }",
		"x="+g.word()+"; "+a, "for x in "+g.word()+"; do "+g.simple()+` "$x"; done`, "for x in *; do "+g.simple()+` $x; done`, "while "+a+"; do "+b+"; done",
		"case "+g.word()+" in "+g.word()+") "+a+";; esac",
		"cd "+g.pick("src", "..", "sub/deep", "~", "linkdir", "-", ".", "../out", `"$PWD"`)+g.pick(" && ", "; ", " || ")+a, "f() { "+a+"; }; f",
		a+" | xargs "+g.simple(), "echo $("+a+")", `echo "$(`+a+`)"`, "cat <("+a+")", "cat <<E\n"+a+"\nE",
	)
}

func (g *generator) wrap(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	return g.pick("bash -c "+quoted, "timeout 5 "+text, "nice "+text, "env X=1 "+text, "( "+text+" )", "echo `"+text+"`", "echo $("+text+")", "{ "+text+"; }",
		"! "+text, "time "+text, "eval "+quoted, "command "+text, "LANG=C "+text, "PATH=bin "+text,
		"x="+quoted+"; $x", "if "+text+"; then ls; fi", text+" 2>/dev/null", text+" | head", text+" || true", "cd src && "+text, "xargs "+text,
		"find . -name in | xargs "+text, "for i in 1 2; do "+text+"; done", text+" > /dev/null 2>&1")
}

func (g *generator) simple() string {
	text := g.program() + " " + g.words(g.IntN(5))
	if g.IntN(6) == 0 {
		text = g.pick("LANG", "LC_ALL", "PATH", "x", "RANDOM", "GIT_PAGER", "IFS", "NO_COLOR") + "=" + g.word() + " " + text
	}
	if g.IntN(5) == 0 {
		text += " " + g.redirect()
	}
	return text
}

func (g *generator) program() string {
	if g.IntN(12) == 0 {
		return g.pick("touch PWN", "./evil", "bin/evil", "rm in", "tee PWN", "sh -c 'touch PWN'", "$x", "eval", "exec", "source", "xargs", "env", "trap",
			"declare", "export", "read", "printf -v x", "mapfile", "let", "set", "alias", "enable", "hash", "test -v", "[ -v", "cp in", "coproc", "-x", "=", "%1",
			"fi", "'for'", "time")
	}
	return g.pick("ls", "cat", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "diff", "cmp", "comm", "grep", "rg", "find", "find .", "fd", "tree", "stat",
		"file", "du", "df", "sed -n", "sed", "awk", "jq", "git log", "git diff", "git show", "git status", "git blame", "git grep",
		"git ls-files", "git branch", "git tag", "git stash list", "git config --get", "git remote", "git rev-parse", "git -C sub diff", "git --no-pager log",
		"go list", "go env", "go version", "gofmt", "node --version", "echo", "printf", "test", "[", "cd", "true", "pwd", "date", "ps", "xargs cat",
		"xargs -0 grep x",
		"basename", "realpath", "which", "seq", "expr", "nl", "od", "strings", "base64", "column", "paste", "sleep", "set -e", "exit", "command -v", "type")
}

func (g *generator) words(n int) string {
	var list []string
	for range n {
		list = append(list, g.spell(g.word()))
	}
	return strings.Join(list, " ")
}

func (g *generator) word() string {
	switch g.IntN(4) {
	case 0: // harmless words
		return g.pick("a.txt", "b.txt", "in", "src", "sub/deep", ".", "*.go", "src/*.go", "*.txt", "main.go", "'with space'", "x", "1", "10", "HEAD", "HEAD~1",
			"HEAD:main.go", "main", "'*.go'", "TODO", "README.md", "data.csv", "package.json", "'{print $1}'", "'.[0]'", "1,5p", "/x/p", "%h", "+%s")
	case 1: // options
		return g.pick("-n", "-l", "-a", "-r", "-c", "-e", "-i", "-5", "-n5", "-name", "-type", "f", "--stat", "--oneline", "-1", "-p", "-S", "-k", "-t", "-k1",
			"-t,", "-f", "-d", "-L", "-m", "-w", "-F", "-E", "-x", "-H", "-R", "-P", "-C", "-A", "-B", "-I", "-U3", "--", "-", "--color=never", "--format=%h",
			"--include=*.go", "-maxdepth", "-print0", "-0", "-print", "-not", "!", "\\(", "\\)", "-path", "-o", "-a", "-newer", "--no-pager", "--all", "--cached",
			"--name-only", "-u", "-s", "-v", "-z", "-q", "-h", "-b")
	case 2: // words that do harm in some position
		return g.pick("-oPWN", "-o PWN", "--output=PWN", "--outp=PWN", "--output PWN", "-delete", "-exec touch PWN \\;", "-exec bin/evil {} +", "-fprint PWN",
			"-fprintf PWN x", "-ok touch PWN \\;", "--pre=./evil", "--pre ./evil", "-O./evil", "--open-files-in-pager=./evil", "--ext-diff", "--textconv",
			"-x touch PWN", "-X touch",
			"--compress-program=./evil", "--files0-from=list0", "-f list", "-flist", "@list", "-T .", "-w", "-i", "--in-place", "-toolexec=./evil", "-vettool=./evil",
			"-C -m magic", "-s 2000-01-01", "../out/secret.txt", "link", "linkdir/secret.txt", "~/.netrc", "$HOME/.netrc", "/etc/passwd", "/proc/self/environ",
			"$SECRET_TOKEN", "'w PWN'", "'1e touch PWN'", "'s/x/y/w PWN'", `'s/a\/b/p;/e#/p'`, `'s|a[|]b|c|p;|w PWN|p'`, `'/[/ {print "]/ {system($0) } #"}'`,
			"'BEGIN{system(\"touch PWN\")}'", "'{print > \"PWN\"}'", "'$ENV'", "'env'", "--rawfile x link", "--no-index", "PWN", "in PWN", "- PWN",
			"-v 'a[$(touch PWN)]'", "a[$(touch PWN)]", "--git-dir=sub", "-c core.pager=./evil", "--upload-pack=./evil", "-S'touch PWN'", "-- -oPWN",
			"-e -- --pre=./evil", "%G?", "--format=%G?", "--show-signature", "-L", "-R", "--follow", "--dereference")
	default: // words that a shell expands
		return g.pick("$x", `"$x"`, "${x}", "${x:-PWN}", "$(touch PWN)", "`touch PWN`", `"$(touch PWN)"`, "<(touch PWN)", ">(touch PWN)", "${x:-'$(touch PWN)'}",
			`"${x:-'$(touch PWN)'}"`, "$((1+1))", "$[1]", "$'a\\nb'", "$'\\x41'", "$'\\c'", "$\"x\"", "{a,b}", "{-o,PWN,in}", "{1..3}", "-{n,oPWN}", "*", "?",
			"[a-c]*", "-*", "-?PWN", "?oPWN", "~", "~+", "~root", "~/x", "$HOME", `"$HOME"`, "$PWD", "$?", "$#", "$@", "$*", "$$", "$!", "$_", "$0", "$1", "$RANDOM",
			"${#x}", "${!x}", "${x@P}", "${x[0]}", "$(ls)", `"$(ls src)"`, "$(git ls-files)", "$(cat in)", "a\\ b", "\\x", `"a\"b"`, "'a b'", "''", "\"\"", "!x",
			"!!", "#x", "a#b", "a=b", "\\-oPWN", "=", "a'b'c", `a"b"c`, "[", "]", "{}", "{", "}", "%", "^x", "a^b", "+x", "@(a|b)", "é", "\\*", "'*'", "\\\nx",
			"a\\\nb")
	}
}

// spell returns another spelling of a word that means the same, or nearly so.
func (g *generator) spell(word string) string {
	if word == "" || g.IntN(3) > 0 {
		return word
	}
	at := g.IntN(len(word))
	switch g.IntN(8) {
	case 0:
		return "'" + word + "'"
	case 1:
		return `"` + word + `"`
	case 2:
		return word[:at] + "''" + word[at:]
	case 3:
		return word[:at] + `\` + word[at:]
	case 4:
		return word[:at] + `""` + word[at:]
	case 5:
		return "$'" + word + "'"
	case 6:
		return word[:at] + "\\\n" + word[at:]
	default:
		return fmt.Sprintf("%s$'\\x%02x'%s", word[:at], word[at], word[at+1:])
	}
}

func (g *generator) redirect() string {
	return g.pick("2>/dev/null", ">/dev/null", "2>&1", "> PWN", ">> a.txt", "2> PWN", "&> PWN", ">& PWN", ">| PWN", "<> PWN", "< in", "< link", "< /dev/null",
		"<<< x", `<<< "$(touch PWN)"`, "{x}> PWN", "3> PWN", "3>&1", ">&3", "> .git/config", "> $x", "> *", "< ../out/secret.txt", "&>/dev/null", "1>&2", ">&-",
		"2>&-", "<&-", "10>PWN", "1 > PWN", "1>/dev/null", "> >(touch PWN)", "< <(touch PWN)", "> /dev/tcp/127.0.0.1/1")
}
