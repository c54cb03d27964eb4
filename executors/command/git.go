package command

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// gitSettings are the settings that make git run a program: their value, or one that a
// file or directory in it names.
var gitSettings = lazyregexp.New(`(?i)^((alias|include|includeif|pager)\.[^=]*|protocol\.(ext\.)?allow|submodule\.[^=]*\.update|` +
	`[^=]*(askpass|browser|clean|cmd|command|driver|editor|external|fsmonitor|gitproxy|helper|hook|hookspath|httpd|pager|` +
	`\.path|process|program|receivepack|smtpserver|smudge|templatedir|textconv|tunnel|uploadpack|vcs))(=|$)`)

// harmlessGitValue matches a value of such a setting with which git runs no other program
// than usual.
var harmlessGitValue = lazyregexp.New(`(?i)^(|:|cat|less|never|no|off|on|true|false|yes|[0-9]+|/dev/null)$`)

// RunsBySetting returns the word by which git gets a setting that makes it run another program,
// "-c", "--config-env" or "config"; "" means that there is none.
func (c *Command) RunsBySetting() string {
	if c.Program() != programs.Git {
		return ""
	}
	runs := func(name, value string) bool {
		return gitSettings.MatchString(name) && !harmlessGitValue.MatchString(value)
	}
	rest := c.Operands()
	before := c.Args()[:len(c.Args())-len(rest)]
	for i, a := range before {
		name, glued, _ := strings.Cut(a.Text, "=")
		switch {
		case a.Text == "-c" && i+1 < len(before):
			if name, value, _ := strings.Cut(before[i+1].Text, "="); !before[i+1].Literal || runs(name, value) {
				return a.Text
			}
		case name == "--config-env" && (glued != "" || i+1 < len(before)):
			return name
		}
	}
	if len(rest) == 0 || rest[0].Text != "config" {
		return ""
	}
	words := operands(rest[1:])
	for i, a := range words[:max(0, len(words)-1)] {
		if runs(a.Text, words[i+1].Text) {
			return "config"
		}
	}
	return ""
}

// guessGit lists the commands that git runs: from a setting, as an alias, by a
// subcommand that runs others, over a transport.
func (w *walker) guessGit(args []Word) {
	for i, a := range args {
		if text, ok := strings.CutPrefix(a.Text, "ext::"); ok {
			w.guessText(strings.ReplaceAll(text, "% ", " "))
		}
		if !a.Literal || i+1 >= len(args) {
			continue
		}
		next := args[i+1]
		switch {
		case a.Text == "-c" && next.Literal && gitSettings.MatchString(next.Text):
			w.guessText(next.Text)
			name, value, _ := strings.Cut(next.Text, "=")
			w.guessGitAlias(name, value, args[i+2:])
		case a.Text == "config" && len(args) > i+2 && gitSettings.MatchString(args[len(args)-2].Text):
			w.guessText(args[len(args)-1].Text)
			w.guessGitAlias(args[len(args)-2].Text, args[len(args)-1].Text, nil)
		case i > 0 && (a.Text == "foreach" && args[i-1].Text == "submodule" || a.Text == "run" && args[i-1].Text == "bisect"):
			rest := args[i+1:]
			for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
				rest = rest[1:]
			}
			w.guessText(join(rest))
		case a.Text == "merge-index":
			w.guessLaunched(args[i+1:], programs.Launches{})
		case a.Text == "clone" || a.Text == "fetch" || a.Text == "pull":
			if text, ok := valueOf(args[i+1:], "-u"); ok {
				w.guessText(text.Text)
			}
		}
	}
}

// guessGitAlias lists the subcommand that an alias stands for, with the operands that
// follow the alias among args.
func (w *walker) guessGitAlias(setting, value string, args []Word) {
	const prefix = "alias."
	if len(setting) <= len(prefix) || !strings.EqualFold(setting[:len(prefix)], prefix) || strings.HasPrefix(value, "!") {
		return
	}
	words := []Word{{Text: programs.Git, Literal: true}}
	for text := range strings.FieldsSeq(strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(value)) {
		words = append(words, Word{Text: text, Literal: true})
	}
	if i := slices.IndexFunc(args, func(a Word) bool { return strings.EqualFold(a.Text, setting[len(prefix):]) }); i >= 0 {
		words = append(words, args[i+1:]...)
	}
	w.guessCommand(words)
}
