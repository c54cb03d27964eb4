package filter

import "bytes"

// A log says the same again and again with another time, address, id or count.
// normal makes equal what differs only by that. It is written by hand, since
// regular expressions on every line of a log would cost more than all else.

// mark stands for what varies.
const mark = '#'

// normal appends to dst the text by which a line is compared. A strict one holds
// apart what tells of different things: only times, addresses, long ids, sizes,
// durations, processes and ports count as the same then, not plain numbers.
func normal(dst, line []byte, strict bool) []byte {
	n := normalising{dst: dst, line: line, strict: strict}
	same := 0 // from here on up to at it stays as it is, which is not copied yet
	for at := 0; at < len(line); {
		start, kind := at, kinds[line[at]]
		switch b := line[at]; {
		case kind != 0:
			for at++; at < len(line) && kinds[line[at]] != 0; at++ {
				kind |= kinds[line[at]]
			}
			if kind&isDigit != 0 || at-start == 3 && calendar(line[start:at]) || kind == isHex && (at-start >= 8 || joins(line, at)) {
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

// joins reports whether what is behind a part of an id, a clock or a date joins it
// to more.
func joins(line []byte, end int) bool {
	return end < len(line) && (line[end] == ':' || line[end] == '-' || line[end] == '/')
}

type normalising struct {
	dst, line []byte
	at        int
	strict    bool
}

// word takes the letters and digits up to end, which are of these kinds.
func (n *normalising) word(end int, kind uint8) {
	line, start := n.line, n.at
	if kind&isAlpha == 0 && joins(line, end) {
		if to := linked(line, start, end); to > 0 {
			n.mark(to)
			return
		}
	}
	word := line[start:end]
	switch {
	case kind&isDigit == 0 && !(kind == isHex && len(word) >= 8) && !(len(word) == 3 && calendar(word)):
		n.literal(end)
	case kind == isDigit && n.strict && n.tells(end):
		n.literal(n.fraction(end))
	case kind == isDigit && !n.strict && n.speaks(end):
		n.literal(end)
	case kind == isDigit || kind&isDigit == 0 || turns(word) > 1 && (!n.strict || len(word) >= 8) || kind == isDigit|isHex && len(word) >= 7 || unit(word):
		n.mark(end)
	case n.strict:
		n.literal(end)
	default:
		for _, b := range word {
			if kinds[b] != isDigit {
				n.dst = append(n.dst, b)
			} else if l := len(n.dst); l == 0 || n.dst[l-1] != mark {
				n.dst = append(n.dst, mark)
			}
		}
		n.at = end
	}
}

func (n *normalising) literal(end int) {
	n.dst = append(n.dst, n.line[n.at:end]...)
	n.at = end
}

// mark stands for the text up to end, and for the fraction and the unit that
// follow.
func (n *normalising) mark(end int) {
	line := n.line
	for {
		switch {
		case end+1 < len(line) && (line[end] == '.' || line[end] == ',') && kinds[line[end+1]] == isDigit:
			for end++; end < len(line) && kinds[line[end]] != 0; end++ {
			}
			continue
		case end+2 < len(line) && line[end+2] == 's' && (line[end] == 0xc2 && line[end+1] == 0xb5 || line[end] == 0xce && line[end+1] == 0xbc): // µs
			end += 3
		}
		break
	}
	n.dst = append(n.dst, mark)
	n.at = end
}

// fraction gives the end of a number that may have one.
func (n *normalising) fraction(end int) int {
	for end+1 < len(n.line) && n.line[end] == '.' && kinds[n.line[end+1]] == isDigit {
		for end++; end < len(n.line) && kinds[n.line[end]] == isDigit; end++ {
		}
	}
	return end
}

// tells reports whether a number up to end tells of one thing and not another,
// so that errors with different ones differ.
func (n *normalising) tells(end int) bool {
	line, start := n.line, n.at
	if end-start >= 10 { // an epoch, an id
		return false
	}
	to := n.fraction(end)
	if to < len(line) && to > end && kinds[line[to]] != 0 || to+1 < len(line) && (line[to] == 0xc2 || line[to] == 0xce) { // a duration
		return false
	}
	if bytes.Count(line[end:to], []byte(".")) == 3 { // an address
		return false
	}
	if start == 0 {
		return true
	}
	switch before := line[start-1]; before {
	case '[':
		if start == 1 { // time since boot
			return false
		}
		if kinds[line[start-2]] != 0 && end < len(line) && line[end] == ']' { // process
			return false
		}
	case ' ':
		if start < 16 && line[0] == '[' && len(bytes.TrimLeft(line[1:start], " ")) == 0 {
			return false
		}
		if start < 8 && n.dst[0] == mark { // day of the month that begins the line
			return false
		}
		fallthrough
	case '=', ':', '"':
		switch string(key(line, start)) {
		case "pid", "PID", "Pid", "tid", "port", "PORT", "Port", "ppid":
			return false
		}
		if d := bytes.TrimSuffix(n.dst, []byte(":")); before == ':' && (bytes.HasSuffix(d, []byte("#")) || bytes.HasSuffix(d, []byte("#]"))) { // port of an address
			return false
		}
	}
	return true
}

// speaks reports whether a number up to end is one of the few that say what
// happened: a status, an exit code, a level, none at all.
func (n *normalising) speaks(end int) bool {
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
	if end-start == 3 && (line[start] == '4' || line[start] == '5') && failedStatus[(int(line[start]-'0')*10+int(line[start+1]-'0'))*10+int(line[start+2]-'0')-400] {
		if before := line[:start]; bytes.Contains(before, []byte("HTTP")) || bytes.Contains(before, []byte("http")) || bytes.Contains(before, []byte("GET ")) || bytes.Contains(before, []byte("POST")) || bytes.Contains(line[end:], []byte("GET ")) || bytes.Contains(line[end:], []byte("POST ")) {
			return true
		}
	}
	k := key(line, start)
	if len(k) < 2 {
		return false
	}
	switch k[len(k)-1] { // of a few words only
	case 's', 'S', 'e', 'E', 'l', 'L', 't', 'y', 'o', 'c', 'Y':
	default:
		return false
	}
	for _, word := range speaking {
		if len(k) >= len(word) && hasFold(k[len(k)-len(word):], word) {
			return true
		}
	}
	return false
}

var speaking = [][]byte{[]byte("status"), []byte("code"), []byte("exit"), []byte("level"), []byte("severity"), []byte("errno"), []byte("signal"), []byte("lvl"), []byte("rc"), []byte("priority")}

// failedStatus are the HTTP statuses from 400 on.
var failedStatus = func() (table [200]bool) {
	for _, status := range []int{400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 421, 422, 423, 424, 425, 426, 428, 429, 431, 444, 451, 499, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 521, 522, 523, 524, 525, 526, 530} {
		table[status-400] = true
	}
	return table
}()

// key gives the word before a value that begins at start: of level=30, of
// "level": 30, of exit code 1.
func key(line []byte, start int) []byte {
	end := start
	for end > 0 && start-end < 5 && (line[end-1] == ' ' || line[end-1] == '=' || line[end-1] == ':' || line[end-1] == '"' || line[end-1] == '\'') {
		end--
	}
	from := end
	for from > 0 && end-from < 16 && kinds[line[from-1]]&(isHex|isAlpha) != 0 {
		from--
	}
	return line[from:end]
}

// turns counts how often letters and digits take turns.
func turns(word []byte) (n int) {
	for i := 1; i < len(word); i++ {
		if (kinds[word[i]] == isDigit) != (kinds[word[i-1]] == isDigit) {
			n++
		}
	}
	return n
}

// unit reports whether a word is a number and what it counts: 12ms, 4kB.
func unit(word []byte) bool {
	i := 0
	for i < len(word) && kinds[word[i]] == isDigit {
		i++
	}
	if i == 0 || len(word)-i > 3 {
		return false
	}
	for _, b := range word[i:] {
		if kinds[b] == isDigit {
			return false
		}
	}
	return true
}

// linked gives the end of a UUID, a clock, a date, an IPv6 or a hardware address
// whose first part is from start to end; 0 if it is none.
func linked(line []byte, start, end int) int {
	if start > 0 {
		switch line[start-1] {
		case '.', '_':
			return 0
		}
	}
	switch line[end] {
	case '-':
		if end-start == 8 && len(line) >= start+36 && line[start+13] == '-' && line[start+18] == '-' && line[start+23] == '-' && hexadecimal(line[start+24:start+36]) {
			return start + 36
		}
		return date(line, start, end)
	case '/':
		return date(line, start, end)
	}
	colons, digits, at, group := 0, 0, start, 0
	short := true
	for ; at < len(line); at++ {
		switch kinds[line[at]] {
		case isDigit:
			digits++
			group++
		case isHex:
			group++
			short = false
		default:
			if line[at] != ':' {
				goto done
			}
			short = short && group > 0 && group <= 2
			colons, group = colons+1, 0
		}
		if group > 4 {
			return 0
		}
	}
done:
	if colons < 2 || digits == 0 && colons < 5 || at < len(line) && kinds[line[at]] == isAlpha && line[at] != 'Z' && line[at] != 'T' {
		return 0
	}
	if line[at-1] == ':' { // the end of a sentence
		at--
		if colons--; colons < 2 {
			return 0
		}
	}
	if short && colons == 2 || colons >= 5 || bytes.Contains(line[start:at], []byte("::")) {
		if at < len(line) && line[at] == 'Z' {
			at++
		}
		return at
	}
	return 0
}

// date gives the end of a date that begins with a number, and of the clock that
// is joined to it: 2026-11-21T03:12:01Z, 21/Nov/2026:03:12:01.
func date(line []byte, start, end int) int {
	sep := line[end]
	if run(line, start) != end {
		return 0
	}
	month := end + 1
	second := run(line, month)
	if second == month && sep == '/' && month+3 < len(line) && calendar(line[month:month+3]) {
		second = month + 3
	}
	if second == month || second >= len(line) || line[second] != sep {
		return 0
	}
	third := run(line, second+1)
	first, last := end-start, third-second-1
	if (first != 4 || second-month != 2 || last != 2) && (sep != '/' || first > 2 || last != 4 && last != 2) {
		return 0
	}
	if third+8 < len(line) && (line[third] == 'T' || line[third] == ':') && kinds[line[third+1]] == isDigit {
		if clock := run(line, third+1); clock < len(line) && line[clock] == ':' {
			if to := linked(line, third+1, clock); to > 0 {
				return to
			}
		}
	}
	return third
}

func hexadecimal(b []byte) bool {
	for _, c := range b {
		if kinds[c]&(isDigit|isHex) == 0 {
			return false
		}
	}
	return true
}

// refused reports whether a line of an access log has a status from 400 on.
func refused(text []byte) bool {
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], ' ')
		if i < 0 || at+i+4 > len(text) {
			return false
		}
		at += i + 1
		if n := (normalising{line: text, at: at}); run(text, at) == at+3 && n.speaks(at+3) && (text[at] == '4' || text[at] == '5') {
			return true
		}
	}
}
