package store

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// Sizes of a WAL, in bytes: https://www.sqlite.org/fileformat2.html#walformat
const (
	walHeaderSize   = 32
	frameHeaderSize = 24
	// walPageSize is SQLite's default. It replaces the size in a damaged header.
	walPageSize = 4096
)

// lostTail is the part of a WAL that SQLite ignores because a frame before it is
// damaged, or because its change was never completed.
type lostTail struct {
	damagedAt int64 // offset of the first frame that is not valid
	commits   int   // number of completed changes after it
	partial   bool  // the file ends in the middle of a change
	// sessions holds the newest row of each session in the completed changes, by id.
	sessions map[string]lostRow
}

// lostRow is a row of the table sessions in a lost change.
type lostRow struct {
	title string
	last  int64
}

func (t *lostTail) isLoss() bool { return t.commits > 0 || t.partial }

func (t *lostTail) equal(u *lostTail) bool {
	return t.damagedAt == u.damagedAt && t.commits == u.commits && t.partial == u.partial && maps.Equal(t.sessions, u.sessions)
}

// readTail reads the WAL of the database at path. Without a WAL, or if nothing is
// lost, the result has no content.
//
// The WAL may be opened while SQLite uses it, since it has no locks.
func readTail(path string) (*lostTail, error) {
	f, err := os.Open(path + "-wal")
	if os.IsNotExist(err) {
		return &lostTail{}, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	w := walReader{r: bufio.NewReaderSize(f, 64<<10), pending: map[string]lostRow{}, unconfirmed: map[string]lostRow{}}
	w.tail.sessions = map[string]lostRow{}
	err = w.read()
	return &w.tail, err
}

// walReader reads the frames of a WAL in order.
type walReader struct {
	r        *bufio.Reader
	order    binary.ByteOrder // of the words of a checksum
	sum      [2]uint32        // of all valid frames
	salts    [8]byte          // of the newest generation of frames
	valid    bool             // no damage so far
	inChange bool             // the last valid frame did not complete a change

	// After the damage a change counts once its last frame, or a later one, has a checksum
	// that fits.
	pending            map[string]lostRow // rows of the change that is being read
	unconfirmed        map[string]lostRow // rows of the completed changes that do not count yet
	unconfirmedCommits int                // the number of those changes
	tail               lostTail
}

// read reads the whole WAL.
func (w *walReader) read() error {
	header := make([]byte, walHeaderSize)
	n, err := io.ReadFull(w.r, header)
	if err == io.ErrUnexpectedEOF {
		w.tail.partial = n > 0
	}
	if err != nil {
		return ignoreEnd(err)
	}
	frame := make([]byte, frameHeaderSize+w.header(header))
	for at := int64(walHeaderSize); ; at += int64(len(frame)) {
		n, err := io.ReadFull(w.r, frame)
		if err != nil {
			// After journal_size_limit the file ends in the middle of a frame of an
			// earlier generation.
			w.tail.partial = w.unconfirmedCommits > 0 || w.valid && (w.inChange || n > 0 && (n < 16 || w.isNewest(frame)))
			return ignoreEnd(err)
		}
		w.frame(frame, at)
	}
}

// ignoreEnd returns nil for the end of the file.
func ignoreEnd(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// header checks the header of the WAL and returns the size of a page.
func (w *walReader) header(b []byte) int {
	magic, size := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[8:])
	w.order = binary.LittleEndian
	if magic&1 == 1 {
		w.order = binary.BigEndian
	}
	w.addToSum(b[:24])
	w.valid = magic&^1 == 0x377f0682 && size >= 512 && size <= 1<<16 && size&(size-1) == 0 && w.sumIs(b[24:])
	if !w.valid {
		w.tail.damagedAt = 0
		return walPageSize
	}
	copy(w.salts[:], b[16:24])
	return int(size)
}

// frame reads a whole frame, which begins at an offset of the file.
//
// SQLite writes the header of a frame before its page. A process that is killed in
// between leaves a torn frame, which is harmless. So a frame after the damage counts only
// if its own checksum, or a later frame's, fits the frame before it.
func (w *walReader) frame(b []byte, at int64) {
	if !w.valid && w.salts == [8]byte{} { // the header is lost: the first frame is of the newest generation
		copy(w.salts[:], b[8:16])
	}
	newest, commits := w.isNewest(b), binary.BigEndian.Uint32(b[4:]) != 0
	whole := false
	if w.valid || newest {
		w.addToSum(b[:8])
		w.addToSum(b[frameHeaderSize:])
		whole = w.sumIs(b[16:24])
	}
	if w.valid {
		if w.valid = whole && [8]byte(b[8:16]) == w.salts; w.valid {
			w.inChange = !commits
			return
		}
		w.tail.damagedAt = at
	}
	w.sum = [2]uint32{binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:])}
	if !newest {
		return
	}
	for id, row := range sessionRows(b[frameHeaderSize:]) {
		w.pending[id] = row
	}
	if commits {
		w.unconfirmedCommits++
		maps.Copy(w.unconfirmed, w.pending)
		clear(w.pending)
	}
	if whole {
		w.tail.commits += w.unconfirmedCommits
		w.unconfirmedCommits = 0
		maps.Copy(w.tail.sessions, w.unconfirmed)
		clear(w.unconfirmed)
	}
}

// isNewest reports whether a frame belongs to the newest generation. Each generation
// changes both salts, and damage may have changed one of them.
func (w *walReader) isNewest(frame []byte) bool {
	return [4]byte(frame[8:12]) == [4]byte(w.salts[:4]) || [4]byte(frame[12:16]) == [4]byte(w.salts[4:])
}

