package stdio

import (
	"bytes"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

const (
	// maxMessage bounds a message that is decoded, in bytes. Decoding a longer one needs
	// several times its length in memory.
	maxMessage = 8 << 20
	// keptBytes is the part of a longer message that is kept, in bytes, of each end.
	keptBytes = 4 << 10
)

// longLine is a line of more than maxMessage bytes.
type longLine struct {
	begin, end []byte
}

func newLongLine(begin []byte) *longLine {
	return &longLine{begin: bytes.Clone(begin[:min(len(begin), keptBytes)])}
}

// add adds the next part of the line.
func (l *longLine) add(part []byte) {
	l.end = append(l.end, part[max(0, len(part)-keptBytes):]...)
	l.end = append(l.end[:0], l.end[max(0, len(l.end)-keptBytes):]...)
}

// A response has its id before or after its result.
var (
	firstID = lazyregexp.New(`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+|"[^"\\]*")\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"`)
	lastID  = lazyregexp.New(`,\s*"id"\s*:\s*(\d+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
)

// errorResponse returns an error response in place of the line, which has size bytes and is too
// long. If the line has no id of a request, it returns the beginning of the line.
func (l *longLine) errorResponse(size int) []byte {
	id := firstID.FindSubmatch(l.begin)
	if id == nil && !bytes.Contains(l.begin, []byte(`"method"`)) {
		id = lastID.FindSubmatch(l.end)
	}
	if id == nil {
		return l.begin
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the response has %d MiB, more than %d MiB"}}`, id[1], size>>20, maxMessage>>20)
}
