package permission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// confirmation is a command that needs permission although a rule allows it,
// unless the rule names the dangerous option. "git *" does not cover "git push
// --force", but "git push --force*" does.
type confirmation struct {
	words   string // the program and its first words
	options string // any one of these; empty means any call; "+" stands for a forced refspec, "-B*" for each word that begins so, "*x*" for one with this part
	effect  string // for the user: the damage that it does
}

// runsOtherProgram is the effect of an option that names a program. A user who allows
// "git fetch" or "tar" does not expect another program to run.
const runsOtherProgram = "it runs another program"

// confirmations are commands that destroy data permanently, that publish data, or that
// run a program which an option names.
var confirmations = []confirmation{
	{"rm", "", "it deletes files"},
	{"shred", "", "it destroys files"},
	{"truncate", "", "it truncates files"},
	{"unlink", "", "it deletes files"},
	{"rimraf", "", "it deletes files"},
	{"tar", "--remove-files", "it deletes files"},
	{"gtar", "--remove-files", "it deletes files"},
	{"zip", "-m --move", "it deletes files"},
	{"7z", "-sdel", "it deletes files"},
	{"7za", "-sdel", "it deletes files"},
	{"7zz", "-sdel", "it deletes files"},
	{"rsync", "--del --delete* --remove-s*", "it deletes files"},
	{"rclone", "sync move delete purge", "it deletes files"},
	{"aws s3 rm", "", "it deletes files"},
	{"aws s3 sync", "--delete", "it deletes files"},
	{"git push", "-f --force --force-with-lease --force-if-includes --mirror --delete -d --prune + :", "it rewrites or deletes branches that others use"},
	{"git reset", "--hard --merge", "it drops changes"},
	{"git clean", "", "it deletes files"},
	{"git checkout", "-f --force -- . --ours --theirs --pathspec-from-file", "it drops changes"},
	{"git checkout", "-B", "it drops commits"},
	{"git checkout-index", "-f --force", "it drops changes"},
	{"git read-tree", "--reset -u", "it drops changes"},
	{"git restore", "", "it drops changes"},
	{"git rm", "-f --force", "it drops changes"},
	{"git switch", "-f --force --discard-changes", "it drops changes"},
	{"git switch", "-C --force-create", "it drops commits"},
	{"git submodule deinit", "-f --force", "it drops changes"},
	{"git worktree remove", "-f --force", "it drops changes"},
	{"git stash drop", "", "it drops changes"},
	{"git stash clear", "", "it drops changes"},
	{"git branch", "-D -M -C -f --force", "it drops commits"},
	{"git filter-branch", "", "it rewrites history"},
	{"git filter-repo", "", "it rewrites history"},
	{"git gc", "--prune", "it drops commits"},
	{"git prune", "", "it drops commits"},
	{"git reflog delete", "", "it drops commits"},
	{"git reflog expire", "", "it drops commits"},
	{"git tag", "-d --delete -f --force", "it deletes or moves a tag"},
	{"git update-ref", "-d --stdin", "it drops commits"},
	{"git", "--output", "it overwrites a file"},
	{"git credential", "", "it shows or changes passwords"},
	{"git maintenance start", "", "it changes the scheduled commands"},
	{"git p4 submit", "", "it publishes"},
	{"git send-email", "", "it publishes"},
	{"git svn dcommit", "", "it publishes"},
	{"find", "-delete", "it deletes files"},
	{"find", "-fls -fprint -fprint0 -fprintf", "it overwrites a file"},
	{"sort", "-o --output", "it overwrites a file"},
	{"cargo publish", "", "it publishes"},
	{"gem push", "", "it publishes"},
	{"npm access", "", "it changes a published package"},
	{"npm deprecate", "", "it changes a published package"},
	{"npm dist-tag", "", "it changes a published package"},
	{"npm owner", "", "it changes a published package"},
	{"npm publish", "", "it publishes"},
	{"npm unpublish", "", "it unpublishes"},
	{"pnpm publish", "", "it publishes"},
	{"poetry publish", "", "it publishes"},
	{"twine upload", "", "it publishes"},
	{"uv publish", "", "it publishes"},
	{"yarn npm publish", "", "it publishes"},
	{"yarn publish", "", "it publishes"},
	{"docker compose down", "-v --volumes", "it deletes volumes"},
	{"docker compose push", "", "it publishes"},
	{"docker push", "", "it publishes"},
	{"docker image push", "", "it publishes"},
	{"docker manifest push", "", "it publishes"},
	{"docker build", "--push", "it publishes"},
	{"docker builder build", "--push", "it publishes"},
	{"docker buildx", "--push", "it publishes"},
	{"docker compose build", "--push", "it publishes"},
	{"docker image build", "--push", "it publishes"},
	{"nerdctl push", "", "it publishes"},
	{"nerdctl image push", "", "it publishes"},
	{"buildah push", "", "it publishes"},
	{"helm push", "", "it publishes"},
	{"oras push", "", "it publishes"},
	{"skopeo copy", "", "it publishes"},
	{"docker system prune", "", "it deletes images and volumes"},
	{"docker volume prune", "", "it deletes volumes"},
	{"docker volume rm", "", "it deletes volumes"},
	{"podman push", "", "it publishes"},
	{"podman image push", "", "it publishes"},
	{"podman manifest push", "", "it publishes"},
	{"podman system prune", "", "it deletes images and volumes"},
	{"podman volume prune", "", "it deletes volumes"},
	{"podman volume rm", "", "it deletes volumes"},
	{"gh repo delete", "", "it deletes a repository"},
	{"helm uninstall", "", "it uninstalls a running release"},
	{"helm delete", "", "it uninstalls a running release"},
	{"helm del", "", "it uninstalls a running release"},
	{"helm un", "", "it uninstalls a running release"},
	{"kubectl apply", "--force --prune", "it deletes cluster resources"},
	{"kubectl delete", "", "it deletes cluster resources"},
	{"kubectl replace", "--force", "it deletes cluster resources"},
	{"oc apply", "--force --prune", "it deletes cluster resources"},
	{"oc delete", "", "it deletes cluster resources"},
	{"oc replace", "--force", "it deletes cluster resources"},
	{"terraform destroy", "", "it destroys infrastructure"},
	{"tofu destroy", "", "it destroys infrastructure"},
	{"dropdb", "", "it deletes a database"},
	{"crontab", "", "it changes the scheduled commands"},
	{"git", "--upload-pack --receive-pack --exec --exec-path --open-files-in-pager", runsOtherProgram},
	{"git apply", "--unsafe-paths", "it changes files that git protects"},
	{"git bisect run", "", runsOtherProgram},
	{"git clone", "-u -c --config --template", runsOtherProgram},
	{"git grep", "-O", runsOtherProgram},
	{"git difftool", "-x --extcmd", runsOtherProgram},
	{"git init", "--template", runsOtherProgram},
	{"git rebase", "-x", runsOtherProgram},
	{"git send-email", "--sendmail-cmd --smtp-server --to-cmd --cc-cmd --header-cmd", runsOtherProgram},
	{"git submodule foreach", "", runsOtherProgram},
	{"go", "-exec --exec -toolexec --toolexec -vettool --vettool *extld*", runsOtherProgram},
	{"go env", "-w -u", "it changes the settings of go for all projects"},
	{"cargo", "--config", runsOtherProgram},
	{"make", makePrograms, runsOtherProgram},
	{"gmake", makePrograms, runsOtherProgram},
	{"npm", "--script-shell --node-options --shell --git --init-module --userconfig --editor --viewer", runsOtherProgram},
	{"pnpm", "--script-shell --node-options --config.*", runsOtherProgram},
	{"tar", tarPrograms, runsOtherProgram},
	{"gtar", tarPrograms, runsOtherProgram},
	{"bsdtar", tarPrograms, runsOtherProgram},
	{"tar", "-P --absolute-names", "it may write files anywhere"},
	{"gtar", "-P --absolute-names", "it may write files anywhere"},
	{"bsdtar", "-P --absolute-paths", "it may write files anywhere"},
	{"unzip", "-:", "it may write files anywhere"},
	{"rg", "--pre --hostname-bin", runsOtherProgram},
	{"sort", "--compress-program", runsOtherProgram},
	{"man", "-P --pager -H --html", runsOtherProgram},
	{"zip", "-TT --unzip-command", runsOtherProgram},
	{"wget", "--use-askpass", runsOtherProgram},
	{"rsync", "--rsync-path", runsOtherProgram},
	{"ssh", "-o -F", runsOtherProgram},
	{"scp", "-o -F -S -D", runsOtherProgram},
	{"sftp", "-o -F -S -D -b", runsOtherProgram},
	{"gcc", compilerPrograms, runsOtherProgram},
	{"g++", compilerPrograms, runsOtherProgram},
	{"cc", compilerPrograms, runsOtherProgram},
	{"c++", compilerPrograms, runsOtherProgram},
	{"clang", compilerPrograms, runsOtherProgram},
	{"clang++", compilerPrograms, runsOtherProgram},
	{"rustc", "linker -Clinker* codegen-backend -Zcodegen-backend*", runsOtherProgram},
}

