// Package charset converts the bytes of text files to UTF-8 and back. A file keeps its
// encoding, and the bytes of text that a change does not touch.
//
// Start with [Detect] for a file's content, or [Named] for an encoding that the user
// declares. [Encoding.Decode] returns the text; [Encoding.Encode] returns the new
// bytes after a change of the text.
//
// It promises that a line with the same text keeps its bytes, whatever they are: bytes
// that are invalid, or one of several codes of a character. A character that the encoding
// lacks is an error, never a question mark. Detect returns nil rather than a guess.
//
// Why an own detector? Of the libraries, saintfish/chardet calls Czech and Hungarian text
// Latin-1, and wlynxg/chardet has tables of 450 KB that are made when a process starts.
// Neither says when it does not know. Decoders and encoders are from x/text.
package charset

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding" // the codes of characters; package web has the same tables in the binary
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// Encoding is an encoding of files. It may be used concurrently.
type Encoding struct {
	name  string
	codec encoding.Encoding
	wide  bool // units of two bytes
	big   bool // and the first byte of a unit is the higher one
	mark  bool // a new file begins with a byte order mark
}

// Byte order marks.
const (
	markUTF8    = "\xef\xbb\xbf"
	markLittle  = "\xff\xfe"
	markBig     = "\xfe\xff"
	markUTF32LE = "\xff\xfe\x00\x00"
)

// alias returns the usual name for one that the table of x/text lacks.
func alias(name string) string {
	switch name {
	case "cp932", "ms932", "windows-932":
		return "shift_jis"
	case "cp936", "ms936", "windows-936":
		return "gbk"
	case "cp949", "ms949", "uhc", "euckr", "euc_kr":
		return "euc-kr"
	case "cp950", "windows-950":
		return "big5"
	case "eucjp", "euc_jp":
		return "euc-jp"
	case "koi8r":
		return "koi8-r"
	case "koi8u":
		return "koi8-u"
	}
	return name
}

// isLatin1 reports whether a name means ISO-8859-1. Browsers take it for Windows-1252, and so does
// the table of x/text.
func isLatin1(name string) bool {
	switch name {
	case "latin1", "latin-1", "iso-8859-1", "iso8859-1", "iso_8859-1", "iso88591", "l1":
		return true
	}
	return false
}

// Named returns the encoding with a name, as .editorconfig, .gitattributes and browsers
// name it. It returns nil for an unknown name, and for encodings whose bytes depend on earlier
// lines. "utf-16" and names that end in "-bom" have a byte order mark in a new file.
func Named(name string) *Encoding {
	name = alias(strings.ToLower(strings.TrimSpace(name)))
	if isLatin1(name) {
		return &Encoding{name: "ISO-8859-1", codec: charmap.ISO8859_1}
	}
	plain, marked := strings.CutSuffix(name, "-bom")
	switch plain {
	case "utf-8", "utf8":
		return utf8Encoding(marked)
	case "utf-16":
		return utf16(false, true)
	case "utf-16le", "utf16le", "utf-16-le":
		return utf16(false, marked)
	case "utf-16be", "utf16be", "utf-16-be":
		return utf16(true, marked)
	case "gb18030":
		return &Encoding{name: "GB18030", codec: simplifiedchinese.GB18030}
	case "replacement", "x-user-defined":
		return nil
	}
	codec, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	canonical, err := htmlindex.Name(codec)
	if err != nil || strings.HasPrefix(canonical, "iso-2022") || strings.HasPrefix(canonical, "hz-") || canonical == "replacement" ||
		strings.HasPrefix(canonical, "utf-") {
		return nil
	}
	return &Encoding{name: display(canonical), codec: codec}
}

// display returns a name as people write it.
func display(canonical string) string {
	switch canonical {
	case "shift_jis":
		return "Shift_JIS"
	case "big5":
		return "Big5"
	case "macintosh":
		return "Mac Roman"
	}
	if rest, ok := strings.CutPrefix(canonical, "windows-"); ok {
		return "Windows-" + rest
	}
	return strings.ToUpper(canonical)
}

func windows1252() *Encoding { return &Encoding{name: "Windows-1252", codec: charmap.Windows1252} }

func utf8Encoding(marked bool) *Encoding {
	return &Encoding{name: UTF8, codec: unicode.UTF8, mark: marked}
}

func utf16(big, marked bool) *Encoding {
	e := &Encoding{name: "UTF-16LE", codec: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), wide: true, big: big, mark: marked}
	if big {
		e.name, e.codec = "UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return e
}

// WithMark returns the encoding with a byte order mark in a new file, if it is a Unicode encoding.
func (e *Encoding) WithMark() *Encoding {
	marked := *e
	marked.mark = e.wide || e.name == UTF8
	return &marked
}

// Name returns the usual name of the encoding.
func (e *Encoding) Name() string { return e.name }

// UTF8 is the name of UTF-8. It is an Encoding only of files that have some invalid bytes, or of new ones.
const UTF8 = "UTF-8"

// MultiByte reports whether characters beyond ASCII have two bytes or more, and are not Unicode.
func (e *Encoding) MultiByte() bool {
	_, single := e.codec.(*charmap.Charmap)
	return !single && !e.wide && e.name != UTF8
}

// Wide reports whether the encoding is UTF-16, in which even ASCII has other bytes than in UTF-8.
func (e *Encoding) Wide() bool { return e.wide }

// IsUTF8 reports whether content is UTF-8 text.
func IsUTF8(content string) bool {
	return strings.IndexByte(content, 0) < 0 && utf8.ValidString(content)
}

// For returns the encoding of a file whose user declares e: e itself, its superset if the content needs it, or nil
// if the content cannot be text in it.
func (e *Encoding) For(content string) *Encoding {
	sample := content[:min(len(content), maxSample)]
	if strings.HasPrefix(content, markLittle) || strings.HasPrefix(content, markBig) || !e.wide && strings.IndexByte(sample, 0) >= 0 {
		return nil
	}
	if e.name == "ISO-8859-1" && strings.ContainsFunc(charsOf(sample), func(r rune) bool { return r >= 0x80 && r < 0xA0 }) {
		e = windows1252()
	}
	if e.name == "GBK" && e.badChars(sample) > 0 {
		e = &Encoding{name: "GB18030", codec: simplifiedchinese.GB18030}
	}
	if bad := e.badChars(sample); bad > 0 && bad*20 > len(sample) {
		return nil
	}
	return e
}

// charsOf returns the bytes of s as characters.
func charsOf(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// badChars counts the characters that text does not have: control characters and invalid bytes.
func (e *Encoding) badChars(content string) int {
	bad := 0
	for _, r := range e.Decode(content) {
		if isBad(r) {
			bad++
		}
	}
	return bad
}
