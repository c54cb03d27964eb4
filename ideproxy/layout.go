package ideproxy

import (
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
)

// Why layouts? Many editors hold a file as a list of lines, and send these joined by
// "\n". Such a text lacks the byte order mark, the carriage returns or the newline at
// the end. Some of these editors add them when they save a buffer. Others write the
// text to the file unchanged, which would change every line of the file.

// layout names the parts of a file that the client's text lacks. The zero value means that
// it lacks nothing.
type layout struct {
	byteOrderMark   bool // the byte order mark
	carriageReturns bool // the carriage returns
}

// missingLayout returns the parts of the file's layout that the client's text lacks.
func missingLayout(text, file string) layout {
	return layout{
		byteOrderMark:   strings.HasPrefix(file, executors.ByteOrderMark) && !strings.HasPrefix(text, executors.ByteOrderMark),
		carriageReturns: strings.Contains(file, "\r\n") && !strings.Contains(text, "\r"),
	}
}

// lacksFinalNewline reports whether the client's text lacks the newline at the end of the file.
func lacksFinalNewline(text, file string) bool {
	return text != "" && strings.HasSuffix(file, "\n") && !strings.HasSuffix(text, "\n")
}

// restore returns a new text of the client in the layout of the file.
func (l layout) restore(text, file string) string {
	if l.carriageReturns {
		text = files.KeepLayout(file, text)
	}
	if l.byteOrderMark && !strings.HasPrefix(text, executors.ByteOrderMark) {
		text = executors.ByteOrderMark + text
	}
	return text
}

// correction returns the text to send again after the client saved text, if the file now
// has the lines of want in another layout.
func correction(text, want, file string) (again string, ok bool) {
	switch {
	case file == want:
		return "", false
	case file == text: // written as it was sent
		return want, true
	case strings.HasSuffix(want, "\n") && withoutLayout(file) == withoutLayout(want)+"\n":
		return strings.TrimSuffix(text, "\n"), true // the editor counts a line after the last newline
	}
	return "", false // not saved, or formatted
}

// sameLines compares texts without their layout.
func sameLines(a, b string) bool {
	return a == b || strings.TrimSuffix(withoutLayout(a), "\n") == strings.TrimSuffix(withoutLayout(b), "\n")
}

// withoutLayout returns a text without byte order mark and carriage returns.
func withoutLayout(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, executors.ByteOrderMark), "\r\n", "\n")
}

// garbled reports whether text is the content of a file that is not UTF-8, with the
// invalid bytes replaced or left out.
func garbled(text, file string) bool {
	return !utf8.ValidString(file) &&
		(strings.Contains(text, "\uFFFD") || sameLines(text, strings.ToValidUTF8(file, "")))
}

// misread reports whether text is the content of a file as if it were Latin-1, which some editors assume for each file
// that is not UTF-8. right is its text in the right encoding.
func misread(text, file, right string) bool {
	if sameLines(text, right) {
		return false
	}
	var latin strings.Builder
	for i := range len(file) {
		latin.WriteRune(rune(file[i]))
	}
	return sameLines(text, latin.String())
}
