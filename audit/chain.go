package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// A line ends with the hash of the line before it and its own hash, which
// covers the rest of the line. Both have a fixed position, so that a process
// can continue the chain of another one after reading the last bytes of the
// file.
const (
	lineBegin  = `{"timestamp":"` // the first member of an Entry
	prevMember = `,"prev":"`
	hashMember = `","hash":"`
	lineEnd    = `"}` // followed by a newline
	hashLen    = 2 * sha256.Size
	tailLen    = len(hashMember) + hashLen + len(lineEnd)
)

// seal returns the line of a body, which is a JSON object with members. prev is the
// hash of the line before it, "" for the first line.
func seal(body []byte, prev string) []byte {
	line := make([]byte, 0, len(body)+len(prevMember)+hashLen+tailLen+1)
	line = append(line, body[:len(body)-1]...)
	line = append(line, prevMember...)
	line = append(line, prev...)
	sum := sha256.Sum256(line)
	line = append(line, hashMember...)
	line = hex.AppendEncode(line, sum[:])
	return append(append(line, lineEnd...), '\n')
}

// ownHash returns a line's own hash, at its end. The line has no newline.
func ownHash(line []byte) (hash string, ok bool) {
	if len(line) < tailLen {
		return "", false
	}
	end := line[len(line)-tailLen:]
	hash = string(end[len(hashMember) : len(hashMember)+hashLen])
	return hash, bytes.HasPrefix(end, []byte(hashMember)) && bytes.HasSuffix(end, []byte(lineEnd)) && isHash(hash)
}

// sealed reports whether a line, without its newline, ends like a whole one.
func sealed(line []byte) bool {
	_, ok := ownHash(line)
	return ok
}

// unseal returns the two hashes of a line without its newline. ok is false if the line
// has none; intact reports whether its own hash fits, so that the line is unchanged.
func unseal(line []byte) (prev, hash string, intact, ok bool) {
	hash, ok = ownHash(line)
	if !ok {
		return "", "", false, false
	}
	covered := line[:len(line)-tailLen]
	i := bytes.LastIndex(covered, []byte(prevMember))
	if i < 0 {
		return "", "", false, false
	}
	prev = string(covered[i+len(prevMember):])
	if prev != "" && !isHash(prev) {
		return "", "", false, false
	}
	sum := sha256.Sum256(covered)
	return prev, hash, hex.EncodeToString(sum[:]) == hash, true
}

func isHash(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == hashLen
}
