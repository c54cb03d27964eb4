package overflow

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"slices"
	"sync"
)

// errTooLarge means that a text is larger than the capacity of a Memory.
var errTooLarge = errors.New("the text is too large to be kept in memory")

// Memory is a Store in memory, for texts that cannot be stored on disk. If it is
// full, it drops the oldest text. One may serve all sessions of a process. A nil
// Memory holds nothing.
type Memory struct {
	max int64 // bytes

	mu      sync.Mutex
	entries []entry // the oldest first
	size    int64
}

type entry struct {
	session, id string
	text        []byte
}

// NewMemory returns a Memory of at most maxBytes.
func NewMemory(maxBytes int64) *Memory { return &Memory{max: maxBytes} }

// PutOverflow implements Store.
func (m *Memory) PutOverflow(_ context.Context, session, id string, r io.Reader) error {
	if m == nil {
		return errTooLarge
	}
	text, err := io.ReadAll(io.LimitReader(r, m.max+1))
	if err != nil {
		return err
	}
	if int64(len(text)) > m.max {
		return errTooLarge
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.find(session, id); i >= 0 { // it becomes the newest
		m.drop(i)
	}
	for m.size+int64(len(text)) > m.max {
		m.drop(0)
	}
	m.entries = append(m.entries, entry{session, id, slices.Clip(text)})
	m.size += int64(len(text))
	return nil
}

// Overflow implements Store.
func (m *Memory) Overflow(_ context.Context, session, id string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		text, ok := m.text(session, id)
		if !ok {
			yield(nil, fs.ErrNotExist)
			return
		}
		for piece := range slices.Chunk(text, pieceSize) {
			if !yield(piece, nil) {
				return
			}
		}
	}
}

func (m *Memory) has(session, id string) bool {
	_, ok := m.text(session, id)
	return ok
}

func (m *Memory) text(session, id string) ([]byte, bool) {
	if m == nil {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.find(session, id)
	if i < 0 {
		return nil, false
	}
	return m.entries[i].text, true
}

func (m *Memory) find(session, id string) int {
	return slices.IndexFunc(m.entries, func(e entry) bool { return e.session == session && e.id == id })
}

func (m *Memory) drop(i int) {
	m.size -= int64(len(m.entries[i].text))
	m.entries = slices.Delete(m.entries, i, i+1)
}
