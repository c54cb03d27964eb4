package plain

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// gitGlobalOptions precede the subcommand of every git in a plain form. The repository's
// hooks and monitor do not run, the index is not written, and no pager starts.
var gitGlobalOptions = []string{
	"--no-pager", "--no-optional-locks",
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false",
}

// gitShownSettings matches the settings that may be shown. Other settings, even in the user's own
// configuration, may hold tokens.
var gitShownSettings = lazyregexp.New(`(?i)^(user|core|branch|remote|init|pull|push|fetch|merge|diff|color|commit|log|status|submodule)\.[A-Za-z0-9._/-]+$`)

// gitReadsConfig accepts a query for one setting, with --get or as "git config NAME". A
// word with a dot is a setting: the subcommands of "git config" have none.
func gitReadsConfig(o *parsedOptions) error {
	if len(o.operands) != 1 || !o.operands[0].literal() || !gitShownSettings.MatchString(o.operands[0].text()) {
		return errors.New("it may change the configuration, or show a setting that holds a secret")
	}
	return nil
}

// gitOneReference accepts the name of one reference.
func gitOneReference(o *parsedOptions) error {
	if len(o.operands) != 1 || !o.operands[0].literal() {
		return errors.New("it may set the reference that it names")
	}
	return nil
}

// gitPrintSettings matches the settings of "git -c" that only change how git prints.
var gitPrintSettings = lazyregexp.New(`(?i)^(color\.[a-z.]+=[a-z]+|core\.(quotepath=[a-z]+|pager=(cat)?)|advice\.[a-z]+=[a-z]+|column\.ui=[a-z]+|log\.date=[a-z-]+)$`)

// acceptGit accepts the subcommands that only read, in the repository of the
// working directory or of "-C DIR".
func acceptGit(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	var globalWords []string
	var files []File
	dirs := b.dirs
	for len(args) > 0 {
		if !args[0].literal() {
			return nil, errors.New("git: its command is computed")
		}
		switch args[0].text() {
		case "--no-pager", "-P", "--no-optional-locks":
			args = args[1:]
			continue
		case "-C":
			if len(args) < 2 || !args[1].literal() || args[1].text() == "" || args[1].text()[0] == '-' {
				return nil, errors.New("git: the directory of -C is not a literal")
			}
			dir := args[1].text()
			files = append(files, File{Text: dir, Dirs: dirs})
			dirs = joinDirs(dirs, dir)
			globalWords = append(globalWords, "-C", quote(dir))
			args = args[2:]
			continue
		case "-c":
			if len(args) < 2 || !args[1].literal() || !gitPrintSettings.MatchString(args[1].text()) {
				return nil, errors.New("git: -c may make it run a program")
			}
			globalWords = append(globalWords, "-c", args[1].source)
			args = args[2:]
			continue
		}
		break
	}
	if len(args) == 0 {
		return nil, errors.New("git: it has no command")
	}
	sub := args[0].text()
	p, ok := programOf(programs.Git, sub)
	if !ok {
		return nil, errorf("git %s is not known to be read-only", sub)
	}
	c.Dirs = dirs
	out, err := p.acceptGitCommand(b, c, sub, args[1:], dirs)
	if err != nil {
		return nil, errorf("git %s: %w", sub, err)
	}
	out.words = slices.Concat([]string{quoteProgram(c.words[0].text())}, globalWords, quoted(gitGlobalOptions), out.words)
	out.files = append(out.files, files...)
	return out, nil
}

