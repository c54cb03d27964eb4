package files

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/charset"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// fileText is the content of a file.
type fileText struct {
	text     string            // as all tools see it: UTF-8, or the bytes if they are not text in a known encoding
	bytes    string            // as the file has it
	encoding *charset.Encoding // nil: UTF-8, or unknown
	unknown  string            // the name of a declared encoding that is not known
}

// decode returns the content of the file at abs as text. It looks for declarations only if the content may
// be in another encoding than UTF-8.
func decode(abs, content string, d *declarations) fileText {
	f := fileText{text: content, bytes: content}
	isUTF8 := charset.IsUTF8(content)
	if isUTF8 && !mayBeDeclared(content) {
		return f
	}
	declared := d.of(abs)
	f.unknown = declared.unknown
	if f.encoding = declared.encoding; f.encoding != nil {
		if isUTF8 && !f.encoding.MultiByte() || f.encoding.Name() == charset.UTF8 {
			f.encoding = nil
		} else {
			f.encoding = f.encoding.For(content)
		}
	}
	if f.encoding == nil && !isUTF8 {
		f.encoding = charset.Detect(content)
	}
	if f.encoding != nil {
		f.text = f.encoding.Decode(content)
	}
	return f
}

// TextOf returns the text of a file with this content. encoded reports that it is in a known encoding that is not UTF-8.
func TextOf(roots *workspace.Roots, path, content string) (text string, encoded bool) {
	f := decode(path, content, newDeclarations(roots))
	return f.text, f.encoding != nil
}

// BytesOf returns a new text in the encoding of a file with this content. The error is an [*executors.Failure]
// if the encoding lacks one of its characters.
func BytesOf(roots *workspace.Roots, path, content, text string) (string, error) {
	f := decode(path, content, newDeclarations(roots))
	if f.encoding == nil {
		return text, nil
	}
	encoded, err := f.encoding.Encode(content, text)
	return encoded, explainEncoding(err, executors.OneLine(roots.Rel(path)))
}

// IsText reports whether content is UTF-8 text, which an editor can hold.
func IsText(content string) bool { return charset.IsUTF8(content) }

// maxChance is the most characters beyond ASCII that text in another encoding may form in UTF-8 by chance.
const maxChance = 8

// mayBeDeclared reports whether UTF-8 may be by chance what is text in an encoding of two bytes. All characters are short then,
// and there are only a few.
func mayBeDeclared[Text string | []byte](content Text) bool {
	n := 0
	for i := 0; i < len(content); i++ {
		if content[i] < utf8.RuneSelf {
			continue
		}
		if n++; n > 2*maxChance || content[i] >= 0xE0 {
			return false
		}
	}
	return n > 0
}

// searchable returns the text of a file's bytes for a search: themselves if they are UTF-8 or not text.
func searchable(abs string, data []byte, d *declarations) []byte {
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 && !mayBeDeclared(data) {
		return data
	}
	if f := decode(abs, string(data), d); f.encoding != nil {
		return []byte(f.text)
	}
	return data
}

// maxWideHead is how many bytes mayBeWide looks at.
const maxWideHead = 512

// mayBeWide reports whether the content may be UTF-16, whose ASCII characters have other bytes. Most binary files
// soon have two zero bytes in a row.
func mayBeWide(data []byte) bool {
	head := data[:min(len(data), maxWideHead)&^1]
	zero := false
	for i := 0; i < len(head); i += 2 {
		if head[i] == 0 && head[i+1] == 0 {
			return false
		}
		zero = zero || head[i] == 0 || head[i+1] == 0
	}
	return zero || bytes.HasPrefix(data, []byte{0xFF, 0xFE}) || bytes.HasPrefix(data, []byte{0xFE, 0xFF})
}

// encodingNote returns an encoding for the end of a line, "" for UTF-8.
func encodingNote(e *charset.Encoding) string {
	if e == nil {
		return ""
	}
	return " [" + e.Name() + "]"
}

// checkText refuses content that is not text in a known encoding.
func checkText(tg target, f fileText) error {
	if f.encoding != nil || charset.IsUTF8(f.bytes) {
		return nil
	}
	size := quantity.Count(len(f.bytes), "byte")
	failure := executors.Failuref(executors.PermanentFailure, "%s is a binary file or text in an unknown encoding (%s)", tg.display, size)
	switch {
	case f.unknown != "":
		return failure.Hint("%s", unknownEncoding(f.unknown))
	case strings.IndexByte(f.bytes, 0) >= 0:
		return executors.Failuref(executors.PermanentFailure, "%s is a binary file (%s)", tg.display, size).
			Hint("Use a program that knows its format.")
	}
	return failure.Hint("If it is text, name its encoding in .editorconfig: charset = … in a section for this file, such as latin1, shift_jis or gbk. " +
		"Ask the user if you do not know it.")
}

// unknownEncoding returns the advice for a declared encoding that is not known.
func unknownEncoding(name string) string {
	return fmt.Sprintf("The encoding %q that .editorconfig or .gitattributes names is not known here. Name it as browsers do, such as windows-1252, "+
		"or convert the file in bash with iconv.", name)
}

// encode sets the bytes of a change, in the encoding of the file. A new file has the declared encoding, and so does
// a file that gets its first character beyond ASCII.
func (t *tools) encode(c *change) error {
	c.bytes, c.encoding = c.text, c.from.encoding
	if c.encoding == nil && (c.old == nil || isASCII(*c.old) && !isASCII(c.text)) {
		declared := newDeclarations(t.roots).of(c.abs)
		if declared.unknown != "" && !isASCII(c.text) {
			return executors.Failuref(executors.PermanentFailure, "the encoding of %s is unknown", c.display).
				Hint("%s", unknownEncoding(declared.unknown))
		}
		if c.old == nil || declared.encoding != nil && !declared.encoding.Wide() && declared.encoding.Name() != charset.UTF8 {
			c.encoding = declared.encoding
		}
	}
	if c.encoding == nil {
		return nil
	}
	var err error
	if c.old == nil {
		c.bytes, err = c.encoding.EncodeNew(c.text)
	} else {
		c.bytes, err = c.encoding.Encode(c.from.bytes, c.text)
	}
	if c.encoding.Name() == charset.UTF8 && c.old == nil {
		c.text, c.encoding = c.bytes, nil
	}
	return explainEncoding(err, c.display)
}

// explainEncoding returns the failure of a change that its encoding cannot hold.
func explainEncoding(err error, name string) error {
	missing, ok := errors.AsType[*charset.MissingError](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return executors.Failuref(executors.PermanentFailure, "%s was not changed: %v", name, err).
			Hint("Replace the whole line.")
	case missing.Char == utf8.RuneError:
		return executors.Failuref(executors.InvalidParameters, "%s was not changed: %v", name, missing).
			Hint("Keep U+FFFD where read shows it, or replace it with the right character.")
	}
	return executors.Failuref(executors.InvalidParameters, "%s was not changed: %v", name, missing).
		Hint("Write the character as an escape of the file's language or with other characters. To change the encoding of the file, convert it in bash with iconv first.")
}

// isASCII reports whether text has only ASCII characters.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
