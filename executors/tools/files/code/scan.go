package code

import (
	"bytes"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/search"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

const (
	maxLines     = 5000 // lines of a file that are examined
	maxTexts     = 3    // lines of text that a file contributes
	maxLong      = 2000 // bytes of a line; a longer one defines nothing
	maxSignature = 160  // characters
)

// Scanner finds the hits in one file after the other. It must not be used
// concurrently.
type Scanner struct {
	*Search
	place
	folder    folder // of the last file
	found     search.Finder
	data      []byte
	language  *language
	hits      []Hit
	texts     []Hit
	mayDefine bool // a definition in the file can be shown
	skipTexts bool // no line of text in the file can be shown
	line      int  // 1-based, of the offset counted
	counted   int
}

// Scanner returns a scanner.
func (s *Search) Scanner() *Scanner { return &Scanner{Search: s} }

// MayShow reports whether a file may have a hit that can be shown, by its path. It is
// true as long as all hits are shown.
func (sc *Scanner) MayShow(path string) bool {
	if !sc.more.Load() || sc.worst.Load() == nil {
		return true
	}
	sc.enter(path, languageByName(path))
	return sc.mayDefine || !sc.skipTexts
}

// enter checks a file by its path.
func (sc *Scanner) enter(file string, l *language) {
	if dir, _ := path.Split(file); dir != sc.folder.path {
		sc.folder = newFolder(dir)
	}
	sc.place, sc.language = sc.folder.place(file), l
	sc.setLimits()
}

// setLimits sets the kinds of hits that can be shown.
func (sc *Scanner) setLimits() {
	sc.mayDefine = sc.language != nil && sc.mayRank(&Hit{Path: sc.path, score: sc.query.bestDefinition(sc.language) - sc.penalty})
	sc.skipTexts = !sc.mayRank(&Hit{Path: sc.path, score: sc.query.bestText() - sc.penalty/4})
}

// MayMatch reports whether a file can hold a hit, also if it is text in an encoding that has ASCII as it is and
// the query is ASCII.
func (sc *Scanner) MayMatch(path string, data []byte) bool {
	found := sc.query.texts.In(data)
	return sc.query.mayMatch(path, &found)
}

// File returns the hits in a file for [Search.Add]. The path is relative, with
// slashes. stopped reports whether the result is no longer needed.
func (sc *Scanner) File(path string, data []byte, stopped func() bool) []Hit {
	sc.found = sc.query.texts.In(data)
	if !sc.query.mayMatch(path, &sc.found) || bytes.IndexByte(data, 0) >= 0 {
		return nil
	}
	sc.data, sc.line, sc.counted = data, 1, 0
	sc.hits, sc.texts = nil, sc.texts[:0]
	sc.enter(path, languageOf(path, data))
	if sc.scanText(data) {
		sc.setLimits()
	}
	switch {
	case !sc.mayDefine:
		sc.scanTexts(stopped)
	case sc.language.isGo():
		sc.scanGo(stopped)
	default:
		sc.scanLines(stopped)
	}
	sc.keepTexts()
	return sc.hits
}

// scanTexts examines the lines that contain a word of the query, in a file whose
// definitions cannot be shown.
func (sc *Scanner) scanTexts(stopped func() bool) {
	if sc.skipTexts {
		sc.more.Store(true)
		return
	}
	for from, end := range sc.matchingLines(stopped) {
		sc.addText(from, sc.lineOf(from, end))
	}
}

// scanLines examines the lines that contain a word of the query.
func (sc *Scanner) scanLines(stopped func() bool) {
	for from, end := range sc.matchingLines(stopped) {
		line := sc.lineOf(from, end)
		d, ok := sc.findDefinition(line)
		if !ok || !sc.addDefinition(d, from, line) {
			sc.addText(from, line)
		}
	}
}

// matchingLines yields the first lines that contain a word of the query.
func (sc *Scanner) matchingLines(stopped func() bool) iter.Seq2[int, int] {
	return func(yield func(from, end int) bool) {
		n := 0
		for from, end := range sc.found.Lines() {
			if n++; n > maxLines || n%256 == 0 && stopped() || !yield(from, end) {
				return
			}
		}
	}
}

// lineOf returns a line without its line break.
func (sc *Scanner) lineOf(from, end int) []byte {
	return bytes.TrimSuffix(sc.data[from:end], []byte("\r"))
}

// findDefinition returns the definition on a line, if a word of the query is where a name
// may be.
func (sc *Scanner) findDefinition(line []byte) (definition, bool) {
	if sc.language == nil || len(line) > maxLong || !sc.query.containsAll(&sc.place, line) {
		return definition{}, false
	}
	for i := range sc.query.words {
		for at := sc.query.texts.Index(i, line, 0); at >= 0; at = sc.query.texts.Index(i, line, at+1) {
			if sc.language.mayDefine(line, at) {
				return sc.language.definition(line)
			}
		}
	}
	return definition{}, false
}

// addDefinition adds the definition on the line at from. It returns false if the query
// does not match it.
func (sc *Scanner) addDefinition(d definition, from int, line []byte) bool {
	if !sc.query.matchesName(d.name) {
		return false
	}
	container := d.container
	if container == "self" {
		container = ""
	}
	if container == "" && indentOf(line) > 0 {
		container = sc.container(from, line)
	}
	method := container != ""
	kind := d.kind
	switch {
	case kind == "func" && method:
		kind = "method"
	case (kind == "var" || kind == "const") && indentOf(line) > 0 && !method && sc.language.indentedLocals:
		kind = "local"
	}
	h := Hit{Path: sc.path, Line: sc.lineAt(from), Kind: kind, Name: d.name,
		score: sc.query.definitionScore(&sc.place, rankKind(kind, d, line), container, d.name)}
	if h.score == 0 {
		return false
	}
	if container != "" {
		h.Name = container + "." + d.name
	}
	if sc.admit(&h) {
		h.Signature = sc.signature(from, d, line)
		if kind == "local" {
			h.Kind = "var"
		}
		sc.hits = append(sc.hits, h)
	}
	return true
}

// rankKind returns the kind by which a definition is ranked: a line that ends a
// function with a semicolon only declares it.
func rankKind(kind string, d definition, line []byte) string {
	if d.declares && bytes.HasSuffix(bytes.TrimSpace(line), []byte(";")) {
		return "declaration"
	}
	return kind
}

// addText adds a line of text.
func (sc *Scanner) addText(from int, line []byte) {
	if sc.skipTexts {
		sc.more.Store(true)
		return
	}
	h := Hit{Path: sc.path, Line: sc.lineAt(from), Kind: Text, score: sc.query.textScore(&sc.place, line)}
	if sc.query.Symbol() && sc.language.isComment(line) || sc.language.isProse() {
		h.score -= 20 // code comes first
	}
	if h.score <= 0 || !sc.admit(&h) {
		return
	}
	h.Signature = oneLine(line, sc.query.texts.Index(0, line, 0))
	if sc.texts = insert(sc.texts, &h); len(sc.texts) > maxTexts {
		sc.texts = sc.texts[:maxTexts]
		sc.more.Store(true)
	}
}

// keepTexts adds the lines of text to the hits, except those that a definition names.
func (sc *Scanner) keepTexts() {
	for _, h := range sc.texts {
		if !slices.ContainsFunc(sc.hits, func(d Hit) bool { return d.Line == h.Line }) {
			sc.hits = append(sc.hits, h)
		}
	}
}

// lineAt returns the number of the line at an offset, which must not decrease.
func (sc *Scanner) lineAt(at int) int {
	sc.line += bytes.Count(sc.data[sc.counted:at], []byte("\n"))
	sc.counted = at
	return sc.line
}

// maxOutward bounds the search for the beginning of a container, in bytes.
const maxOutward = 64 << 10

// container returns the name of the type around the line at from. It begins at the
// closest line above that is indented less.
func (sc *Scanner) container(from int, line []byte) string {
	re := sc.language.container()
	if re == nil {
		return ""
	}
	indent := indentOf(line)
	for end, least := from-1, max(0, from-maxOutward); end > least && indent > 0; {
		start := bytes.LastIndexByte(sc.data[:end], '\n') + 1
		above := sc.data[start:end]
		end = start - 1
		width := indentOf(above)
		if len(above) > maxLong || len(bytes.TrimSpace(above)) == 0 || width >= indent {
			continue
		}
		if m := re.FindSubmatch(above); m != nil {
			return string(m[len(m)-1])
		}
		if above = bytes.TrimSpace(above); !bytes.ContainsRune([]byte("{})#"), rune(above[0])) && !isAccessLabel(above) {
			indent = width
		}
	}
	return ""
}

// isAccessLabel reports whether a line of C++ is indented less than the rest of its class.
func isAccessLabel(line []byte) bool {
	switch string(line) {
	case "public:", "protected:", "private:":
		return true
	}
	return false
}

// indentOf returns the width of the space before a line.
func indentOf(line []byte) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8
		default:
			return n
		}
	}
	return n
}

