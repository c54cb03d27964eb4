package text

import "bytes"

// A log repeats records with another time, address, id or count. Normalize
// makes those equal. It is written by hand: regular expressions on every line
// of a log would cost more than all other work.

// VaryingMark replaces a part of a line that varies.
const VaryingMark = '#'

// Normalize appends the text by which a line is compared.
func Normalize(dst, line []byte) []byte {
	n := normalizer{dst: dst, line: line}
	return n.normalize()
}

// NormalizeColumns is Normalize, and also appends the parts of the line that VaryingMark replaced and
// that are no time or process. Lines that are equal apart from columns of the kind ID say the same of
// other ids; lines that differ in other columns are only similar.
func NormalizeColumns(dst, line []byte, columns []Column) ([]byte, []Column) {
	n := normalizer{dst: dst, line: line, collect: true, columns: columns}
	return n.normalize(), n.columns
}

// Span is a part of a line, from Start to before End.
type Span struct{ Start, End int }

// NormalizeSpans is Normalize, and also appends the parts of the line that VaryingMark replaced, with times and
// ids. It is faster than NormalizeColumns. The columns of equal lines are the same ones of their spans, apart from
// unusual lines with another number of spans.
func NormalizeSpans(dst, line []byte, spans []Span) ([]byte, []Span) {
	n := normalizer{dst: dst, line: line, collectSpans: true, spans: spans}
	return n.normalize(), n.spans
}

func (n *normalizer) normalize() []byte {
	line, same := n.line, 0 // line[same:at] is unchanged and not copied yet
	for at := 0; at < len(line); {
		start, kind := at, Class[line[at]]
		switch b := line[at]; {
		case kind != 0:
			for at++; at < len(line) && Class[line[at]] != 0; at++ {
				kind |= Class[line[at]]
			}
			if kind&Digit != 0 ||
				at-start == 3 && line[start] <= 'Z' && IsCalendarWord(line[start:at]) ||
				kind == HexLetter && (at-start >= 8 || joinsNext(line, at)) {
				n.dst, n.at = append(n.dst, line[same:start]...), start
				n.word(at, kind)
				at, same = n.at, n.at
			}
		case b == ' ' || b == '\t':
			at++
			before := byte(0)
			if start > same {
				before = line[start-1]
			} else if len(n.dst) > 0 {
				before = n.dst[len(n.dst)-1]
			}
			if b == ' ' && before != ' ' && before != '[' {
				continue
			}
			n.dst, same = append(n.dst, line[same:start]...), at
			if before != ' ' && before != '[' {
				n.dst = append(n.dst, ' ')
			}
		default:
			at++
		}
	}
	return append(n.dst, line[same:]...)
}

// joinsNext reports whether the byte at end joins a part of an id, a clock or a
// date to the next part.
func joinsNext(line []byte, end int) bool {
	return end < len(line) && (line[end] == ':' || line[end] == '-' || line[end] == '/')
}

// normalizer appends the normalised text of line to dst.
type normalizer struct {
	dst, line    []byte
	at           int // index in line of the text that is not appended yet
	collectSpans bool
	spans        []Span
	collect      bool
	columns      []Column
	maskEnd      int  // end in dst of the last mark that is no column
	maskFirst    bool // dst begins with such a mark
}

// word normalises the letters and digits from n.at to end. kind has the bits of their
// classes.
func (n *normalizer) word(end int, kind uint8) {
	line, start := n.line, n.at
	if kind&Letter == 0 && joinsNext(line, end) {
		if to := linkedEnd(line, start, end); to > 0 {
			stamp := isStamp(line, start, end, to)
			if n.writeMark(to); !stamp {
				n.addID(start)
			}
			return
		}
	}
	word := line[start:end]
	switch {
	case kind&Digit == 0 && !(kind == HexLetter && len(word) >= 8) && !(len(word) == 3 && IsCalendarWord(word)):
		n.copy(end)
	case kind == Digit && n.isResult(end):
		n.copy(end)
	case kind == Digit:
		is := stamp
		if n.collect {
			is = n.numberIs(end)
		}
		switch n.writeMark(end); is {
		case subject:
			n.addColumn(start, n.at, Count)
		case id:
			n.addID(start)
		}
	case kind&Digit == 0:
		if n.writeMark(end); len(word) > 3 {
			n.addID(start)
		}
	case isMeasure(word):
		n.writeMark(end)
		n.addColumn(start, n.at, Measure)
	case countAlternations(word) > 1 || kind == Digit|HexLetter && len(word) >= 7:
		n.writeMark(end)
		switch {
		case !n.collect:
		case isDuration(line[start:n.at]):
			n.addColumn(start, n.at, Measure)
		case len(word) < 7, len(word) == 7 && kind&Letter != 0, isRangeEnd(line, start, n.at):
			n.addColumn(start, n.at, Name)
		case !isCompactTime(word):
			n.addID(start)
		}
	default:
		for _, b := range word {
			if Class[b] != Digit {
				n.dst = append(n.dst, b)
			} else if l := len(n.dst); l == 0 || n.dst[l-1] != VaryingMark {
				n.dst = append(n.dst, VaryingMark)
			}
		}
		n.at = end
		if n.collectSpans {
			n.spans = append(n.spans, Span{start, end})
		}
		if n.collect && (start > 0 || !isKlogDate(line)) {
			n.addColumn(start, end, Name)
		}
	}
}

