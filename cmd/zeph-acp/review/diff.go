package review

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/run"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process/program"
	"github.com/zeph-acp/zeph-acp/executors/undo/copies"
)

// change is a change to review.
type change struct {
	dir       string // absolute; the paths of the diff begin here
	about     string // in words, for the model and the title
	diff      string
	untracked []string // names of files without a diff
}

// findChange returns the change that the user names: by a base, by paths, or as a diff on stdin.
func findChange(ctx context.Context, r *run.Runner, base string, paths []string) (c change, err error) {
	limit := r.App.Config.ACP.MaxAttachmentBytes
	if c.dir, err = cli.Directory("--cwd", r.Dir); err != nil {
		return c, err
	}
	if slices.Contains(paths, run.StdinArg) {
		if len(paths) > 1 || base != "" {
			return c, cli.Usagef(`"-" reads the diff from stdin, and takes neither paths nor --base`)
		}
		c.about = "a diff of the user"
		c.diff, err = readDiff(os.Stdin, limit)
		return c, err
	}
	g := newGit(ctx, app.Programs(r.App.Config, r.App.Reaper), c.dir)
	top, err := g.line("rev-parse", "--show-toplevel")
	if err != nil {
		return c, fmt.Errorf("%s is not in a git repository (%w): pipe a diff to \"zeph-acp review -\"", c.dir, err)
	}
	since, err := g.since(base)
	if err != nil {
		return c, cli.Usagef("--base: %w", err)
	}
	if err := g.disableFilters(); err != nil {
		return c, err
	}
	args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty", "--no-color", since, "--"}, paths...)
	if c.diff, err = g.text(limit, args...); err != nil {
		return c, err
	}
	names, err := g.text(limit, append([]string{"ls-files", "-z", "--others", "--exclude-standard", "--full-name", "--"}, paths...)...)
	if err != nil {
		return c, err
	}
	for name := range strings.SplitSeq(strings.Trim(names, "\x00"), "\x00") {
		if name != "" {
			c.untracked = append(c.untracked, executors.Quoted(executors.WholeLine(name)))
		}
	}
	if c.diff == "" && len(c.untracked) == 0 {
		if err := g.unknownPath(paths); err != nil {
			return c, err
		}
	}
	c.untracked = limitNames(c.untracked)
	c.dir, c.about = filepath.FromSlash(top), "the changes since "+executors.Quoted(baseOrHead(base))
	return c, nil
}

// git runs git in a directory.
type git struct {
	ctx      context.Context // of one command of the user
	programs *program.Runner
	dir      string
	read     []string // the directories of the repository
	settings []string // NAME=value, which override the repository's settings
}

func newGit(ctx context.Context, programs *program.Runner, dir string) *git {
	g := &git{ctx: ctx, programs: programs, dir: dir, read: programs.FindRepository(ctx, dir).Dirs()}
	for _, name := range copies.Variables { // the user's own, as in a hook of git
		if value := os.Getenv(name); value != "" {
			g.read = append(g.read, filepath.SplitList(value)...)
		}
	}
	return g
}

// disableFilters keeps git from running the programs that a repository names for the contents of
// its files. Even in the box they could change what the model sees, and they would fail for lack
// of rights where they store files, as LFS does.
func (g *git) disableFilters() error {
	names, err := g.text(maxSettings, "config", "--list", "--name-only", "-z")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for name := range strings.SplitSeq(names, "\x00") {
		driver, _ := cutLast(name, ".")
		if !strings.HasPrefix(driver, "filter.") || seen[driver] {
			continue
		}
		if strings.ContainsAny(driver, "=\n") { // -c cannot name it
			return fmt.Errorf("the settings of the repository have a filter of an unusual name: %s", executors.Quoted(executors.WholeLine(driver)))
		}
		seen[driver] = true
		g.settings = append(g.settings, driver+".clean=", driver+".smudge=", driver+".process=", driver+".required=false")
	}
	return nil
}

// maxSettings bounds the names of all settings, in bytes.
const maxSettings = 4 << 20

// cutLast cuts a text around the last separator.
func cutLast(text, separator string) (before, after string) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i+len(separator):]
}

// since returns the commit that the working tree is compared with: where it left the base,
// else its last commit, or an empty tree before the first one.
func (g *git) since(base string) (string, error) {
	if strings.HasPrefix(base, "-") {
		return "", fmt.Errorf("%q is not a branch or commit", base)
	}
	if base != "" {
		if _, err := g.line("rev-parse", "--verify", "--quiet", base+"^{commit}"); err != nil {
			return "", fmt.Errorf("there is no branch or commit %q", base)
		}
		since, err := g.line("merge-base", base, "HEAD")
		if err != nil {
			return "", fmt.Errorf("%q and HEAD have no common commit; a shallow clone may lack it", base)
		}
		return since, nil
	}
	if head, err := g.line("rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
		return head, nil
	}
	return g.line("hash-object", "-t", "tree", "--stdin") // which is empty
}

// unknownPath returns an error about the first path that is no file of the repository, which
// is probably misspelled. In CI a review of nothing would pass.
func (g *git) unknownPath(paths []string) error {
	for _, path := range paths {
		file := path
		if !filepath.IsAbs(file) {
			file = filepath.Join(g.dir, path)
		}
		if _, err := os.Lstat(file); err == nil {
			continue
		}
		if tracked, err := g.line("ls-files", "-z", "--", path); err == nil && tracked == "" { // a pattern may match
			return cli.Usagef("there is no file %s in the repository", cli.OneLine(path))
		}
	}
	return nil
}

// maxGitLine bounds a line of git, in bytes.
const maxGitLine = 256 << 10

// line returns the output of git as one line.
func (g *git) line(args ...string) (string, error) {
	text, err := g.text(maxGitLine, args...)
	return strings.TrimRight(text, "\r\n"), err
}

// text returns the output of git, of at most that many bytes.
func (g *git) text(limit int, args ...string) (string, error) {
	out, err := g.programs.Git(g.ctx, program.Command{Args: args, Dir: g.dir, Read: g.read, MaxOutput: limit}, g.settings...)
	if errors.Is(err, program.ErrTooLong) {
		return "", tooLong(limit)
	}
	if e, ok := errors.AsType[*program.ExitError](err); ok && e.Message != "" {
		return "", errors.New(e.Message)
	}
	return strings.ToValidUTF8(string(out), "\uFFFD"), err
}
