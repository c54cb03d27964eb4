package plain

import (
	"errors"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
)

// Tests and actions of find that only read: without an operand, with a text,
// and with a file.
const (
	findBare = " -a -and -o -or -not ! ( ) , -daystart -depth -d -empty -executable -readable -writable -ls -mount " +
		"-noleaf -nogroup -nouser -print -print0 -prune -quit -true -false -xdev "
	findWithText = " -amin -atime -cmin -ctime -gid -group -ilname -iname -inum -ipath -iregex -links -lname -maxdepth " +
		"-mindepth -mmin -mtime -name -newermt -path -perm -printf -regex -regextype -size -type -uid -user -wholename " +
		"-xtype "
	findWithFile = " -anewer -cnewer -newer -samefile "
	findActions  = " -ls -printf -print -print0 -quit -prune "
)

// acceptFind accepts starting points and an expression that does not write, and runs only
// commands that read.
func acceptFind(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	out := &acceptedCommand{words: []string{quoteProgram(c.words[0].text())}}
	args, err := out.addStartingPoints(b, args)
	if err != nil {
		return nil, errorf("find: %w", err)
	}
	start, runs := len(out.words), false
	var e findExpression
	for i := 0; i < len(args); i++ {
		w := args[i]
		if !w.literal() {
			return nil, errors.New("find: its expression is computed")
		}
		name := " " + w.text() + " "
		switch {
		case w.text() == "-exec":
			n, err := out.addExec(b, c, args[i:])
			if err != nil {
				return nil, errorf("find: %w", err)
			}
			i, runs = i+n-1, true
		case strings.ContainsAny(w.text(), " "):
			return nil, errorf("find: %q is not known to be read-only", w.text())
		case strings.Contains(findBare, name):
			e.hasActions = e.hasActions || strings.Contains(findActions, name)
			e.hasPrint0 = e.hasPrint0 || w.text() == "-print0"
			out.words = append(out.words, w.source)
		case (strings.Contains(findWithText, name) || strings.Contains(findWithFile, name)) && i+1 < len(args) && args[i+1].known():
			value := args[i+1]
			if w.text() == "-newermt" && slices.ContainsFunc(value.Values, namesTimeZone) {
				return nil, errors.New("find: it may read a file as a time zone")
			}
			e.hasActions = e.hasActions || w.text() == "-printf"
			if strings.Contains(findWithFile, name) {
				for _, v := range value.Values {
					out.files = append(out.files, File{Text: v, Dirs: b.dirs})
				}
			}
			out.words = append(out.words, w.source, value.source)
			i++
		default:
			return nil, errorf("find: %s is not known to be read-only", w.source)
		}
	}
	if runs { // it prints more than names
		return out, nil
	}
	e.words = slices.Clone(out.words[start:])
	out.xargsInput = &nameLister{separateByNUL: func() error {
		words, err := e.appendSeparatedByNUL(out.words[:start:start])
		if err == nil {
			out.words = words
		}
		return err
	}}
	return out, nil
}

// findExpression is the expression of a find that prints names.
type findExpression struct {
	words      []string
	hasActions bool // a print or another action, so that find does not print by itself
	hasPrint0  bool
}

// appendSeparatedByNUL appends the expression to words in a form that prints names for "xargs -0".
func (e findExpression) appendSeparatedByNUL(words []string) ([]string, error) {
	if e.hasActions && !(e.hasPrint0 && endsInOnePrint0(e.words)) {
		return nil, errors.New("find: xargs would get more than names from it")
	}
	expression := e.words
	if e.hasPrint0 {
		expression = expression[:len(expression)-1]
	}
	if len(expression) > 0 {
		words = slices.Concat(words, []string{`'('`}, expression, []string{`')'`})
	}
	return append(words, "-print0"), nil
}

// addExec adds an action "-exec COMMAND {} ;" or "-exec COMMAND {} +", and returns the number of
// its words. The names never begin with a dash, since no starting point does.
func (out *acceptedCommand) addExec(b *builder, c *Command, args []Word) (n int, err error) {
	end := slices.IndexFunc(args, func(w Word) bool { return w.literal() && w.text() == ";" })
	plus := slices.IndexFunc(args, func(w Word) bool { return w.literal() && w.text() == "+" })
	if plus > 0 && args[plus-1].text() == "{}" && (end < 0 || plus < end) {
		end = plus
	}
	if end < 3 {
		return 0, errors.New("-exec has no command")
	}
	if slices.ContainsFunc(args[:end], func(w Word) bool { return !w.literal() }) {
		return 0, errors.New("a word of -exec is computed, and may be the \";\" that ends it")
	}
	inner, err := b.acceptForFiles(c, args[1:end], "{}")
	if err != nil {
		return 0, err
	}
	out.words = slices.Concat(out.words, []string{"-exec"}, inner.words, []string{"'{}'", args[end].source})
	out.files = append(out.files, inner.files...)
	return end + 1, nil
}

// addStartingPoints adds the operands of find before its expression, and returns the
// words of the expression.
func (out *acceptedCommand) addStartingPoints(b *builder, args []Word) (expression []Word, err error) {
	for i, w := range args {
		if w.mayBegin('-') || w.mayBegin('(') || w.mayBegin('!') || w.mayBegin(',') {
			return args[i:], nil
		}
		files, err := (&program{programs.Plain{OpensNothing: true}}).operandFiles(b, w)
		if err != nil {
			return nil, err
		}
		out.files = append(out.files, files...)
		out.words = append(out.words, w.source)
	}
	return nil, nil
}

// endsInOnePrint0 reports whether the last word of an expression is its only "-print0".
func endsInOnePrint0(expression []string) bool {
	text := " " + strings.Join(expression, " ") + " "
	return strings.HasSuffix(text, " -print0 ") && strings.Count(text, " -print0 ") == 1
}