// acceptGitCommand accepts the words after a subcommand. Its operands are
// revisions before "--" and paths after it; the "--" stays where it is.
func (p *program) acceptGitCommand(b *builder, c *Command, sub string, args []Word, dirs []string) (*acceptedCommand, error) {
	args, paths, ended := p.splitPaths(b, args)
	opts, named, err := p.parse(b, args)
	if err == nil {
		err = p.checkGitOperands(opts, len(paths), ended)
	}
	if err != nil {
		return nil, err
	}
	words, operands, err := p.subcommandWords(sub, opts)
	if err != nil {
		return nil, err
	}
	out := &acceptedCommand{
		words: words, files: named,
		starts: []string{"git-lfs"}, // the usual converter of files
		opens:  slices.Contains([]string{"blame", "diff", "grep"}, sub),
	}
	hasPattern := sub == "grep" && !opts.has("-e")
	if err := out.addGitOperands(operands, hasPattern, !p.hasCheck() && p.MaxOperands == 0, dirs); err != nil {
		return nil, err
	}
	if ended {
		out.words = append(out.words, "--")
	}
	if err := out.addGitPaths(sub, paths, dirs); err != nil {
		return nil, err
	}
	if listsNames(sub, opts) {
		after := len(out.words) - 1 // words after the subcommand
		out.xargsInput = &nameLister{separateByNUL: func() error {
			out.words = slices.Insert(out.words, len(out.words)-after, "-z")
			return nil
		}}
	}
	return out, nil
}

// checkGitOperands returns an error if a subcommand may not have its operands before "--", or
// that many paths after it. ended reports whether there is a "--".
func (p *program) checkGitOperands(opts *parsedOptions, paths int, ended bool) error {
	if p.hasCheck() {
		if ended {
			return errors.New(`operands after "--" may be created`)
		}
		if err := p.checkWords(opts); err != nil {
			return err
		}
	}
	if p.Operands == noOperands && len(opts.operands)+paths > 0 || p.MaxOperands > 0 && len(opts.operands) > p.MaxOperands {
		return errors.New("it has too many operands")
	}
	return nil
}

// addGitOperands adds the operands before "--". hasPattern means that the first of them is a
// regular expression. mayCompute means that a word may be computed: in the box, no option of the
// subcommand does harm.
func (out *acceptedCommand) addGitOperands(operands []Word, hasPattern, mayCompute bool, dirs []string) error {
	for i, w := range operands {
		if len(w.Values) == 0 && mayCompute && !w.pipe {
			out.words = append(out.words, w.source)
			continue
		}
		if w.mayBegin('-') {
			return errorf("%s is computed at run time", w.source)
		}
		if slices.ContainsFunc(w.Values, signatureFormat.MatchString) {
			return errors.New("its format checks signatures")
		}
		if err := out.addOperand(w, !hasPattern || i > 0 || w.Glob, dirs); err != nil {
			return err
		}
	}
	return nil
}

// addGitPaths adds the paths after "--".
func (out *acceptedCommand) addGitPaths(sub string, paths []Word, dirs []string) error {
	// After "--" too, blame parses the second of two words as a revision or an option, and describe
	// passes all of them on to name-rev.
	parsesPaths := slices.Contains([]string{"blame", "describe"}, sub)
	for _, w := range paths {
		if w.mayBegin('-') && (!w.Glob || parsesPaths) {
			return errorf("%s may be an option", w.source)
		}
		if w.beginsWithWildcard() {
			w = w.inCurrentDir() // the name of a file may be ":(top)"
		}
		if err := out.addOperand(w, true, dirs); err != nil {
			return err
		}
	}
	return nil
}

// subcommandWords returns the words of a subcommand before its operands, and the operands.
func (p *program) subcommandWords(sub string, opts *parsedOptions) (words []string, operands []Word, err error) {
	words, operands = append([]string{sub}, quoted(p.Inserts)...), opts.operands
	if slices.Contains([]string{"bisect", "notes", "stash", "submodule", "worktree", "reflog", "remote"}, sub) && len(operands) > 0 {
		words, operands = slices.Insert(words, 1, operands[0].source), operands[1:]
	}
	for _, g := range opts.options {
		if g.checksSignatures() {
			return nil, nil, errors.New("its format checks signatures")
		}
		words = append(words, gitOption(g))
	}
	if sub == "stash" && words[1] == "show" && len(opts.options) == 0 {
		words = append(words, "--stat") // the default without another option
	}
	return words, operands, nil
}

