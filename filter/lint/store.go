package lint

import (
	"bytes"
	"hash/maphash"

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
	sev          severity
	rule, msg    []byte
	file         []byte
	pos          []byte // the text after file, with its separator: ":1:2"
	column       int    // if pos has none
	fileAbove    bool   // a line above names the file
	firstLines   []byte // lines to show for the first diagnostic of a message
	hints        []byte // further lines that only the first one shows
	notes        []byte // further lines, each different one shown once
	labels       []byte // texts about the code, shown where they differ
	inBody       bool   // the body has the first diagnostic of the message
	ruleNotShown bool   // firstLines do not name the rule
	oneLine      bool   // firstLines is the line that the tool wrote
}

// findingStore groups diagnostics. If there are too many for memory, it writes the
// groups so far and starts new ones.
type findingStore struct {
	groups     map[string]*ruleGroup // by severity and rule
	order      []*ruleGroup          // groups in the order of their first diagnostic
	seen       map[uint64]struct{}   // see seenBefore
	seed       maphash.Seed
	size       int    // memory of the groups, about, in bytes
	counts     [4]int // diagnostics by severity
	ungrouped  [4]int // of them, those that stay in the body
	rules      int    // groups in all with diagnostics, including written ones
	keyBuffer  []byte
	ruleNames  map[string]string   // rules by the shape of a message
	knownFiles map[string]struct{} // file names that stood above places
	commonDir  []byte              // the directory of all those files

	errorText, otherText *text.Lines // written groups
}

// maxStore is the size at which groups are written, in bytes.
const maxStore = 4 << 20

// ruleGroup holds the diagnostics of one severity and rule.
type ruleGroup struct {
	sev          severity
	rule         string
	count        int  // diagnostics, without those in the body
	ruleNotShown bool // see finding
	entries      []*messageEntry
	byMsg        map[string]*messageEntry
	byShape      map[string]*messageEntry // nil while there are few messages
}

// messageEntry is a message of a rule.
type messageEntry struct {
	msg            string
	label          string // of the first diagnostic
	lines          []byte // with line feeds
	notes          []noteLine
	places         []byte // lines of further places
	lastFile       []byte // the file of the last place
	lastLineLength int    // length of the last line of places, in bytes
	placeBuffer    []byte // for the last place
	count          int    // diagnostics, without those in the body
}

// noteLine is a further line of a message.
type noteLine struct {
	line           []byte // with its line feed
	places         []byte // lines of further places with the same note
	lastLineLength int    // length of the last line of places, in bytes
}

// maxMessages is how many messages of a rule are shown in full. After that, only the
// differences of similar messages are shown.
const maxMessages = 12

// countUngrouped counts a diagnostic that stays in the body.
func (s *findingStore) countUngrouped(sev severity) {
	s.counts[sev]++
	s.ungrouped[sev]++
}

// grouped returns the number of diagnostics in groups.
func (s *findingStore) grouped() (n int) {
	for sev, all := range s.counts {
		n += all - s.ungrouped[sev]
	}
	return n
}

// seenBefore remembers a place of a message and reports whether it is known.
func (s *findingStore) seenBefore(f *finding) bool {
	if s.seen == nil {
		s.seen, s.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	}
	k := append(append(append(append(s.keyBuffer[:0], byte(f.sev)), f.rule...), 0), f.msg...)
	k = append(append(append(k, 0), f.file...), f.pos...)
	k = append(k, 0, byte(f.column), byte(f.column>>8))
	s.keyBuffer = k
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
	g := s.groupOf(f)
	e := g.byMsg[string(f.msg)]
	if !f.inBody && s.seenBefore(f) {
		if e != nil {
			s.addNotes(e, f.notes)
		}
		return
	}
	var differences []byte
	if e == nil && !f.inBody {
		e, differences = g.similarEntry(f.msg)
	}
	if !f.inBody {
		if g.count++; g.count == 1 {
			s.rules++
		}
		s.counts[f.sev]++
	} else {
		s.countUngrouped(f.sev)
	}
	fileKnown := f.fileAbove && s.isKnownFile(f.file)
	if e == nil {
		e = &messageEntry{msg: string(f.msg), label: string(f.labels), lines: append(bytes.Clone(f.firstLines), f.hints...)}
		if f.inBody {
			e.lines = append(append(e.lines[:0], f.msg...), '\n')
		}
		g.entries = append(g.entries, e)
		g.byMsg[e.msg] = e
		if g.byShape != nil {
			g.byShape[string(appendShape(nil, f.msg))] = e
		}
		s.size += 2*len(f.msg) + len(e.lines) + 200
	} else if f.oneLine && f.sev == isError && s.counts[isError]-s.ungrouped[isError] <= maxVerbatim {
		if e.count == 0 { // the first line has the message
			e.lines = e.lines[:0]
		}
		e.lines = append(e.lines, f.firstLines...)
		s.size += len(f.firstLines)
	} else {
		before := len(e.places)
		e.addPlace(f, fileKnown, withLabel(differences, e.label, f.labels))
		s.size += len(e.places) - before
	}
	if !f.inBody {
		e.count++
	}
	s.addNotes(e, f.notes)
	if s.size > maxStore {
		s.flush()
	}
}

// addNotes adds the lines that an entry does not have.
func (s *findingStore) addNotes(e *messageEntry, lines []byte) {
	for l := range bytes.Lines(lines) {
		if !s.addNotePlace(e, l) {
			s.size += e.addNote(l)
		}
	}
}