const (
	tarPrograms      = "-I -F --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rmt-command --rsh-command"
	makePrograms     = "--eval -E SHELL .SHELLFLAGS MAKEFLAGS"
	compilerPrograms = "-wrapper --wrapper -fplugin -fpass-plugin -specs --specs -load --ld-path -B*"
)

// databases are programs that take SQL.
var databases = []string{"bq", "clickhouse-client", "cockroach", "duckdb", "mariadb", "mysql", "psql", "sqlcmd", "sqlite3"}

var (
	dropsData = lazyregexp.New(`(?i)\b(drop\s+(table|database|schema)|truncate\s)`)
	// startsShell matches the commands of such clients, not of SQL, that start a program.
	startsShell = lazyregexp.New(`(?im)\\(o|g|gx|w|copy)\b[^|\n]*\||^\s*\.(import|log|once|output|read|trace)\b[^|\n]*\||\\gexec\b|\\!|\bprogram\s+'|^\s*\.(load|shell|system)\b|\bload_extension\s*\(|(^|;)\s*system\s`)
)

// confirms returns why a command needs permission although a rule with this
// pattern allows it. "" means that the rule suffices.
func confirms(c *command.Command, pattern string) string {
	pattern, _, _ = strings.Cut(strings.ToLower(pattern), "*")
	for _, confirm := range confirmations {
		if !mayBeginWith(c, confirm.words) {
			continue
		}
		option := confirm.dangerousOption(c)
		if confirm.options != "" && option == "" {
			continue
		}
		program, rest, _ := strings.Cut(confirm.words, " ")
		if !patternNames(pattern, program+" "+rest+" "+option) {
			return confirm.effect
		}
	}
	if why := confirmsWords(c, pattern); why != "" {
		return why
	}
	if word := c.RunsBySetting(); word != "" && !patternNames(pattern, "git "+word) {
		return runsOtherProgram
	}
	if !slices.Contains(databases, c.Program()) {
		return ""
	}
	starts := func(w command.Word) bool { return startsShell.MatchString(w.Text) }
	switch {
	case dropsData.MatchString(c.Text()+" "+c.Input()) && !strings.Contains(pattern, "drop") && !strings.Contains(pattern, "truncate"):
		return "it deletes data"
	case slices.ContainsFunc(c.Args(), starts), startsShell.MatchString(c.Input()):
		return runsOtherProgram
	}
	return ""
}