// listsNames reports whether a subcommand prints names of files alone.
func listsNames(sub string, opts *parsedOptions) bool {
	switch sub {
	case "ls-files":
		return !opts.has("-s", "--stage", "-t", "-v", "-u", "--unmerged", "--eol", "--format", "-k", "--killed")
	case "diff":
		return opts.has("--name-only") // git then leaves out patches and summaries
	case "grep":
		return opts.has("-l", "--files-with-matches", "--name-only") && !opts.has("--color", "--column", "-c", "--count", "--heading", "--break")
	}
	return false
}

// splitPaths splits the words after a subcommand at the "--" before its paths. ended
// reports whether there is one.
func (p *program) splitPaths(b *builder, args []Word) (before, paths []Word, ended bool) {
	for i, w := range args {
		if w.literal() && w.text() == "--" && !needsValueNext(p, b, args[:i]) {
			return args[:i], args[i+1:], true
		}
	}
	return args, nil, false
}

// addOperand adds an operand of git. path reports that it may be a path, and not only a
// pattern. Outside of a repository, "git diff" compares any files.
func (out *acceptedCommand) addOperand(w Word, path bool, dirs []string) (err error) {
	if len(w.Values) == 0 {
		return errorf("%s is computed at run time", w.source)
	}
	for _, v := range w.Values {
		if !path {
			break
		}
		if out.opens && v != "" {
			out.files = append(out.files, File{Text: v, Dirs: dirs, Glob: w.Glob})
		}
		if out.files, err = appendOutside(out.files, v, w.Glob, dirs); err != nil {
			return err
		}
	}
	out.words = append(out.words, w.source)
	return nil
}

// gitOption prints an option with its value in the same word. Git would read the value
// of some options as a revision if it were the next word.
func gitOption(g parsedOption) string {
	switch {
	case g.name == "--git-path": // of rev-parse, which has no such options otherwise
		return g.name + " " + quote(g.value)
	case strings.HasPrefix(g.name, "--") && g.hasValue:
		return quote(g.name + "=" + g.value)
	case g.hasValue && g.value == "":
		return g.name + " ''" // else the next word would be the value
	}
	return quote(g.name + g.value)
}

// needsValueNext reports whether the word after words is the value of an option.
func needsValueNext(p *program, b *builder, words []Word) bool {
	_, _, err := p.parse(b, words)
	return err != nil && strings.HasSuffix(err.Error(), "has no value")
}

// signatureFormat matches a format that makes git check signatures, or describe a commit: "%G?",
// "%+GG", "%(*signature)".
var signatureFormat = lazyregexp.New(`%[-+ ]?(G|\(\*?(signature|describe))`)

// checksSignatures reports whether an option makes git run a program that checks signatures. A key
// to sort by is a field of a format.
func (g parsedOption) checksSignatures() bool {
	return signatureFormat.MatchString(g.value) || g.name == "--sort" && strings.Contains(g.value, "signature")
}

// appendOutside adds an operand of git that may name a file outside of the
// repository, or one that is surely a file.
func appendOutside(list []File, text string, glob bool, dirs []string) ([]File, error) {
	if strings.HasPrefix(text, ":") && strings.Contains(text, "..") {
		return nil, errorf("%s may be a file outside of the repository", text)
	}
	if filepath.IsAbs(text) || slices.Contains(strings.Split(text, "/"), "..") {
		return append(list, File{Text: text, Dirs: dirs, Glob: glob}), nil
	}
	return list, nil
}

// joinDirs returns dir seen from each of dirs. A ".." stays, since git follows the links
// before it.
func joinDirs(dirs []string, dir string) []string {
	if filepath.IsAbs(dir) {
		return []string{dir}
	}
	var out []string
	for _, d := range dirs {
		out = append(out, strings.TrimSuffix(d, "/")+"/"+dir)
	}
	return out
}