func (n *normalizer) copy(end int) {
	n.dst = append(n.dst, n.line[n.at:end]...)
	n.at = end
}

// writeMark writes VaryingMark for the text up to end, a fraction and a unit
// included.
func (n *normalizer) writeMark(end int) {
	line := n.line
	for end+1 < len(line) {
		switch line[end] {
		case '.', ',':
			if Class[line[end+1]] == Digit {
				for end++; end < len(line) && Class[line[end]] != 0; end++ {
				}
				continue
			}
		case '-', '+':
			if Class[line[end+1]] == Digit && end >= 2 && line[end-1]|0x20 == 'e' && Class[line[end-2]] == Digit { // 1e-05
				for end++; end < len(line) && Class[line[end]] == Digit; end++ {
				}
			}
		case 0xc2, 0xce:
			if end+2 < len(line) && line[end+2] == 's' && // µs with the micro sign or the Greek letter
				(line[end] == 0xc2 && line[end+1] == 0xb5 || line[end] == 0xce && line[end+1] == 0xbc) {
				end += 3
			}
		}
		break
	}
	n.dst = append(n.dst, VaryingMark)
	if n.collectSpans {
		n.spans = append(n.spans, Span{n.at, end})
	}
	n.at = end
	if n.collect {
		n.maskEnd = len(n.dst)
		n.maskFirst = n.maskFirst || n.maskEnd == 1
	}
}

// fractionEnd returns the end of a number with its fraction.
func (n *normalizer) fractionEnd(end int) int {
	for end+1 < len(n.line) && n.line[end] == '.' && Class[n.line[end+1]] == Digit {
		for end++; end < len(n.line) && Class[n.line[end]] == Digit; end++ {
		}
	}
	return end
}

// numberUse is what a number is in a record.
type numberUse uint8

const (
	subject numberUse = iota // says something about the subject of the record
	stamp                    // a time or a process
	id                       // a part of an address, a port or a long id
)

// numberIs returns what the number up to end is.
func (n *normalizer) numberIs(end int) numberUse {
	line, start := n.line, n.at
	if isEpoch(line[start:end]) {
		if end-start > 16 && end-start != 19 {
			return id
		}
		return stamp
	}
	if end < len(line) && line[end] == '.' && bytes.Count(line[end:n.fractionEnd(end)], []byte(".")) == 3 { // an address
		return id
	}
	if start == 0 {
		return subject
	}
	switch before := line[start-1]; before {
	case '[':
		if start == 1 { // time since boot
			return stamp
		}
		if Class[line[start-2]] != 0 && end < len(line) && line[end] == ']' { // process
			return stamp
		}
	case ' ':
		if start < 16 && line[0] == '[' && len(bytes.TrimLeft(line[1:start], " ")) == 0 {
			return stamp
		}
		if start < 8 && n.maskFirst { // day of the month that begins the line
			return stamp
		}
		fallthrough
	case '=', ':', '"':
		switch n.nameOfProcess() {
		case "":
		case "port", "PORT", "Port":
			return id
		default:
			return stamp
		}
		// port of an address
		if before == ':' && len(n.dst) > 1 {
			to := len(n.dst) - 1
			if n.dst[to-1] == ']' {
				to--
			}
			if to == n.maskEnd {
				return id
			}
		}
	}
	return subject
}

// isRangeEnd reports whether the pointer from start to end is one end of a range of addresses, which is what
// the record is about: 0x1000-0x1fff.
func isRangeEnd(line []byte, start, end int) bool {
	return bytes.HasPrefix(line[start:], []byte("0x")) &&
		(bytes.HasPrefix(line[end:], []byte("-0x")) || start > 2 && line[start-1] == '-' && Class[line[start-2]]&(Digit|HexLetter) != 0)
}