// signature returns a definition without its keyword, name and body.
func (sc *Scanner) signature(from int, d definition, line []byte) string {
	at := d.end
	if sc.language.typeFirst { // the type is before the name
		at = 0
	}
	text := line[at:]
	for next := from + len(line); bytes.Count(text, []byte("(")) > bytes.Count(text, []byte(")")) && len(text) < 4*maxSignature; {
		start := bytes.IndexByte(sc.data[next:], '\n')
		if start < 0 {
			break
		}
		next += start + 1
		end := bytes.IndexByte(sc.data[next:], '\n')
		if end < 0 {
			end = len(sc.data) - next
		}
		text = append(append(slices.Clip(text), ' '), sc.data[next:next+min(end, maxLong)]...)
	}
	out := oneLine(text, 0)
	for _, end := range []string{"{", "=>", ":", " do", "=", ";"} {
		out = strings.TrimRight(strings.TrimSuffix(out, end), " ")
	}
	return out
}

// oneLine returns a text on one line with single spaces, cut around the byte at if it is
// long.
func oneLine(text []byte, at int) string {
	if len(text) > maxLong { // a minified file
		from := max(0, min(at-maxSignature/2, len(text)-maxLong))
		text = text[from : from+maxLong]
	}
	s := executors.OneLine(line.Join(strings.ToValidUTF8(string(text), "\uFFFD")))
	return line.TruncateRunes(s, maxSignature)
}

// IsSource reports whether a file may be source code, by its name.
func IsSource(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == "" || byName()[name] != nil || byName()[ext] != nil && !byName()[ext].prose
}
