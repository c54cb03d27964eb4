package text

import "bytes"

// linkedEnd returns the end of a UUID, a clock, a date, an IPv6 or a hardware
// address whose first part is line[start:end]. It returns 0 for other text.
func linkedEnd(line []byte, start, end int) int {
	if start > 0 {
		switch line[start-1] {
		case '.', '_':
			return 0
		}
	}
	switch line[end] {
	case '-':
		if end-start == 8 && len(line) >= start+36 && line[start+13] == '-' && line[start+18] == '-' &&
			line[start+23] == '-' && isHexadecimal(line[start+24:start+36]) {
			return start + 36
		}
		return dateEnd(line, start, end)
	case '/':
		return dateEnd(line, start, end)
	}
	colons, digits, at, group := 0, 0, start, 0
	short := true
	for ; at < len(line); at++ {
		switch Class[line[at]] {
		case Digit:
			digits++
			group++
		case HexLetter:
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
	if colons < 2 || digits == 0 && colons < 5 || at < len(line) && Class[line[at]] == Letter && line[at] != 'Z' && line[at] != 'T' {
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

// isStamp reports whether the text from start to "to", of which linkedEnd found the end, is a clock or a date.
// Its first part ends at end.
func isStamp(line []byte, start, end, to int) bool {
	all := line[start:to]
	if line[end] == ':' {
		return bytes.Count(all, []byte(":")) == 2 && !bytes.Contains(all, []byte("::"))
	}
	return line[end] == '/' || end-start != 8 || len(all) != 36
}

// isCompactTime reports whether a word is a date and a time without signs between them: 20261121T031201Z.
func isCompactTime(word []byte) bool {
	return len(word) >= 15 && DigitsEnd(word, 0) == 8 && word[8] == 'T' && DigitsEnd(word, 9) >= 15
}

// dateEnd returns the end of a date that begins with a number, and of the clock
// joined to it: 2026-11-21T03:12:01Z, 21/Nov/2026:03:12:01.
func dateEnd(line []byte, start, end int) int {
	sep := line[end]
	if DigitsEnd(line, start) != end {
		return 0
	}
	month := end + 1
	second := DigitsEnd(line, month)
	if second == month && sep == '/' && month+3 < len(line) && IsCalendarWord(line[month:month+3]) {
		second = month + 3
	}
	if second == month || second >= len(line) || line[second] != sep {
		return 0
	}
	third := DigitsEnd(line, second+1)
	first, last := end-start, third-second-1
	if (first != 4 || second-month != 2 || last != 2) && (sep != '/' || first > 2 || last != 4 && last != 2) {
		return 0
	}
	if third+8 < len(line) && (line[third] == 'T' || line[third] == ':') && Class[line[third+1]] == Digit {
		if clock := DigitsEnd(line, third+1); clock < len(line) && line[clock] == ':' {
			if to := linkedEnd(line, third+1, clock); to > 0 {
				return to
			}
		}
	}
	return third
}

func isHexadecimal(b []byte) bool {
	for _, c := range b {
		if Class[c]&(Digit|HexLetter) == 0 {
			return false
		}
	}
	return true
}
