package fetch

import (
	"bytes"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// hiddenElements are elements whose contents are not text of the page.
var hiddenElements = [...]string{"style", "script", "svg"}

// minHidden is the least size of such contents to remove, in bytes.
const minHidden = 80

// maxTag is the longest start tag of such an element, in bytes.
const maxTag = 2 << 10

// foldHTML removes styles, scripts and drawings from a page and breaks its long
// lines, so that its text can be found. ok is false if the text is not a page
// or has nothing to remove.
func foldHTML(body []byte, width int) (short []byte, ok bool) {
	if start := bytes.TrimSpace(body[:min(len(body), 300)]); !bytes.HasPrefix(start, []byte{'<'}) ||
		!text.HasPrefixFold(start, []byte("<!doctype html")) && !text.HasPrefixFold(start, []byte("<html")) {
		return body, false
	}
	at := 0
	var endless [len(hiddenElements)]bool
	for at < len(body) {
		open := bytes.IndexByte(body[at:], '<')
		if open < 0 {
			break
		}
		open += at
		from, to := hiddenContents(body, open, &endless)
		if to-from < minHidden {
			short = append(short, body[at:open+1]...)
			at = open + 1
			continue
		}
		short = append(short, body[at:from]...)
		short = strconv.AppendInt(append(short, "... ("...), int64(to-from), 10)
		short = append(short, " bytes) ..."...)
		at = to
	}
	short = append(short, body[at:]...)
	for l := range bytes.SplitSeq(short, []byte{'\n'}) {
		if len(l) > width {
			short = bytes.ReplaceAll(short, []byte("><"), []byte(">\n<"))
			break
		}
	}
	return short, len(short) != len(body)
}

// hiddenContents returns the contents of the element that begins at open. It
// returns an empty range if they matter, or if the element does not end;
// endless records such elements by name.
func hiddenContents(body []byte, open int, endless *[len(hiddenElements)]bool) (from, to int) {
	rest := body[open+1:]
	for i, name := range hiddenElements {
		if endless[i] || !text.HasPrefixFold(rest, []byte(name)) || len(rest) == len(name) || text.AlnumSet[rest[len(name)]] {
			continue
		}
		tag := bytes.IndexByte(rest[:min(len(rest), maxTag)], '>')
		if tag < 0 || rest[tag-1] == '/' {
			return 0, 0
		}
		for at := tag + 1; ; {
			end := bytes.Index(rest[at:], []byte("</"))
			if end < 0 {
				endless[i] = true
				return 0, 0
			}
			if at += end; text.HasPrefixFold(rest[at+2:], []byte(name)) {
				return open + 1 + tag + 1, open + 1 + at
			}
			at += 2
		}
	}
	return 0, 0
}
