package git

import "bytes"

// commitHead is the head of a commit in the long format of a log.
type commitHead struct {
	open       bool   // its line is not written yet
	graph      []byte // the part of the graph before the commit; empty without a graph
	keepBodies bool   // keep the lines of messages after the subject
	hash       []byte // shortened
	fullHash   []byte // the hash as written, with the text after it
	refs       []byte // "(HEAD -> main, tag: v1)"
	author     []byte
	date       []byte // of the author
	committer  []byte // empty if the log does not show the committer
	commitDate []byte
	parents    []byte // of a merge
	subject    []byte
}

// shortHashLength is the length of a hash that is almost certainly unique.
const shortHashLength = 12

// commitLine returns the hash, and the text after it, of a line that begins a
// commit. width is the width of the graph before it, in bytes.
func commitLine(l []byte) (width int, hash []byte) {
	rest := l
	if !bytes.HasPrefix(l, []byte("commit ")) {
		rest = withoutGraph(l)
		if width = len(l) - len(rest); !bytes.HasPrefix(rest, []byte("commit ")) || bytes.IndexByte(l[:width], '*') < 0 {
			return 0, nil
		}
	}
	hash = rest[len("commit "):]
	// signs of --left-right and --boundary
	if len(hash) > 1 && (hash[0] == '-' || hash[0] == '<' || hash[0] == '>' || hash[0] == '^') && hash[1] != ' ' {
		hash = hash[1:]
	}
	if leadingHexDigits(hash) < 40 {
		return 0, nil
	}
	return width, hash
}

// leadingHexDigits returns the number of leading hexadecimal digits.
func leadingHexDigits(b []byte) int {
	n := 0
	for n < len(b) && (b[n] >= '0' && b[n] <= '9' || b[n] >= 'a' && b[n] <= 'f') {
		n++
	}
	return n
}

// withoutGraph removes the graph from the start of a line.
func withoutGraph(l []byte) []byte { return bytes.TrimLeft(l, "*|\\/_ .-") }

func (c *commitHead) begin(hash []byte) {
	n := leadingHexDigits(hash)
	c.open = true
	c.hash = append(c.hash[:0], hash[:min(n, shortHashLength)]...)
	c.fullHash = append(c.fullHash[:0], hash...)
	c.refs = append(c.refs[:0], bytes.TrimSpace(hash[n:])...)
	c.author, c.date, c.parents, c.subject = c.author[:0], c.date[:0], c.parents[:0], c.subject[:0]
	c.committer, c.commitDate = c.committer[:0], c.commitDate[:0]
}

// append appends the line that replaces the commit to dst.
func (c *commitHead) append(dst []byte) []byte {
	if len(c.graph) > 0 {
		dst = append(append(dst, bytes.TrimRight(c.graph, " ")...), ' ')
	}
	dst = append(dst, c.hash...)
	for _, part := range [][]byte{c.date, c.author} {
		if len(part) > 0 {
			dst = append(append(dst, ' '), part...)
		}
	}
	if by, on := c.committer, c.commitDate; !bytes.Equal(by, c.author) || !bytes.Equal(on, c.date) {
		if len(by)+len(on) > 0 {
			dst = append(append(append(append(append(dst, " (committed "...), on...), ' '), by...), ')')
		}
	}
	if len(c.parents) > 0 {
		dst = append(append(append(dst, " (merge of "...), c.parents...), ')')
	}
	if len(c.refs) > 0 {
		dst = append(append(dst, ' '), c.refs...)
	}
	if len(c.subject) > 0 {
		dst = append(append(dst, ": "...), c.subject...)
	}
	return dst
}

// personName returns a person without the mail address.
func personName(person []byte) []byte {
	if i := bytes.LastIndex(person, []byte(" <")); i > 0 {
		person = person[:i]
	}
	return bytes.TrimSpace(person)
}

// monthNames are the names of months in git's dates.
const monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec"

// shortDay shortens a date in git's own format, "Thu Jan 1 22:57:48 2026 +0100", to
// "2026-01-01". Other dates stay.
func shortDay(date []byte) []byte {
	f := bytes.Fields(date)
	if len(f) < 5 || len(f[1]) != 3 || len(f[2]) > 2 || len(f[3]) != 8 || len(f[4]) != 4 {
		return date
	}
	month := bytes.Index([]byte(monthNames), f[1])
	if month < 0 || month%3 != 0 {
		return date
	}
	month = month/3 + 1
	short := append(append([]byte{}, f[4]...), '-', byte('0'+month/10), byte('0'+month%10), '-')
	if len(f[2]) == 1 {
		short = append(short, '0')
	}
	return append(short, f[2]...)
}

// isOneline reports whether a line begins with a hash, after a graph if there
// is one.
func isOneline(l []byte) bool {
	rest := l
	if bytes.IndexByte([]byte("*|\\/"), l[0]) >= 0 {
		rest = withoutGraph(l)
	}
	n := leadingHexDigits(rest)
	return len(rest) == 0 || n >= 7 && (n == len(rest) || rest[n] == ' ')
}