// publishing matches the subcommands and tasks that publish, such as "publish" and "deploy:prod".
var publishing = lazyregexp.New(`^(?:.*:)?(?:un)?(?:publish|deploy)(?:[:._-].*)?$|^hex\.publish$`)

// publishesNothing are programs that have other uses for such a word.
var publishesNothing = []string{"cd", "chmod", "chown", "cp", "dotnet", "git", "go", "install", "kubectl", "ln", "mkdir", "mv", "oc", "rsync", "tar", "tee", "touch", "zip"}

// confirmsWords judges words that no table can list.
func confirmsWords(c *command.Command, pattern string) string {
	words := c.Operands()
	if c.Program() == "git" && len(words) > 0 {
		switch first := words[0].Text; {
		case strings.HasPrefix(first, "credential-") && !patternNames(pattern, "git "+first):
			return "it shows or changes passwords"
		case first == "checkout" && checksOutFiles(c, words[1:]) && !patternNames(pattern, "git checkout --"):
			return "it drops changes"
		}
	}
	if strings.HasPrefix(c.Program(), "git-credential-") && !patternNames(pattern, c.Program()) {
		return "it shows or changes passwords"
	}
	if slices.Contains(publishesNothing, c.Program()) || c.Program() != "deno" && c.Program() != "bun" && (runsText(c) || c.Interprets()) {
		return ""
	}
	for word := range strings.FieldsSeq(pattern) {
		if publishing.MatchString(word) && patternNames(pattern, c.Program()) {
			return ""
		}
	}
	for _, w := range words[:min(3, len(words))] {
		if publishing.MatchString(w.Text) {
			return "it publishes"
		}
	}
	return ""
}

