package ideproxy

import (
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/files"
)

// Why layouts? Many editors hold a file as a list of lines, and send these joined by
// "\n". Such a text lacks the byte order mark, the carriage returns or the newline at
// the end. Some of these editors add them when they save a buffer. Others write the
// text to the file as it is, which would change every line of the file.

// layout is what the client's text lacks of a file. The zero value is that of a text
// that lacks nothing.
type layout struct {
	mark    bool // the byte order mark
	returns bool // the carriage returns
}

// lacking compares the client's text with the file.
func lacking(text, file string) layout {
	return layout{
		mark:    strings.HasPrefix(file, executors.ByteOrderMark) && !strings.HasPrefix(text, executors.ByteOrderMark),
		returns: strings.Contains(file, "\r\n") && !strings.Contains(text, "\r"),
	}
}

// unended reports whether the client's text lacks the newline at the end of the file.
func unended(text, file string) bool {
	return text != "" && strings.HasSuffix(file, "\n") && !strings.HasSuffix(text, "\n")
}

// restore returns a new text of the client in the layout of the file.
func (l layout) restore(text, file string) string {
	if l.returns {
		text = files.KeepLayout(file, text)
	}
	if l.mark && !strings.HasPrefix(text, executors.ByteOrderMark) {
		text = executors.ByteOrderMark + text
	}
	return text
}

// remedy returns the text to send again after the client saved text, if the file now
// has the lines of want in another layout.
func remedy(text, want, file string) (again string, ok bool) {
	switch {
	case file == want:
		return "", false
	case file == text: // written as it was sent
		return want, true
	case strings.HasSuffix(want, "\n") && bare(file) == bare(want)+"\n":
		return strings.TrimSuffix(text, "\n"), true // the editor counts a line after the last newline
	}
	return "", false // not saved, or formatted
}

// sameLines compares texts without their layout.
func sameLines(a, b string) bool {
	return a == b || strings.TrimSuffix(bare(a), "\n") == strings.TrimSuffix(bare(b), "\n")
}

// bare returns a text without byte order mark and carriage returns.
func bare(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, executors.ByteOrderMark), "\r\n", "\n")
}

// garbled reports whether text is that of a file that is not UTF-8, with the invalid
// bytes replaced or left out.
func garbled(text, file string) bool {
	return !utf8.ValidString(file) &&
		(strings.Contains(text, "\uFFFD") || sameLines(text, strings.ToValidUTF8(file, "")))
}
