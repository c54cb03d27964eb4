package logs

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// logRecord is a line of a log with the lines that belong to it.
type logRecord struct {
	text         []byte // lines separated by line feeds
	lines        int
	stamped      bool // it begins with a time
	problemKnown bool // isProblem is set
	isProblem    bool
	unmarked     int  // lines without a sign that they belong to the record
	inTraceback  bool // the last line of a traceback has not come
	inDump       bool // within a goroutine dump
	afterBlank   bool // the last line was blank
}

func (r *logRecord) begin(l []byte, timed bool) {
	*r = logRecord{text: append(r.text[:0], l...), lines: 1, stamped: timed}
	r.noteKind(l)
}

func (r *logRecord) add(l []byte) {
	if r.afterBlank {
		r.text = append(r.text, '\n')
		r.afterBlank = false
	}
	r.text = append(append(r.text, '\n'), l...)
	r.lines++
	r.noteKind(l)
}

func (r *logRecord) blank() { r.afterBlank = true }

// noteKind records that a line begins a traceback or a goroutine dump.
func (r *logRecord) noteKind(l []byte) {
	switch {
	case bytes.HasPrefix(l, []byte("Traceback (most")) || bytes.HasSuffix(l, []byte("Traceback (most recent call last):")):
		r.inTraceback = true
	case bytes.HasPrefix(l, []byte("goroutine ")) && l[len(l)-1] == ':':
		r.inDump = true
	}
}

// maxUnmarked is how many lines without a sign may follow the first of an error.
const maxUnmarked = 4

// continues reports whether a line belongs to the record. timed reports that it begins with a time.
func (r *logRecord) continues(l []byte, timed bool) bool {
	if r.afterBlank { // two tracebacks of one error
		return r.isProblem && !timed &&
			(bytes.HasPrefix(l, []byte("During handling of the above")) ||
				bytes.HasPrefix(l, []byte("The above exception was")) ||
				bytes.HasPrefix(l, []byte("Traceback (most")) && r.unmarked == 0)
	}
	switch {
	case l[0] == ' ' || l[0] == '\t':
		return !(l[0] == ' ' && timed && r.stamped)
	case r.inDump:
		return !bytes.HasPrefix(l, []byte("goroutine ")) && !timed
	case r.inTraceback && r.lines > 1:
		r.inTraceback, r.isProblem, r.problemKnown = false, true, true
		return !timed
	case l[0] == '}', l[0] == ']' && len(l) < 4, l[0] == ')' && len(l) < 4:
		return r.lines > 1
	case bytes.HasPrefix(l, []byte("Caused by: ")),
		bytes.HasPrefix(l, []byte("... ")) && bytes.HasSuffix(l, []byte(" more")),
		bytes.HasPrefix(l, []byte("at ")):
		return true
	}
	if !r.stamped || r.unmarked >= maxUnmarked || timed {
		return false
	}
	if !r.problemKnown {
		r.problemKnown, r.isProblem = true, reportsProblem(r.text)
	}
	r.unmarked++
	return r.isProblem
}

// reportsProblem reports whether the record reports a problem. Such a record must not be
// merged with one that has other numbers, and must not be truncated.
func (r *logRecord) reportsProblem() bool {
	if r.inDump { // of all goroutines one failed
		return bytes.Contains(r.text, []byte(" [running"))
	}
	return reportsProblem(r.text) || isFrameLine(r.text)
}

// problemWords report problems in logs, in addition to [text.Important].
var problemWords = text.NewWords(
	"warn", "crit", "alert", "emerg", "severe", "crash", "lost", "reject", "corrupt", "unhealthy",
	"unreachable", "unavailable", "disconnect", "expired", "overflow", "broken pipe", "reset by", "sigkill",
	"sigsegv", "sigterm", "sigabrt", "deadlock", "exceed", "backtrace", "stack trace", "kill", "evict",
	"backoff", "back-off", "restarting", "violation", "degraded", "insufficient", "rollback", "rolled back",
	"throttl", "stuck", "hung task", "slow ", "is full", "no space", "leak", "skipp", "missing", "bad ",
	"bug:", "caused by", "call trace", "i/o err", "err=", "level=err", " e/", "unknown", "detail:", "hint:",
	"fehler", "warnung", "erreur", "ошибка", "错误", "失败", "失敗", "エラー", "警告",
)