// checksOutFiles reports whether git restores files: an operand is a pattern or the name of a file, or another
// one follows that of a commit.
func checksOutFiles(c *command.Command, args []command.Word) bool {
	creates, names := false, 0
	for _, w := range args {
		switch {
		case strings.HasPrefix(w.Text, "-"):
			creates = creates || inBundle(w.Text, 'b') || inBundle(w.Text, 'B') || inBundle(w.Text, 't') || w.Text == "--orphan" || w.Text == "--track"
			continue
		case strings.ContainsAny(w.Text, "*?[") || strings.HasPrefix(w.Text, ":"):
			return true
		}
		names++
		if creates {
			continue
		}
		for _, dir := range c.Dirs {
			if _, err := os.Lstat(filepath.Join(dir, w.Text)); err == nil {
				return true
			}
		}
	}
	return !creates && names > 1
}

// dangerousOption returns the first dangerous option of the command, as written.
func (f confirmation) dangerousOption(c *command.Command) string {
	ended := false // "--" was there
	for _, w := range c.Args() {
		name, _, _ := strings.Cut(w.Text, "=")
		for o := range strings.FieldsSeq(f.options) {
			switch {
			case ended && strings.HasPrefix(o, "-"):
			case name == o,
				strings.HasPrefix(o, "*") && strings.Contains(w.Text, strings.Trim(o, "*")),
				strings.HasSuffix(o, "*") && strings.HasPrefix(w.Text, strings.Trim(o, "*")),
				len(o) == 1 && strings.HasPrefix(w.Text, o) && o != ".",
				strings.HasPrefix(o, "--") && len(name) > 3 && strings.HasPrefix(o, name),
				len(o) == 2 && o[0] == '-' && o[1] != '-' && inBundle(name, o[1]):
				return w.Text
			}
		}
		ended = ended || w.Text == "--"
	}
	return ""
}

// inBundle reports whether a word is a bundle of short options that includes
// letter.
func inBundle(word string, letter byte) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.IndexByte(word, letter) > 0
}

// patternNames reports whether the literal prefix of a pattern contains all the words.
func patternNames(pattern, words string) bool {
	has := strings.Fields(pattern)
	for _, w := range has {
		has = append(has, w[strings.LastIndexByte(w, '/')+1:])
	}
	for w := range strings.FieldsSeq(strings.ToLower(words)) {
		// "-f*" and "--force*" name the options that begin so.
		option := func(h string) bool { return len(h) > 1 && h[0] == '-' && strings.HasPrefix(w, h) }
		if !slices.Contains(has, w) && !slices.ContainsFunc(has, option) {
			return false
		}
	}
	return true
}