// nameOfProcess returns the name before the number at n.at if it is one of a process or a port, or "".
func (n *normalizer) nameOfProcess() string {
	at := n.at - 1
	for at >= 0 && n.at-at < 5 && Class[n.line[at]] == 0 {
		at--
	}
	if at < 0 {
		return ""
	}
	switch n.line[at] | 0x20 { // the last letters of the words below
	case 'd', 't':
		switch name := string(wordBefore(n.line, n.at)); name {
		case "pid", "PID", "Pid", "tid", "port", "PORT", "Port", "ppid":
			return name
		}
	}
	return ""
}

// isResult reports whether the number up to end is a result: a status, an exit
// code, a level, or zero.
func (n *normalizer) isResult(end int) bool {
	line, start := n.line, n.at
	if end-start > 3 || start == 0 || end < len(line) && (line[end] == ':' || line[end] == '.' || line[end] == '-' || line[end] == '/') {
		return false
	}
	switch line[start-1] {
	case ' ', '=', ':', '"', '(', '\'':
	default:
		return false
	}
	if end-start == 1 && line[start] == '0' {
		return true
	}
	if end-start == 3 && (line[start] == '4' || line[start] == '5') && !isSize(line, start) &&
		failedStatus[(int(line[start]-'0')*10+int(line[start+1]-'0'))*10+int(line[start+2]-'0')-400] {
		if before := line[:start]; bytes.Contains(before, []byte("HTTP")) ||
			bytes.Contains(before, []byte("http")) ||
			bytes.Contains(before, []byte("GET ")) ||
			bytes.Contains(before, []byte("POST")) ||
			bytes.Contains(line[end:], []byte("GET ")) ||
			bytes.Contains(line[end:], []byte("POST ")) {
			return true
		}
	}
	k := wordBefore(line, start)
	if len(k) < 2 {
		return false
	}
	for _, word := range resultWords[k[len(k)-1]|0x20] {
		if len(k) >= len(word) && HasPrefixFold(k[len(k)-len(word):], word) {
			return true
		}
	}
	return false
}

// isSize reports whether the number at start is the size of an answer, which an
// access log has after the status: "GET / HTTP/1.1" 200 512.
func isSize(line []byte, start int) bool {
	status := start - len("200 ")
	return status >= len(`" `) && line[start-1] == ' ' && DigitsEnd(line, status) == start-1 &&
		line[status-1] == ' ' && line[status-2] == '"'
}

// resultWords are the words before results, by their last letter.
var resultWords = func() (by [256][][]byte) {
	for _, word := range ByteTexts("status", "code", "exit", "level", "severity", "errno", "signal", "lvl", "rc", "priority") {
		last := word[len(word)-1]
		by[last] = append(by[last], word)
	}
	return by
}()

// failedStatus holds the HTTP statuses of failures, from 400 on.
var failedStatus = func() (table [200]bool) {
	for _, status := range []int{
		400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 421, 422, 423, 424,
		425, 426, 428, 429, 431, 444, 451, 499, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 521, 522,
		523, 524, 525, 526, 530,
	} {
		table[status-400] = true
	}
	return table
}()

// wordBefore returns the word before a value that begins at start, as in
// level=30, "level": 30 and exit code 1.
func wordBefore(line []byte, start int) []byte {
	end := start
	for end > 0 && start-end < 5 &&
		(line[end-1] == ' ' || line[end-1] == '=' || line[end-1] == ':' || line[end-1] == '"' || line[end-1] == '\'') {
		end--
	}
	from := end
	for from > 0 && end-from < 16 && Class[line[from-1]]&(HexLetter|Letter) != 0 {
		from--
	}
	return line[from:end]
}

// countAlternations counts the changes between letters and digits.
func countAlternations(word []byte) (n int) {
	for i := 1; i < len(word); i++ {
		if (Class[word[i]] == Digit) != (Class[word[i-1]] == Digit) {
			n++
		}
	}
	return n
}

// isMeasure reports whether a word is a number with a unit: 12ms, 4kB.
func isMeasure(word []byte) bool {
	i := 0
	for i < len(word) && Class[word[i]] == Digit {
		i++
	}
	if i == 0 || len(word)-i > 3 {
		return false
	}
	for _, b := range word[i:] {
		if Class[b] == Digit {
			return false
		}
	}
	return true
}

// FailedRequest reports whether a line of an access log has a status from 400
// on.
func FailedRequest(text []byte) bool {
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], ' ')
		if i < 0 || at+i+4 > len(text) {
			return false
		}
		at += i + 1
		if n := (normalizer{line: text, at: at}); DigitsEnd(text, at) == at+3 && n.isResult(at+3) && (text[at] == '4' || text[at] == '5') {
			return true
		}
	}
}
