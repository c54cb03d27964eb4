package permission

import (
	"iter"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// runsOtherProgram is the effect of an option that names a program. A user who allows
// "git fetch" or "tar" does not expect another program to run.
const runsOtherProgram = "it runs another program"

var (
	dropsData = lazyregexp.New(`(?i)\b(drop\s+(table|database|schema)|truncate\s)`)
	// startsShell matches the commands of such clients, not of SQL, that start a program.
	startsShell = lazyregexp.New(`(?im)\\(o|g|gx|w|copy)\b[^|\n]*\||^\s*\.(import|log|once|output|read|trace)\b[^|\n]*\||\\gexec\b|\\!|\bprogram\s+'|^\s*\.(load|shell|system)\b|\bload_extension\s*\(|(^|;)\s*system\s`)
)

// blocksOf returns what the table says about a program, and about its subcommands by their words.
func blocksOf(c *command.Command) iter.Seq2[string, *programs.Facts] {
	return func(yield func(string, *programs.Facts) bool) {
		for _, words := range programs.Under(c.Program()) {
			if !yield(words, programs.Block(words)) {
				return
			}
		}
	}
}

// confirms returns why a command needs permission although a rule with this
// pattern allows it. "" means that the rule suffices.
func confirms(c *command.Command, pattern string) string {
	pattern, _, _ = strings.Cut(strings.ToLower(pattern), "*")
	for words, facts := range blocksOf(c) {
		if len(facts.Confirm) == 0 || !mayBeginWith(c, words) {
			continue
		}
		for _, confirm := range facts.Confirm {
			option := dangerousOption(c, confirm.Options)
			if (confirm.Options == "" || option != "") && !patternNames(pattern, words+" "+option) {
				return confirm.Effect
			}
		}
	}
	if why := confirmsWords(c, pattern); why != "" {
		return why
	}
	if word := c.RunsBySetting(); word != "" && !patternNames(pattern, "git "+word) {
		return runsOtherProgram
	}
	if !c.Facts().Database {
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

// confirmsWords checks words that no table can list.
func confirmsWords(c *command.Command, pattern string) string {
	words := c.Operands()
	if isGit(c) && len(words) > 0 {
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
	if c.Facts().PublishesNothing || c.Program() != "deno" && c.Program() != "bun" && (runsText(c) || c.Interprets()) {
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

// dangerousOption returns the first of these options that the command has, as written. They are those
// of [programs.Confirm].
func dangerousOption(c *command.Command, options string) string {
	ended := false // "--" was there
	for _, w := range c.Args() {
		name, _, _ := strings.Cut(w.Text, "=")
		for o := range strings.FieldsSeq(options) {
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
