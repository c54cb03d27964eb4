package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
)

const (
	maxInline = 64 << 10        // bytes of stdin that become a text of the prompt
	stdinPart = "-"             // stands for stdin
	stdinName = "stdin"         // of the attachment
	longRead  = 3 * time.Second // then the user learns that run reads stdin
)

// stdin is the standard input of run, as far as it belongs to the prompt.
type stdin struct {
	*os.File
	most   int         // bytes of a prompt
	attach func() bool // reports whether it is an attachment at any size: direct reads no calls in one
	quiet  bool        // without a hint on stderr
	read   bool        // it was read, so the user's answers cannot come from it
}

// promptOf returns the prompt: the arguments, with stdin in the place of "-", or below
// them if it is not a terminal. A command, which begins with "/", gets stdin only for "-".
func (in *stdin) promptOf(args []string) ([]acp.ContentBlock, error) {
	var before, after, piped string
	at := slices.Index(args, stdinPart)
	asked := at >= 0
	if asked {
		before, after = strings.Join(args[:at], " "), strings.Join(args[at+1:], " ")
		if slices.Contains(args[at+1:], stdinPart) {
			return nil, usageError(`"-" stands for stdin, which can be in a prompt only once`)
		}
	} else {
		before = strings.Join(args, " ")
	}
	if asked || !isTerminal(in.File) && !isCommand(before) {
		var err error
		if piped, err = in.text(asked); err != nil {
			return nil, err
		}
	}
	in.read = asked || !isBlank(piped)
	switch {
	case isBlank(before + piped + after):
		return nil, usageError(`want a prompt: try "zeph-acp run --help"`)
	case len(before)+len(piped)+len(after) > in.most:
		return nil, usageError("the prompt has more than %d bytes (acp.max_line_bytes)", in.most)
	}
	return in.joined(before, piped, after), nil
}

// joined returns the prompt of its parts. An attachment is never a call of the user, so a
// text that could become one is attached.
func (in *stdin) joined(before, piped, after string) []acp.ContentBlock {
	switch {
	case isBlank(before + after):
		return []acp.ContentBlock{acp.TextBlock(piped)}
	case isBlank(piped):
		return []acp.ContentBlock{acp.TextBlock(paragraphs(before, after))}
	case !isBlank(before) && !isCommand(before) && len(piped) <= maxInline && !in.attach():
		return []acp.ContentBlock{acp.TextBlock(paragraphs(before, strings.TrimRight(piped, "\r\n"), after))}
	}
	attached := acp.ContentBlock{Type: "resource", Resource: &acp.Resource{URI: stdinName, MIMEType: "text/plain", Text: &piped}}
	return []acp.ContentBlock{acp.TextBlock(paragraphs(before, after)), attached}
}

// isCommand reports whether a prompt is a command of the user, such as "/bash make".
func isCommand(prompt string) bool { return strings.HasPrefix(strings.TrimSpace(prompt), "/") }

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// text reads stdin to its end, or until it is longer than a prompt. If that takes long,
// and the user has not asked for it, a line on stderr says so.
func (in *stdin) text(asked bool) (string, error) {
	switch {
	case isTerminal(in.File):
		fmt.Fprintln(os.Stderr, "zeph-acp: type the text for \"-\", then Ctrl-D")
	case !asked && !in.quiet:
		defer time.AfterFunc(longRead, func() {
			fmt.Fprintln(os.Stderr, "zeph-acp: reading stdin, which joins the prompt; </dev/null leaves it out")
		}).Stop()
	}
	text, err := io.ReadAll(io.LimitReader(in.File, int64(in.most)+1))
	if err != nil {
		return "", fmt.Errorf("read the prompt: %w", err)
	}
	return string(text), nil
}

// paragraphs joins the texts that are not empty.
func paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n\n")
}
