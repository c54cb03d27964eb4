package permission

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// What git shows and changes depends on the names of its objects, which a table cannot list.

func isGit(c *command.Command) bool { return c.Program() == programs.Git }

// gitShowsUnnamedFiles reports whether a command of git shows the contents of files that it does not
// name.
func gitShowsUnnamedFiles(c *command.Command) bool {
	// -S and -G report whether a text occurs in the files, and --check shows lines.
	patch := hasOption(c, "cpuUWSGL", "--patch-with-stat", "--patch-with-raw", "--unified", "--binary", "--word-diff-regex", "--color-words",
		"--function-context", "--cc", "--dd", "--remerge-diff", "--diff-merges", "--check", "--pickaxe-all", "--pickaxe-regex")
	switch first, _ := c.Subcommand(); first {
	case "cat-file":
		return !namesBlobs(c)
	case "show":
		return patch || !namesBlobs(c) && (!summarizes(c) || mayNameBlob(c))
	case "stash": // "stash show" with options prints a patch, unless one of them prints a summary
		return patch || isStashShow(c) && hasAnyOption(c) && !summarizes(c)
	case "diff-files", "diff-index", "diff-tree", "log", "reflog", "whatchanged":
		return patch
	}
	return handlesContents(c)
}

// summaryOptions are options of git with which it prints a summary of changes instead of a patch.
var summaryOptions = []string{"-s", "--no-patch", "--stat", "--shortstat", "--numstat", "--name-only", "--name-status", "--summary", "--raw"}

// summarizes reports whether a command of git certainly has one of summaryOptions. In a bundle
// of letters it may be a part of a number: "-n1s".
func summarizes(c *command.Command) bool {
	for i, w := range c.Args() {
		name, _, _ := strings.Cut(w.Text, "=")
		if slices.Contains(summaryOptions, name) && !mayBeValue(c, i) {
			return true
		}
	}
	return false
}

// mayBeValue reports whether the argument i of git may be the value of the option before it, as in
// "--src-prefix -s".
func mayBeValue(c *command.Command, i int) bool {
	if i == 0 {
		return false
	}
	option := c.Args()[i-1].Text
	return strings.HasPrefix(option, "-") && !strings.Contains(option, "=") && !hasNoValue(option)
}

// hasNoValue reports whether a word is an option of git without a value that selects no further
// objects, as "--all" does.
func hasNoValue(word string) bool {
	return slices.Contains(summaryOptions, word) || slices.Contains([]string{"-e", "-p", "-t", "--no-color", "--oneline"}, word)
}

func isStashShow(c *command.Command) bool {
	return slices.ContainsFunc(c.Operands(), func(w command.Word) bool { return w.Text == "show" })
}

func hasAnyOption(c *command.Command) bool {
	return slices.ContainsFunc(c.Args(), func(w command.Word) bool { return strings.HasPrefix(w.Text, "-") })
}

// blobName matches the name of one file in a commit or in the index, such as "HEAD:a.go". The name
// of a commit can have a colon, too: ":/text", "HEAD^{/fix: text}".
var blobName = lazyregexp.New(`^([^:{}]+:|:([0-3]:)?[^/:!^(])`)

// namesBlobs reports whether each object that a command of git names is one file.
func namesBlobs(c *command.Command) bool {
	found := false
	for _, w := range c.Operands()[1:] {
		switch {
		case hasNoValue(w.Text), c.Operands()[0].Text == "cat-file" && w.Text == "blob":
		case strings.HasPrefix(w.Text, "-"), !blobName.MatchString(w.Text):
			return false
		default:
			found = true
		}
	}
	return found
}

// objectHash matches a name that git resolves to an object of any kind by its hash: "5d41402",
// "5d41402^{}", "x-1-g5d41402".
var objectHash = lazyregexp.New(`(?i)(^|-g)[0-9a-f]{4,64}(\^\{(blob|object)?\})?$`)

// mayNameBlob reports whether an operand of git may be the hash of a file. "git show" prints the
// text of such a file whatever its options are.
func mayNameBlob(c *command.Command) bool {
	return slices.ContainsFunc(c.Operands(), func(w command.Word) bool { return objectHash.MatchString(w.Text) })
}

// repositoryTop returns the top of the repository around a directory, "" if there is none.
func repositoryTop(dir string) string {
	real, err := filepath.EvalSymlinks(dir) // git searches upwards from there
	for below := ""; err == nil && real != below; real, below = filepath.Dir(real), real {
		if _, err := os.Lstat(filepath.Join(real, ".git")); err == nil {
			return real
		}
	}
	return ""
}

// blobPaths returns the files that the words of a git command name in a commit or in the index,
// such as "HEAD:a.go". Their paths begin at the top of the repository, unless they begin with a dot.
// A file counts even if it is no longer in the working directory.
func blobPaths(c *command.Command) []command.Path {
	sub, _ := c.Subcommand()
	if !isGit(c) || !slices.Contains([]string{"cat-file", "diff", "show"}, sub) {
		return nil
	}
	dirs, operands := c.Dirs, c.Operands()
	global := c.Args()[:len(c.Args())-len(operands)]
	for i, w := range global[:max(0, len(global)-1)] {
		if w.Text == "-C" {
			dirs = slices.Clone(dirs)
			for j, dir := range dirs {
				dirs[j] = from(dir, global[i+1].Text)
			}
		}
	}
	var out []command.Path
	for _, w := range operands {
		_, name, ok := strings.Cut(w.Text, ":")
		for ; ok && !strings.HasPrefix(w.Text, "-"); _, name, ok = strings.Cut(name, ":") { // ":0:a.go"
			p := command.Path{Text: w.Text, Sure: true}
			for _, dir := range dirs {
				if !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
					dir = cmp.Or(repositoryTop(dir), dir)
				}
				p.Abs = append(p.Abs, dir+string(filepath.Separator)+name)
			}
			out = append(out, p)
		}
	}
	return out
}

// checksOutFiles reports whether git restores files: an argument is a pattern or the name of a file, or follows
// the name of a commit.
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
