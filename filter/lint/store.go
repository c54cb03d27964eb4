package lint

import (
	"bytes"
	"hash/maphash"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// severity is how bad a diagnostic is.
type severity uint8

// The severities, in the order of the groups.
const (
	isError severity = iota
	isWarning
	isIssue // the linter knows no severities
	isNote
)

func (s severity) plural(n int) string {
	if n == 1 {
		return [...]string{"error", "warning", "issue", "note"}[s]
	}
	return [...]string{"errors", "warnings", "issues", "notes"}[s]
}

// finding is a diagnostic for the store. What it refers to is the caller's.
type finding struct {
	sev       severity
	rule, msg []byte
	file      []byte
	pos       []byte // behind file, with what divides them
	split     bool   // file and pos stood apart
	first     []byte // the lines that show the first of its message
	hints     []byte // more of these, which only the first shows
	notes     []byte // lines of which each that differs is shown
	above     bool   // it stands in the body, as the first of its message
	unnamed   bool   // first does not name the rule
	line      bool   // first is the line that the tool wrote
}

// store groups diagnostics. Its memory is bounded: when there are too many, the
// groups so far are written, and others begin.
type store struct {
	groups map[string]*group
	order  []*group
	seen   map[uint64]struct{}
	seed   maphash.Seed
	size   int
	count  [4]int
	rules  int
	key    []byte
	names  map[string]string   // rules, by the shape of a message
	files  map[string]struct{} // that stood over places
	root   []byte              // the directory of all of them

	errors, rest *text.Lines // groups that are written
}

// maxStore is when groups are written, in bytes.
const maxStore = 4 << 20

type group struct {
	sev     severity
	rule    string
	n       int
	unnamed bool
	entries []*entry
	byMsg   map[string]*entry
	byShape map[string]*entry // nil while there are few messages
}

// entry is one message of a rule.
type entry struct {
	msg   string
	lines []byte
	notes []noted
	also  []byte // lines with the further places
	file  []byte // of the last place in also
	col   int    // length of the last line of also
	item  []byte // made last
	n     int
}

// noted is a line of what belongs to a message.
type noted struct {
	line []byte // with its end
	also []byte // lines with the further places that it says the same of
	col  int    // length of the last line of also
}

// maxMessages is how many messages of a rule are shown in full, before those
// that differ only in what is quoted are shown by that alone.
const maxMessages = 12

func (s *store) total() int {
	return s.count[isError] + s.count[isWarning] + s.count[isIssue] + s.count[isNote]
}

// seenBefore notes a place of a message, and reports whether it is known.
func (s *store) seenBefore(f *finding) bool {
	if s.seen == nil {
		s.seen, s.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	}
	k := append(append(append(append(s.key[:0], byte(f.sev)), f.rule...), 0), f.msg...)
	k = append(append(append(k, 0), f.file...), f.pos...)
	s.key = k
	h := maphash.Bytes(s.seed, k)
	if _, ok := s.seen[h]; ok {
		return true
	}
	s.seen[h] = struct{}{}
	s.size += 16
	return false
}

// add takes a diagnostic; one of a place that is known counts once.
func (s *store) add(f *finding) {
	g := s.group(f)
	e := g.byMsg[string(f.msg)]
	if !f.above && s.seenBefore(f) {
		if e != nil {
			s.notes(e, f.notes)
		}
		return
	}
	var differs []byte
	if e == nil && !f.above {
		e, differs = g.alike(f.msg)
	}
	if !f.above {
		g.n++
		s.count[f.sev]++
	}
	known := f.split && s.fileKnown(f.file)
	if e == nil {
		e = &entry{msg: string(f.msg), lines: append(bytes.Clone(f.first), f.hints...)}
		if f.above {
			e.lines = append(append(e.lines[:0], f.msg...), '\n')
		}
		g.entries = append(g.entries, e)
		g.byMsg[e.msg] = e
		if g.byShape != nil {
			g.byShape[string(shape(nil, f.msg))] = e
		}
		s.size += 2*len(f.msg) + len(e.lines) + 200
	} else if f.line && f.sev == isError && s.count[isError] <= maxVerbatim {
		if e.n == 0 { // it says the message
			e.lines = e.lines[:0]
		}
		e.lines = append(e.lines, f.first...)
		s.size += len(f.first)
	} else {
		before := len(e.also)
		e.place(f, known, differs)
		s.size += len(e.also) - before
	}
	if !f.above {
		e.n++
	}
	s.notes(e, f.notes)
	if s.size > maxStore {
		s.flush()
	}
}

// notes adds the lines that an entry does not have.
func (s *store) notes(e *entry, lines []byte) {
	for l := range bytes.Lines(lines) {
		if !s.noteAlso(e, l) {
			s.size += e.note(l)
		}
	}
}

// noteAlso adds the place of a note that says the same as one of another place.
func (s *store) noteAlso(e *entry, l []byte) bool {
	at := bytes.Index(l, []byte(": note: "))
	if at < 0 {
		return false
	}
	place, text := bytes.TrimLeft(l[:at], " "), l[at:]
	if len(place) == 0 || bytes.IndexByte(place, ' ') >= 0 {
		return false
	}
	for i := range e.notes {
		n := &e.notes[i]
		if !bytes.HasSuffix(n.line, text) || bytes.IndexByte(bytes.TrimLeft(n.line[:len(n.line)-len(text)], " "), ' ') >= 0 {
			continue
		}
		if !bytes.Equal(n.line, l) && !s.seenBefore(&finding{sev: isNote, rule: []byte(e.msg), msg: text, file: place}) {
			before := len(n.also)
			n.also, n.col = appendPlace(n.also, n.col, "  "+alsoHead, place)
			s.size += len(n.also) - before
		}
		return true
	}
	return false
}

// appendPlace adds a place to lines of places, the last of which is col long.
func appendPlace(lines []byte, col int, head string, place []byte) ([]byte, int) {
	if col == 0 || col >= wrapAt {
		if col > 0 {
			lines = append(lines, '\n')
		}
		lines = append(lines, head...)
		col = len(head)
	}
	return append(append(lines, ' '), place...), col + 1 + len(place)
}

func (s *store) group(f *finding) *group {
	s.key = append(append(s.key[:0], byte(f.sev)), f.rule...)
	if g := s.groups[string(s.key)]; g != nil {
		return g
	}
	g := &group{sev: f.sev, rule: string(f.rule), unnamed: f.unnamed, byMsg: map[string]*entry{}}
	if s.groups == nil {
		s.groups = map[string]*group{}
	}
	s.groups[string(s.key)] = g
	s.order = append(s.order, g)
	s.rules++
	s.size += 300
	return g
}

// alike gives an entry whose message differs only in what is quoted and in
// numbers, and what these are.
func (g *group) alike(msg []byte) (*entry, []byte) {
	if len(g.entries) < maxMessages {
		return nil, nil
	}
	if g.byShape == nil {
		g.byShape = map[string]*entry{}
		for _, e := range g.entries {
			if k := string(shape(nil, []byte(e.msg))); g.byShape[k] == nil {
				g.byShape[k] = e
			}
		}
	}
	e := g.byShape[string(shape(nil, msg))]
	if e == nil {
		return nil, nil
	}
	return e, difference([]byte(e.msg), msg)
}

// maxVerbatim is how many errors are shown in the words of the tool, though
// others say the same: place and message together.
const maxVerbatim = 16

// wrapAt is where a line of places ends, in bytes.
const wrapAt = 200

// place adds a further place. The name of a file that stood over the place is
// marked where it was told before, so that it can be shortened.
func (e *entry) place(f *finding, known bool, differs []byte) {
	item := e.item[:0]
	follows := f.split && bytes.Equal(e.file, f.file)
	if follows && e.col < wrapAt {
		item = append(item, f.pos[1:]...) // without what divides it from the file
	} else {
		if f.split && (known || follows) {
			item = append(item, shortMark)
		}
		item = append(append(item, f.file...), f.pos...)
		e.file = append(e.file[:0], f.file...)
	}
	if len(differs) > 0 {
		item = append(append(append(item, " ("...), differs...), ')')
	}
	e.also, e.col = appendPlace(e.also, e.col, alsoHead, item)
	e.item = item
}

// shortMark stands before the name of a file that may be shortened. No line has
// it, since it is a control character.
const shortMark = 1

// shorten takes from marked names of files the directory that all have, but its
// last part.
func (s *store) shorten(text []byte) []byte {
	if bytes.IndexByte(text, shortMark) < 0 {
		return text
	}
	root := bytes.TrimRight(s.root, "/")
	root = s.root[:bytes.LastIndexByte(root, '/')+1]
	if len(root) > 1 {
		text = bytes.ReplaceAll(text, append([]byte{shortMark}, root...), nil)
	}
	return bytes.ReplaceAll(text, []byte{shortMark}, nil)
}

// fileKnown notes the name of a file that stood over places, and reports whether
// it was there before.
func (s *store) fileKnown(name []byte) bool {
	if _, ok := s.files[string(name)]; ok {
		return true
	}
	if s.files == nil {
		s.files = map[string]struct{}{}
		s.root = append(s.root[:0], name...)
	}
	n := 0
	for n < len(s.root) && n < len(name) && s.root[n] == name[n] {
		n++
	}
	s.root = s.root[:bytes.LastIndexByte(s.root[:n], '/')+1]
	s.files[string(name)] = struct{}{}
	s.size += len(name) + 50
	return false
}

const alsoHead = "  also"

// note adds a line that is not there yet, and tells its size.
func (e *entry) note(l []byte) int {
	for i := range e.notes {
		if bytes.Equal(e.notes[i].line, l) {
			return 0
		}
	}
	if len(e.notes) == maxNotes { // they would be compared with each other for ever
		e.lines = append(e.lines, l...)
		return len(l)
	}
	e.notes = append(e.notes, noted{line: bytes.Clone(l)})
	return len(l) + 24
}

// maxNotes is how many notes of one message are looked through for doubles.
const maxNotes = 50

// flush writes the groups so far.
func (s *store) flush() {
	if s.errors == nil {
		s.errors, s.rest = text.NewLines(), text.NewLines()
	}
	for _, g := range s.order {
		if g.sev == isError {
			g.write(s.errors, s)
		} else {
			g.write(s.rest, s)
		}
	}
	s.groups, s.order, s.seen, s.files, s.size = nil, nil, nil, nil, 0
}

func (g *group) write(to *text.Lines, s *store) {
	if g.n == 0 {
		return
	}
	if g.rule != "" && (g.unnamed || g.n >= 10 || g.n >= 4 && len(g.entries) > 1) {
		head := append([]byte(g.rule), " ("...)
		head = strconv.AppendInt(head, int64(g.n), 10)
		head = append(append(head, ' '), g.sev.plural(g.n)...)
		to.Write(append(head, "):"...))
	}
	for _, e := range g.entries {
		if e.n == 0 {
			continue
		}
		writeLines(to, e.lines)
		for _, n := range e.notes {
			to.Write(n.line[:len(n.line)-1])
			if len(n.also) > 0 {
				writeLines(to, append(n.also, '\n'))
			}
		}
		if len(e.also) > 0 {
			writeLines(to, append(s.shorten(e.also), '\n'))
		}
	}
}

// write writes all groups, and how many there are.
func (s *store) write(to *text.Lines) error {
	if s.total() == 0 {
		return nil
	}
	s.flush()
	if err := s.errors.Each(to.Write); err != nil {
		return err
	}
	if err := s.rest.Each(to.Write); err != nil {
		return err
	}
	to.Write(s.totalLine())
	return nil
}

func (s *store) close() {
	if s.errors != nil {
		s.errors.Close()
		s.rest.Close()
	}
}

// nameOf gives the rule of a message whose tool names a rule only the first
// time: the one of a message of the same shape.
func (s *store) nameOf(rule, msg []byte) []byte {
	s.key = shape(s.key[:0], msg)
	if len(rule) > 0 {
		if _, ok := s.names[string(s.key)]; !ok && len(s.names) < maxNamed {
			if s.names == nil {
				s.names = map[string]string{}
			}
			s.names[string(s.key)] = string(rule)
		}
		return rule
	}
	return append(rule, s.names[string(s.key)]...)
}

// maxNamed bounds the rules that are known by their messages.
const maxNamed = 4096
