package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// Outputs are the commands that wrote a script's output, for the choice of a filter.
type Outputs struct {
	// Command wrote most of the output: the last command that writes any, and of a pipeline the first.
	// Redirections, variables and programs that only run another one are left out. It is empty if no
	// command writes any output.
	Command string
	Mixed   bool // other commands may have written too
	// Selected means that a later command of the pipeline, such as grep, selects or rewrites lines.
	Selected bool
	// Window means that the pipeline prints a range of lines by their numbers: head and tail together,
	// or sed -n with line numbers.
	Window bool
	// Judged means that the exit code of the script says nothing about Command, which wrote a file that
	// the script prints.
	Judged bool
	// Prints is the file that Command prints, as it is named. Saved are the files into which the script
	// writes the output of a command, with the command.
	Prints string
	Saved  map[string]string
	// Others are further commands that may have written the output, the last one first. One of them
	// wrote it if a failure ended the script.
	Others []string
}

// Outputs returns the commands that write the script's output.
func (s *Script) Outputs() Outputs { return outputsOf(s.tree, 0) }

// OutputsOf returns the commands that write the output of a script that is not checked, such as one
// whose output is part of another output.
func OutputsOf(script string) Outputs { return outputsOf(plain.NewTree(script), 0) }

// maxScriptDepth limits scripts in scripts.
const maxScriptDepth = 4

// outputsOf returns the outputs of a script within depth others.
func outputsOf(script *plain.Tree, depth int) Outputs {
	file, err := script.File()
	if err != nil || depth > maxScriptDepth {
		return Outputs{Command: line.Join(script.Text)}
	}
	all := writers(file)
	last, mixed := lastWriter(all)
	if last < 0 {
		return Outputs{}
	}
	out := all[last].outputs(depth)
	for _, c := range all {
		if c.file == "" {
			continue
		}
		if c.file == out.Prints {
			out.Prints = ""
			out.Command, out.Judged = c.outputs(depth).Command, true
		}
		if out.Saved == nil {
			out.Saved = map[string]string{}
		}
		out.Saved[c.file] = c.outputs(depth).Command
	}
	out.Mixed, out.Selected = mixed || out.Mixed, out.Selected || all[last].selected
	out.Window = out.Window || all[last].cut == cutsBoth
	if out.Mixed {
		out.Others = otherWriters(all, last)
	}
	return out
}

// otherWriters returns the further commands that may have written the output, the last one first.
func otherWriters(all []writer, last int) (commands []string) {
	for i := len(all) - 1; i >= 0 && len(commands) < maxOthers; i-- {
		c := all[i]
		if i == last || c.redirected || c.selected || writesNothing(c.words) || isCommentary(c.words) {
			continue
		}
		if text := c.outputs(0).Command; text != "" && !slices.Contains(commands, text) {
			commands = append(commands, text)
		}
	}
	return commands
}

// maxOthers limits Outputs.Others.
const maxOthers = 4

// lastWriter returns the index of the command that wrote most of the output, or -1. mixed
// reports that others may have written too.
func lastWriter(all []writer) (last int, mixed bool) {
	last = -1
	for i, c := range all {
		if c.redirected || writesNothing(c.words) {
			continue
		}
		if last >= 0 {
			mixed = true
		}
		if last < 0 || !isCommentary(c.words) {
			last = i
		}
	}
	if last < 0 { // a command may report errors though its output goes to a file
		last = slices.IndexFunc(all, func(c writer) bool { return c.redirected && !writesNothing(c.words) })
	}
	return last, mixed
}

// outputs returns a command without the programs that only run it.
func (c writer) outputs(depth int) Outputs {
	words := withoutWrappers(c.words)
	if inner, ok := innerScript(words); ok {
		return outputsOf(plain.NewTree(inner), depth+1)
	}
	return Outputs{Command: strings.Join(words, " "), Mixed: runsScript(words), Prints: printedFile(words)}
}

// runsScript reports whether a command runs a script that is a file.
func runsScript(words []string) bool {
	return IsShell(words[0]) && len(words) > 1 || strings.HasSuffix(words[0], ".sh") || strings.HasSuffix(words[0], ".bash")
}

// printedFile returns the only file that a command prints, or "".
func printedFile(words []string) (file string) {
	facts := programs.Of(gnuName(words[0]))
	if !facts.Output.File || facts.Files == nil {
		return ""
	}
	how := wrapper{Valued: facts.Files.Valued}
	for rest := words[1:]; ; rest = rest[1:] {
		if rest = how.commandTexts(rest); len(rest) == 0 {
			return file
		}
		if file != "" || strings.HasPrefix(rest[0], "$") {
			return ""
		}
		file = rest[0]
	}
}

// writer is a simple command of a script that may write output.
type writer struct {
	words      []string
	redirected bool   // its output goes to a file
	file       string // the file that has its output, if known
	cut        cut    // ends of its output that it, or a later command of the pipeline, cuts off
	selected   bool   // a later command of the pipeline selects or rewrites its lines
}

