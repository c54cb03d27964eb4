package lint

import (
	"bytes"
	"hash/maphash"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// severity is the severity of a diagnostic.
type severity uint8

// The severities in the order of the groups.
const (
	isError severity = iota
	isWarning
	isIssue // the linter has no severities
	isNote
)

func (s severity) plural(n int) string {
	if n == 1 {
		return [...]string{"error", "warning", "issue", "note"}[s]
	}
	return [...]string{"errors", "warnings", "issues", "notes"}[s]
}

// finding is a diagnostic for the store. It refers to memory of the caller.
type finding struct {
	sev       severity
	rule, msg []byte
	file      []byte
	pos       []byte // the text after file, with its separator
	split     bool   // file and pos were separate
	first     []byte // lines to show for the first diagnostic of a message
	hints     []byte // further lines that only the first one shows
	notes     []byte // further lines, each different one shown once
	labels    []byte // texts about the code, shown where they differ
	above     bool   // the body has the first diagnostic of the message
	unnamed   bool   // first does not name the rule
	line      bool   // first is the line of the tool
}

// findingStore groups diagnostics. If there are too many for memory, it writes the
// groups so far and starts new ones.
type findingStore struct {
	groups map[string]*ruleGroup
	order  []*ruleGroup
	seen   map[uint64]struct{}
	seed   maphash.Seed
	size   int
	count  [4]int
	rules  int
	key    []byte
	names  map[string]string   // rules by the shape of a message
	files  map[string]struct{} // file names that stood above places
	root   []byte              // the directory of all files

	errors, rest *text.Lines // written groups
}

// maxStore is the size at which groups are written, in bytes.
const maxStore = 4 << 20

type ruleGroup struct {
	sev     severity
	rule    string
	n       int
	unnamed bool
	entries []*messageEntry
	byMsg   map[string]*messageEntry
	byShape map[string]*messageEntry // nil while there are few messages
}

// messageEntry is a message of a rule.
type messageEntry struct {
	msg   string
	label string // of the first diagnostic
	lines []byte
	notes []noteLine
	also  []byte // lines of further places
	file  []byte // file of the last place in also
	col   int    // length of the last line of also
	item  []byte // a buffer for the last place
	n     int
}

// noteLine is a further line of a message.
type noteLine struct {
	line []byte // with its line feed
	also []byte // lines of further places with the same note
	col  int    // length of the last line of also
}

// maxMessages is how many messages of a rule are shown in full. Beyond it, of
// similar messages only the differences are shown.
const maxMessages = 12

func (s *findingStore) total() int {
	return s.count[isError] + s.count[isWarning] + s.count[isIssue] + s.count[isNote]
}

// seenBefore remembers a place of a message and reports whether it is known.
func (s *findingStore) seenBefore(f *finding) bool {
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

// add adds a diagnostic. A known place counts once.
func (s *findingStore) add(f *finding) {
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
		e = &messageEntry{msg: string(f.msg), label: string(f.labels), lines: append(bytes.Clone(f.first), f.hints...)}
		if f.above {
			e.lines = append(append(e.lines[:0], f.msg...), '\n')
		}
		g.entries = append(g.entries, e)
		g.byMsg[e.msg] = e
		if g.byShape != nil {
			g.byShape[string(appendShape(nil, f.msg))] = e
		}
		s.size += 2*len(f.msg) + len(e.lines) + 200
	} else if f.line && f.sev == isError && s.count[isError] <= maxVerbatim {
		if e.n == 0 { // the first line has the message
			e.lines = e.lines[:0]
		}
		e.lines = append(e.lines, f.first...)
		s.size += len(f.first)
	} else {
		before := len(e.also)
		e.place(f, known, withLabel(differs, e.label, f.labels))
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
func (s *findingStore) notes(e *messageEntry, lines []byte) {
	for l := range bytes.Lines(lines) {
		if !s.noteAlso(e, l) {
			s.size += e.note(l)
		}
	}
}

// noteAlso adds the place of a note whose text is known from another place.
func (s *findingStore) noteAlso(e *messageEntry, l []byte) bool {
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

// appendPlace adds a place to lines of places. The last line is col bytes long.
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

func (s *findingStore) group(f *finding) *ruleGroup {
	s.key = append(append(s.key[:0], byte(f.sev)), f.rule...)
	if g := s.groups[string(s.key)]; g != nil {
		return g
	}
	g := &ruleGroup{sev: f.sev, rule: string(f.rule), unnamed: f.unnamed, byMsg: map[string]*messageEntry{}}
	if s.groups == nil {
		s.groups = map[string]*ruleGroup{}
	}
	s.groups[string(s.key)] = g
	s.order = append(s.order, g)
	s.rules++
	s.size += 300
	return g
}

// alike returns an entry whose message differs only in quoted texts and
// numbers, and those of msg.
func (g *ruleGroup) alike(msg []byte) (*messageEntry, []byte) {
	if len(g.entries) < maxMessages {
		return nil, nil
	}
	if g.byShape == nil {
		g.byShape = map[string]*messageEntry{}
		for _, e := range g.entries {
			if k := string(appendShape(nil, []byte(e.msg))); g.byShape[k] == nil {
				g.byShape[k] = e
			}
		}
	}
	e := g.byShape[string(appendShape(nil, msg))]
	if e == nil {
		return nil, nil
	}
	return e, shapeDifference([]byte(e.msg), msg)
}

// maxVerbatim is how many errors are shown as the tool wrote them, even if
// others are similar.
const maxVerbatim = 16

// wrapAt is the length of a line of places, in bytes.
const wrapAt = 200

// place adds a further place. It marks a file name that was written before, so
// that it can be shortened.
func (e *messageEntry) place(f *finding, known bool, differs []byte) {
	item := e.item[:0]
	follows := f.split && bytes.Equal(e.file, f.file)
	if follows && e.col < wrapAt {
		item = append(item, f.pos[1:]...) // without the separator
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

// shortMark precedes a file name that may be shortened. It is a control
// character, so no line has it.
const shortMark = 1

// shorten removes the common directory from marked file names, except its last
// part.
func (s *findingStore) shorten(text []byte) []byte {
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

// fileKnown remembers a file name above places and reports whether it is known.
func (s *findingStore) fileKnown(name []byte) bool {
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

// note adds a new line and returns its size.
func (e *messageEntry) note(l []byte) int {
	for i := range e.notes {
		if bytes.Equal(e.notes[i].line, l) {
			return 0
		}
	}
	if len(e.notes) == maxNotes { // limits the comparisons
		e.lines = append(e.lines, l...)
		return len(l)
	}
	e.notes = append(e.notes, noteLine{line: bytes.Clone(l)})
	return len(l) + 24
}

// maxNotes is how many notes of one message are compared.
const maxNotes = 50

// flush writes the groups so far.
func (s *findingStore) flush() {
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

func (g *ruleGroup) write(to *text.Lines, s *findingStore) {
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

// write writes all groups and their totals.
func (s *findingStore) write(to *text.Lines) error {
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

func (s *findingStore) close() {
	if s.errors != nil {
		s.errors.Close()
		s.rest.Close()
	}
}

// nameOf returns the rule of a message whose tool names it only once: the rule
// of a message of the same shape.
func (s *findingStore) nameOf(rule, msg []byte) []byte {
	s.key = appendShape(s.key[:0], msg)
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

// maxNamed limits the rules that are known by their messages.
const maxNamed = 4096