// addNotePlace adds the place of a note whose text is known from another place.
func (s *findingStore) addNotePlace(e *messageEntry, l []byte) bool {
	at := bytes.Index(l, []byte(": note: "))
	if at < 0 {
		return false
	}
	place, note := bytes.TrimLeft(l[:at], " "), l[at:]
	if len(place) == 0 || bytes.IndexByte(place, ' ') >= 0 {
		return false
	}
	for i := range e.notes {
		n := &e.notes[i]
		if !bytes.HasSuffix(n.line, note) || bytes.IndexByte(bytes.TrimLeft(n.line[:len(n.line)-len(note)], " "), ' ') >= 0 {
			continue
		}
		if !bytes.Equal(n.line, l) && !s.seenBefore(&finding{sev: isNote, rule: []byte(e.msg), msg: note, file: place}) {
			before := len(n.places)
			n.places, n.lastLineLength = appendPlace(n.places, n.lastLineLength, "  "+placesPrefix, place)
			s.size += len(n.places) - before
		}
		return true
	}
	return false
}

// appendPlace adds a place to lines of places, and returns the lines and the length of
// the last line. length is the length of the last line before. A new line begins with head.
func appendPlace(lines []byte, length int, head string, place []byte) ([]byte, int) {
	if length == 0 || length >= wrapAt {
		if length > 0 {
			lines = append(lines, '\n')
		}
		lines = append(lines, head...)
		length = len(head)
	}
	return append(append(lines, ' '), place...), length + 1 + len(place)
}

func (s *findingStore) groupOf(f *finding) *ruleGroup {
	s.keyBuffer = append(append(s.keyBuffer[:0], byte(f.sev)), f.rule...)
	if g := s.groups[string(s.keyBuffer)]; g != nil {
		return g
	}
	g := &ruleGroup{sev: f.sev, rule: string(f.rule), ruleNotShown: f.ruleNotShown, byMsg: map[string]*messageEntry{}}
	if s.groups == nil {
		s.groups = map[string]*ruleGroup{}
	}
	s.groups[string(s.keyBuffer)] = g
	s.order = append(s.order, g)
	s.size += 300
	return g
}

// similarEntry returns an entry whose message differs only in quoted texts and
// numbers, and the differing texts of msg.
func (g *ruleGroup) similarEntry(msg []byte) (e *messageEntry, differences []byte) {
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
	if e = g.byShape[string(appendShape(nil, msg))]; e == nil {
		return nil, nil
	}
	return e, shapeDifference([]byte(e.msg), msg)
}

// maxVerbatim is how many errors are shown as the tool wrote them, even if
// others are similar.
const maxVerbatim = 16

// wrapAt is the length of a line of places, in bytes.
const wrapAt = 200

// addPlace adds a further place. It marks a file name that was written before, so
// that it can be shortened.
func (e *messageEntry) addPlace(f *finding, fileKnown bool, differences []byte) {
	item := e.placeBuffer[:0]
	follows := f.fileAbove && bytes.Equal(e.lastFile, f.file)
	if follows && e.lastLineLength < wrapAt {
		item = append(item, f.pos[1:]...) // without the separator
	} else {
		if f.fileAbove && (fileKnown || follows) {
			item = append(item, shortMark)
		}
		item = append(append(item, f.file...), f.pos...)
		e.lastFile = append(e.lastFile[:0], f.file...)
	}
	if len(differences) > 0 {
		item = append(append(append(item, " ("...), differences...), ')')
	}
	e.places, e.lastLineLength = appendPlace(e.places, e.lastLineLength, placesPrefix, item)
	e.placeBuffer = item
}

// isKnownFile remembers a file name above places and reports whether it is known.
func (s *findingStore) isKnownFile(name []byte) bool {
	if _, ok := s.knownFiles[string(name)]; ok {
		return true
	}
	if s.knownFiles == nil {
		s.knownFiles = map[string]struct{}{}
		s.commonDir = append(s.commonDir[:0], name...)
	}
	n := 0
	for n < len(s.commonDir) && n < len(name) && s.commonDir[n] == name[n] {
		n++
	}
	s.commonDir = s.commonDir[:bytes.LastIndexByte(s.commonDir[:n], '/')+1]
	s.knownFiles[string(name)] = struct{}{}
	s.size += len(name) + 50
	return false
}

// placesPrefix begins a line of further places.
const placesPrefix = "  also"

// addNote adds a new line and returns its size.
func (e *messageEntry) addNote(l []byte) int {
	for i := range e.notes {
		if bytes.Equal(e.notes[i].line, l) {
			return 0
		}
	}
	if len(e.notes) == maxComparedNotes { // limits the comparisons
		e.lines = append(e.lines, l...)
		return len(l)
	}
	e.notes = append(e.notes, noteLine{line: bytes.Clone(l)})
	return len(l) + 24
}

// maxComparedNotes is how many notes of one message are compared.
const maxComparedNotes = 50

// ruleOf returns the rule of a message if its tool names the rule only once: the rule of
// another message of the same shape.
func (s *findingStore) ruleOf(rule, msg []byte) []byte {
	s.keyBuffer = appendShape(s.keyBuffer[:0], msg)
	if len(rule) > 0 {
		if _, ok := s.ruleNames[string(s.keyBuffer)]; !ok && len(s.ruleNames) < maxRuleNames {
			if s.ruleNames == nil {
				s.ruleNames = map[string]string{}
			}
			s.ruleNames[string(s.keyBuffer)] = string(rule)
		}
		return rule
	}
	return append(rule, s.ruleNames[string(s.keyBuffer)]...)
}

// maxRuleNames limits the rules that are known by their messages.
const maxRuleNames = 4096