// addToSum adds bytes to the checksum.
func (w *walReader) addToSum(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		w.sum[0] += w.order.Uint32(b) + w.sum[1]
		w.sum[1] += w.order.Uint32(b[4:]) + w.sum[0]
	}
}

// sumIs reports whether b is the checksum.
func (w *walReader) sumIs(b []byte) bool {
	return binary.BigEndian.Uint32(b) == w.sum[0] && binary.BigEndian.Uint32(b[4:]) == w.sum[1]
}

// sessionRows returns the rows on a leaf page of the table sessions, by id. Other
// pages have none. The page may be damaged.
func sessionRows(page []byte) map[string]lostRow {
	const tableLeaf = 0x0d
	if page[0] != tableLeaf {
		return nil
	}
	rows := map[string]lostRow{}
	cells := int(binary.BigEndian.Uint16(page[3:]))
	for i := range min(cells, (len(page)-8)/2) {
		at := int(binary.BigEndian.Uint16(page[8+2*i:]))
		if at < len(page) {
			if id, row, ok := sessionRow(page[at:]); ok {
				rows[id] = row
			}
		}
	}
	return rows
}

// sessionRow parses a cell if it is a row of the table sessions that is whole on
// its page: https://www.sqlite.org/fileformat2.html#record_format
func sessionRow(cell []byte) (id string, row lostRow, ok bool) {
	size, cell := varint(cell)
	_, cell = varint(cell) // the row's key
	if size > uint64(len(cell)) {
		return "", row, false
	}
	cell = cell[:size]
	headerSize, types := varint(cell)
	if headerSize < uint64(len(cell)-len(types)) || headerSize > uint64(len(cell)) {
		return "", row, false
	}
	body := cell[headerSize:]
	types = types[:len(types)-len(body)]
	var texts [4]string // id, cwd, dirs, title
	var last int64
	for column := range 8 {
		var kind uint64
		kind, types = varint(types)
		n := columnSize(kind)
		isText, isInt := kind >= 13 && kind%2 == 1, kind >= 1 && kind <= 9 && kind != 7
		if n > len(body) || column == 0 && kind != 0 || column >= 1 && column <= 4 && !isText || column >= 5 && !isInt {
			return "", row, false
		}
		if isText && column >= 1 {
			texts[column-1] = string(body[:n])
		} else if isInt {
			last = intValue(kind, body[:n])
		}
		body = body[n:]
	}
	return texts[0], lostRow{title: texts[3], last: last}, len(types) == 0 && len(body) == 0
}

// columnSize returns the size of a value of a serial type, in bytes.
func columnSize(kind uint64) int {
	if kind < 12 {
		return [12]int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}[kind]
	}
	return int(min((kind-12)/2, 1<<30))
}

// intValue returns the value of an integer of a serial type.
func intValue(kind uint64, b []byte) (v int64) {
	if kind == 9 { // the constant 1; 8 is the constant 0
		return 1
	}
	for _, c := range b {
		v = v<<8 | int64(c)
	}
	return v
}

// varint parses an integer of variable length, and returns the bytes after it. It returns
// 0 and no bytes if b is too short.
func varint(b []byte) (v uint64, rest []byte) {
	for i, c := range b {
		if i == 8 {
			return v<<8 | uint64(c), b[i+1:]
		}
		if v = v<<7 | uint64(c&0x7f); c < 0x80 {
			return v, b[i+1:]
		}
	}
	return 0, nil
}

// confirmTail returns the tail if the WAL still has it while no process writes, else an
// empty tail: a change that another process is writing looks like a lost one.
func (h *handle) confirmTail(tail *lostTail) *lostTail {
	if _, err := h.exec(begin); err != nil {
		return &lostTail{}
	}
	defer func() { _, _ = h.exec("ROLLBACK") }()
	if now, err := readTail(h.path); err == nil && tail.equal(now) {
		return tail
	}
	return &lostTail{}
}

// describeLoss returns the loss in a sentence for the user.
func (h *handle) describeLoss(tail *lostTail) string {
	if tail.commits == 0 {
		return fmt.Sprintf("The write-ahead log of the session store, %s-wal, ends in the middle of a change, as after a crash. "+
			"That change is lost. If the file was cut, later ones are lost too.", h.path)
	}
	text := fmt.Sprintf("The write-ahead log of the session store, %s-wal, is damaged. %s lost",
		h.path, plural(tail.commits, "change at its end is", "changes at its end are"))
	if lost := h.lostEvents(tail); len(lost) > 0 {
		return text + ": " + strings.Join(lost, "; ") + "."
	}
	return text + ". No session is known to miss an event."
}

// maxNamed is the number of sessions that a description names.
const maxNamed = 10

// lostEvents returns a phrase for each session whose stored row is older than that
// of the tail.
func (h *handle) lostEvents(tail *lostTail) (lost []string) {
	for _, id := range slices.Sorted(maps.Keys(tail.sessions)) {
		row := tail.sessions[id]
		var last int64
		if err := h.one([]any{&last}, selectLast, id); err != nil || last >= row.last {
			continue
		}
		switch missing := int(row.last - last); {
		case len(lost) == maxNamed:
			return append(lost, "and events of more sessions")
		case last == 0:
			lost = append(lost, fmt.Sprintf("session %s (%q), as a whole", id, row.title))
		default:
			lost = append(lost, fmt.Sprintf("%s of session %s (%q)", plural(missing, "event", "events"), id, row.title))
		}
	}
	return lost
}

// plural returns n with the word for it.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
