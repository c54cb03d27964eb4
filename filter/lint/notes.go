package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// maxNotesFull is how many notes of an error show other people's code, or are at
// one place. More of them are mostly attempts of the compiler.
const maxNotesFull = 3

// maxCompared limits the places and excerpts of code of one error that are
// compared.
const maxCompared = 200

// shownNotes are the texts and places that the notes of an error have shown so far.
type shownNotes struct {
	count  int
	places map[string]int      // number of notes at each place in own code
	code   map[string]struct{} // excerpts
}

// reset begins the notes of another error.
func (n *shownNotes) reset() {
	n.count = 0
	clear(n.places)
	clear(n.code)
}

// isSurplus counts a note and reports whether another one at its place would be of
// little use.
func (n *shownNotes) isSurplus(p position) bool {
	n.count++
	if isLibraryFile(p.file) {
		return n.count > maxNotesFull
	}
	if n.places == nil {
		n.places = map[string]int{}
	}
	place := string(p.file) + string(p.pos)
	if before, known := n.places[place]; known || len(n.places) < maxCompared {
		n.places[place] = before + 1
	}
	return n.places[place] > maxNotesFull
}

// isLibraryFile reports whether a file belongs to the system or a library.
func isLibraryFile(file []byte) bool {
	for _, dir := range libraryDirs {
		if bytes.HasPrefix(file, dir) {
			return true
		}
	}
	return bytes.Contains(file, []byte("/.cargo/")) ||
		bytes.Contains(file, []byte("/node_modules/")) ||
		bytes.Contains(file, []byte("/.conan"))
}

var libraryDirs = text.ByteTexts("/usr/", "/opt/", "/Library/", "/Applications/", "/nix/", "/lib/", "C:\\Program")

// withoutShownCode returns the lines of an error and its notes without excerpts of
// code that were shown before, and the number of removed lines. The notes of a
// compiler about its attempts point to the same code again and again.
func (n *shownNotes) withoutShownCode(lines []byte) (rest []byte, removed int) {
	rest = make([]byte, 0, len(lines))
	begin := -1 // of the excerpt, in rest
	end := func() {
		if begin < 0 {
			return
		}
		code := rest[begin:]
		if _, shown := n.code[string(code)]; shown {
			removed += bytes.Count(code, []byte("\n"))
			rest = rest[:begin]
		} else if len(n.code) < maxCompared {
			if n.code == nil {
				n.code = map[string]struct{}{}
			}
			n.code[string(code)] = struct{}{}
		}
		begin = -1
	}
	for l := range bytes.Lines(lines) {
		switch code := showsCode(bytes.TrimSuffix(l, []byte("\n"))); {
		case !code:
			end()
		case begin < 0:
			begin = len(rest)
		}
		rest = append(rest, l...)
	}
	end()
	return rest, removed
}