// problemMarks report problems in logs, with their case.
var problemMarks = text.ByteTexts(
	`" 50`, " 500 ", " 502 ", " 503 ", " 504 ", `"level":40`, `"level":50`, `"level":60`, `statusCode":5`,
	" E ", " F ", " W ",
)

func reportsProblem(body []byte) bool {
	if text.Important(body) || problemWords.Find(body) {
		return true
	}
	for _, m := range problemMarks {
		if bytes.Contains(body, m) {
			return true
		}
	}
	return len(body) > 5 && (body[0] == 'E' || body[0] == 'W' || body[0] == 'F') && text.DigitsEnd(body, 1) == 5 // klog
}

// isFrameLine reports whether a line with its own time is a frame of a stack trace,
// by the text after the name of the process.
func isFrameLine(l []byte) bool {
	for _, end := range processMarks {
		i := bytes.Index(l[:min(len(l), 100)], end)
		if i < 0 {
			continue
		}
		msg := bytes.TrimLeft(l[i+len(end):], " \t")
		return bytes.HasPrefix(msg, []byte("at ")) ||
			bytes.HasPrefix(msg, []byte("File \"")) ||
			len(msg) > 0 && msg[0] == '/' && (bytes.Contains(msg, []byte(".go:")) || bytes.Contains(msg, []byte(".rs:")))
	}
	return false
}

var processMarks = text.ByteTexts("]: ", " | ", "] ")

// beginsWithTime reports whether a line begins with a time or is a JSON object.
func beginsWithTime(l []byte) bool {
	if len(l) < 8 {
		return false
	}
	switch b := l[0]; {
	case b == '{':
		return l[len(l)-1] == '}'
	case b == '[': // time since boot
		if at := bytes.IndexByte(l[:min(len(l), 24)], '.'); at > 1 && at+1 < len(l) &&
			text.Class[l[at-1]] == text.Digit && text.Class[l[at+1]] == text.Digit {
			return true
		}
	case text.Class[b] == text.Digit && text.DigitsEnd(l, 0) >= 10:
		return true
	}
	from, _ := clockBounds(l)
	return from >= 0
}

// clockBounds returns the bounds of a time of day near the beginning of a line, or
// -1.
func clockBounds(l []byte) (from, to int) {
	l = l[:min(len(l), 64)]
	for at := 0; ; {
		i := bytes.IndexByte(l[at:], ':')
		if i < 0 {
			return -1, -1
		}
		at += i
		if at > 0 && at+5 < len(l) && l[at+3] == ':' && text.Class[l[at-1]] == text.Digit &&
			text.Class[l[at+1]] == text.Digit && text.Class[l[at+2]] == text.Digit &&
			text.Class[l[at+4]] == text.Digit && text.Class[l[at+5]] == text.Digit {
			from = at - 1
			if from > 0 && text.Class[l[from-1]] == text.Digit {
				from--
			}
			return from, at + 6
		}
		at++
	}
}

// lastTime returns the time of the last record, without the date if that is the
// same. It returns nil if there is no time or the times are equal.
func lastTime(first, last []byte) []byte {
	if first[0] == '[' { // time since boot
		i := bytes.IndexByte(last, ']')
		if i > 0 && i < 20 && bytes.IndexByte(last[:i], '.') > 0 && bytes.IndexByte(last[:i], ':') < 0 {
			if bytes.HasPrefix(first, last[:i+1]) {
				return nil
			}
			return bytes.TrimSpace(last[1:i])
		}
	}
	from, to := clockBounds(last)
	if from < 0 || len(first) >= to && bytes.Equal(first[:to], last[:to]) {
		return nil
	}
	if date := last[:from]; len(first) < from || !bytes.Equal(first[:from], date) {
		for from > 0 &&
			(text.Class[last[from-1]] != 0 || last[from-1] == '-' || last[from-1] == '/' || last[from-1] == ':' || last[from-1] == ' ') &&
			to-from < 20 {
			from--
		}
	}
	return bytes.TrimSpace(last[from:to])
}