// writers returns the simple commands below node whose output is the script's.
func writers(node syntax.Node) []writer {
	var all []writer
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.File, *syntax.Block, *syntax.Subshell, *syntax.TimeClause, *syntax.IfClause, *syntax.ForClause,
			*syntax.WhileClause, *syntax.CaseClause, *syntax.CaseItem:
			return true
		case *syntax.Stmt:
			file, redirected := stdoutFile(n.Redirs)
			if n.Cmd == nil || !redirected {
				return true
			}
			for _, c := range writers(n.Cmd) {
				all = append(all, writer{words: c.words, redirected: true, file: file})
			}
		case *syntax.BinaryCmd:
			if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
				return true
			}
			all = append(all, pipeWriters(n)...)
		case *syntax.CallExpr:
			if words := wordsOf(n.Args); len(words) > 0 {
				all = append(all, writer{words: words, cut: cutOf(words)})
			}
		}
		return false // substitutions, tests, functions: their output is not the script's
	})
	return all
}

// pipeWriters returns the command that wrote the output of a pipeline: the first
// one, since the others mostly shorten it, or the second one if the first only
// prints its input.
func pipeWriters(c *syntax.BinaryCmd) []writer {
	left, right := writers(c.X), writers(c.Y)
	switch {
	case len(right) > 0 && baseName(right[0].words[0]) == "xargs":
		how, _ := wrapperOf("xargs")
		words := how.commandTexts(right[0].words[1:])
		if len(words) > 0 {
			return []writer{{words: words, redirected: right[0].redirected}}
		}
	case len(left) == 1 && len(right) > 0 && printsItsWords(left[0].words):
		return right
	}
	if len(right) == 1 && right[0].redirected && baseName(right[0].words[0]) != "tee" {
		for i := range left {
			left[i].redirected = true
		}
	}
	for i := range left {
		if len(right) == 1 && baseName(right[0].words[0]) == "tee" && len(right[0].words) > 1 && !left[i].selected {
			left[i].file = right[0].words[len(right[0].words)-1]
		}
		if len(right) > 0 {
			left[i].selected = left[i].selected || selectsLines(right[0].words)
			left[i].cut |= right[0].cut
		}
	}
	return left
}

// cut is which ends of an output are cut off by the numbers of lines.
type cut uint8

const (
	cutsEnd   cut = 1 << iota // as head does
	cutsBegin                 // as tail does
	cutsBoth  = cutsEnd | cutsBegin
)

// lineRange matches the script of sed -n that prints lines by their numbers.
var lineRange = lazyregexp.New(`^(\d+(,[+~]?(\d+|\$))?p;? ?)+(\d+q)?$`)

func cutOf(words []string) cut {
	switch gnuName(baseName(words[0])) {
	case "head":
		return cutsEnd
	case "tail":
		return cutsBegin
	case "sed":
		if hasOption(words, "-n --quiet --silent") && slices.ContainsFunc(words[1:], lineRange.MatchString) {
			return cutsBoth
		}
	}
	return 0
}

// selectsLines reports whether a command in a pipeline selects lines by their text, or
// rewrites them. Commands that only drop lines, or cut them by width, do not.
func selectsLines(words []string) bool {
	out := outputOf(words)
	switch {
	case !out.Selects:
		return false
	case out.SelectsWith != "":
		return hasOption(words, out.SelectsWith)
	}
	return !hasOption(words, out.SelectsUnless)
}

// outputOf returns what the output of a command's program is.
func outputOf(words []string) programs.Output { return programs.Of(baseName(words[0])).Output }

// hasOption reports whether a command has one of the options, a short one possibly among others of
// one word.
func hasOption(words []string, options string) bool {
	for _, w := range words[1:] {
		if w == "--" {
			return false
		}
		for o := range strings.FieldsSeq(options) {
			switch {
			case strings.HasPrefix(o, "--"):
				if strings.HasPrefix(w, o) {
					return true
				}
			case len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.IndexByte(w, o[1]) > 0:
				return true
			}
		}
	}
	return false
}

// printsItsWords reports whether a command at the start of a pipeline is only the input of
// the next one.
func printsItsWords(words []string) bool { return outputOf(words).Input }

// stdoutFile returns the file to which standard output goes. ok is false if it goes to none.
func stdoutFile(redirs []*syntax.Redirect) (file string, ok bool) {
	for _, r := range redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		default:
			continue
		}
		if r.N != nil && r.N.Value != "1" {
			continue
		}
		switch file := wordOf(r.Word); {
		case file == "/dev/stdout", file == "/dev/stderr", file == "/dev/tty":
		case strings.HasPrefix(file, "/dev/"), strings.Contains(file, "$"):
			return "", true
		default:
			return file, true
		}
	}
	return "", false
}

// wordsOf returns the words with quotes and backslashes removed. "$" stands for each
// expansion.
func wordsOf(args []*syntax.Word) []string {
	var words []string
	for _, w := range args {
		words = append(words, wordOf(w))
	}
	return words
}

func wordOf(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, "\\", ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, in := range p.Parts {
				if lit, ok := in.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
				} else {
					b.WriteString("$")
				}
			}
		default:
			b.WriteString("$")
		}
	}
	return b.String()
}

// writesNothing reports whether a command writes nothing on success.
func writesNothing(words []string) bool {
	out := outputOf(words)
	return out.Silent && !hasOption(words, out.Verbose)
}

// isCommentary reports whether a command mostly comments on another one.
func isCommentary(words []string) bool { return outputOf(words).Comment }

// baseName returns the name of a program without its directory.
func baseName(word string) string { return path.Base(strings.ReplaceAll(word, "\\", "/")) }
