package run

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

const (
	maxInline = 64 << 10        // bytes of stdin that are put into the text of the prompt
	StdinArg  = "-"             // the argument that stands for stdin
	stdinName = "stdin"         // the name of stdin as an attachment
	longRead  = 3 * time.Second // after which a hint says that run reads stdin
)

// stdin is the standard input of run, as far as it belongs to the prompt.
type stdin struct {
	*os.File
	maxBytes     int         // the limit of a prompt
	alwaysAttach func() bool // reports whether stdin is attached at any size: direct finds no calls in an attachment
	quiet        bool        // print no hint to stderr
	wasRead      bool        // stdin was read, so the user's answers cannot come from it
}

// promptOf returns the prompt: the arguments, with stdin in place of "-", or below them if
// it is not a terminal. A command, which begins with "/", gets stdin only for "-".
func (in *stdin) promptOf(args []string) ([]acp.ContentBlock, error) {
	var before, after, piped string
	at := slices.Index(args, StdinArg)
	asked := at >= 0
	if asked {
		before, after = strings.Join(args[:at], " "), strings.Join(args[at+1:], " ")
		if slices.Contains(args[at+1:], StdinArg) {
			return nil, cli.Usagef(`"-" stands for stdin, which can be in a prompt only once`)
		}
	} else {
		before = strings.Join(args, " ")
	}
	if asked || !cli.IsTerminal(in.File) && !isCommand(before) {
		var err error
		if piped, err = in.text(asked); err != nil {
			return nil, err
		}
	}
	in.wasRead = asked || !isBlank(piped)
	switch {
	case isBlank(before + piped + after):
		return nil, cli.Usagef(`want a prompt: try "zeph-acp run --help"`)
	case len(before)+len(piped)+len(after) > in.maxBytes:
		return nil, cli.Usagef("the prompt has more than %s (acp.max_line_bytes)", quantity.Count(in.maxBytes, "byte"))
	}
	return in.assemble(before, piped, after), nil
}

// assemble joins the parts of a prompt. An attachment is never a call of the user, so a
// text that could become one is attached.
func (in *stdin) assemble(before, piped, after string) []acp.ContentBlock {
	switch {
	case isBlank(before + after):
		return []acp.ContentBlock{acp.TextBlock(piped)}
	case isBlank(piped):
		return []acp.ContentBlock{acp.TextBlock(paragraphs(before, after))}
	case !isBlank(before) && !isCommand(before) && len(piped) <= maxInline && !in.alwaysAttach():
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
	case cli.IsTerminal(in.File):
		fmt.Fprintln(os.Stderr, "zeph-acp: type the text for \"-\", then Ctrl-D")
	case !asked && !in.quiet:
		defer time.AfterFunc(longRead, func() {
			fmt.Fprintln(os.Stderr, "zeph-acp: reading stdin, which joins the prompt; </dev/null leaves it out")
		}).Stop()
	}
	text, err := io.ReadAll(io.LimitReader(in.File, int64(in.maxBytes)+1))
	if err != nil {
		return "", fmt.Errorf("read the prompt: %w", err)
	}
	return string(text), nil
}

// paragraphs joins the texts that are not empty.
func paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n\n")
}
