package text

import "bytes"

// Column is a part of a line that varies between similar lines.
type Column struct {
	Start, End int        // in the line, with the fraction and a joined unit
	Kind       ColumnKind // Count for all plain numbers, until Describe
}

// ColumnKind is what a column says.
type ColumnKind uint8

// The kinds.
const (
	Name    ColumnKind = iota // a part of a name, a path or an id
	Count                     // a plain integer
	Measure                   // a number with a name, a fraction or a unit
	ID                        // an address, a port, a pointer, a hash or a long id
)

// maxColumns limits the columns of a line.
const maxColumns = 24

func (n *normalizer) addColumn(start, end int, kind ColumnKind) {
	if n.maskEnd = -1; start == 0 {
		n.maskFirst = false
	}
	if n.collect && len(n.columns) < maxColumns {
		n.columns = append(n.columns, Column{start, end, kind})
	}
}

// addID appends the id from start to n.at. Other than the columns of other kinds it stays a mark for what follows.
func (n *normalizer) addID(start int) {
	if n.collect && len(n.columns) < maxColumns {
		n.columns = append(n.columns, Column{start, n.at, ID})
	}
}

// Describe returns a column with its kind, its sign, and the unit that a blank separates from the number.
// They are the same in all lines that Normalize makes equal.
func Describe(line []byte, c Column) Column {
	if c.Kind != Count {
		return c
	}
	kind := numberKind(line[c.Start:c.End])
	before := byte(' ')
	if c.Start > 0 {
		before = line[c.Start-1]
	}
	switch {
	case before == '-' && (c.Start == 1 || Class[line[c.Start-2]] == 0 && line[c.Start-2] != '-'): // a sign
		if c.Start--; c.Start > 0 {
			before = line[c.Start-1]
		}
	case bytes.IndexByte([]byte("/-_.#@\\~+"), before) >= 0,
		c.End+1 < len(line) && (line[c.End] == '_' || line[c.End] == '-') && Class[line[c.End+1]] != 0:
		kind = Name
	}
	unit := unitEnd(line, c.End)
	switch {
	case kind == Name:
	case kind == Measure || unit > c.End:
		kind, c.End = Measure, unit
	default:
		if name := nameOfNumber(line, c.Start); len(name) > 0 {
			kind = Measure
			if IsIDName(name) {
				kind = Name
			}
		} else if before == ':' {
			kind = Name
		}
	}
	c.Kind = kind
	return c
}

// numberKind returns the kind of a number by its own text.
func numberKind(number []byte) ColumnKind {
	dots := bytes.Count(number, []byte("."))
	if dots > 1 { // a version
		return Name
	}
	kind := Count
	if dots == 1 || Class[number[len(number)-1]] != Digit {
		kind = Measure
	}
	if comma := bytes.IndexByte(number, ','); comma > 0 {
		if comma > 3 || len(number)-comma < 4 || DigitsEnd(number, comma+1) != comma+4 { // not thousands
			return Name
		}
		kind = Measure
	}
	return kind
}

// unitEnd returns the end of the unit after a number that ends at end, or end.
func unitEnd(line []byte, end int) int {
	at := end
	if at < len(line) && line[at] == '%' {
		return at + 1
	}
	if at+1 >= len(line) || line[at] != ' ' {
		return end
	}
	at++
	if line[at] == '%' {
		return at + 1
	}
	to := at
	for to < len(line) && to-at < 8 && (Class[line[to]]&(HexLetter|Letter) != 0 || line[to] >= 0x80) {
		to++
	}
	if _, ok := unitScale(string(line[at:to])); ok && to > at && (to == len(line) || Class[line[to]] == 0) {
		return to
	}
	return end
}

// NameBefore returns the name of a number that begins at start: loss of "loss=0.8", "loss: 0.8" or
// "loss 0.8", or nothing.
func NameBefore(line []byte, start int) []byte {
	end := start
	for end > 0 && start-end < 4 && bytes.IndexByte([]byte(" =:\"'("), line[end-1]) >= 0 {
		end--
	}
	from := end
	for from > 0 && end-from < 32 && (Class[line[from-1]] != 0 || line[from-1] == '_' || line[from-1] == '.' || line[from-1] == '-') {
		from--
	}
	name := bytes.Trim(line[from:end], ".-_")
	if end == start || DigitsEnd(name, 0) > 0 {
		return nil
	}
	if line[end] == ' ' && end+1 == start {
		switch string(name) {
		case "after", "at", "by", "for", "from", "in", "of", "to", "with": // name nothing
			return nil
		}
	}
	return name
}

// nameOfNumber is NameBefore if a sign such as "=" joins the name to the number.
func nameOfNumber(line []byte, start int) []byte {
	joint := start
	for joint > 0 && start-joint < 3 && (line[joint-1] == ' ' || line[joint-1] == '"' || line[joint-1] == '\'') {
		joint--
	}
	if joint == 0 || line[joint-1] != '=' && line[joint-1] != ':' {
		return nil
	}
	name := NameBefore(line, start)
	if line[joint-1] == ':' && joint == start && bytes.IndexByte(name, '.') >= 0 { // a place: a.go:12
		return nil
	}
	return name
}

// IsIDName reports whether a number of that name is an id.
func IsIDName(name []byte) bool {
	if len(name) < 2 {
		return false
	}
	last := name[len(name)-2:]
	switch {
	case string(last) == "Id", string(last) == "ID":
		return true
	case string(last) == "id":
		return len(name) == 2 || len(name) == 3 || bytes.IndexByte([]byte("_-."), name[len(name)-3]) >= 0
	}
	return false
}

// isEpoch reports whether a number is a time since 1970, or a long id.
func isEpoch(number []byte) bool {
	switch n := len(number); {
	case n < 10:
		return false
	case n == 10, n == 13, n == 16, n == 19:
		return number[0] == '1' || number[0] == '2'
	default:
		return n > 16
	}
}

// isKlogDate reports whether a line begins with a level and a date, as klog writes them: I1121 03:12:01.
func isKlogDate(line []byte) bool {
	return len(line) > 8 && bytes.IndexByte([]byte("IWEF"), line[0]) >= 0 && DigitsEnd(line, 1) == 5 && line[5] == ' ' && Class[line[6]] == Digit
}

// isDuration reports whether a text is a duration of several units: 1m30s.
func isDuration(word []byte) bool {
	if last := word[len(word)-1]; last != 's' && last != 'm' && last != 'h' || Class[word[0]] != Digit {
		return false
	}
	for at := 0; at < len(word); {
		to := DigitsEnd(word, at)
		if to < len(word) && word[to] == '.' {
			to = DigitsEnd(word, to+1)
		}
		unit := to
		for unit < len(word) && Class[word[unit]] != Digit {
			unit++
		}
		if seconds, ok := unitScale(string(word[to:unit])); to == at || !ok || seconds > 1e5 {
			return false
		}
		at = unit
	}
	return true
}

// Value returns the value of a column, in seconds or bytes if it has such a unit.
func Value(number []byte) (v float64, ok bool) {
	negative := len(number) > 0 && number[0] == '-'
	if negative {
		number = number[1:]
	}
	if v, ok = simpleValue(number); ok {
		if negative {
			v = -v
		}
		return v, true
	}
	for at := 0; at < len(number); {
		part, scale, digits := 0.0, 1.0, 0
		fraction := false
		for ; at < len(number); at++ {
			b := number[at]
			if b == '.' && !fraction {
				fraction = true
				continue
			}
			if b == ',' {
				continue
			}
			if Class[b] != Digit {
				break
			}
			digits++
			if part = part*10 + float64(b-'0'); fraction {
				scale /= 10
			}
		}
		if digits == 0 {
			return 0, false
		}
		part *= scale
		if at+1 < len(number) && number[at]|0x20 == 'e' && (number[at+1] == '-' || number[at+1] == '+' || Class[number[at+1]] == Digit) {
			exponent, down := 0, number[at+1] == '-'
			for at++; at < len(number) && (Class[number[at]] == Digit || number[at] == '-' || number[at] == '+'); at++ {
				if Class[number[at]] == Digit {
					exponent = min(exponent*10+int(number[at]-'0'), 400)
				}
			}
			for ; exponent > 0; exponent-- {
				if part *= 10; down {
					part /= 100
				}
			}
		}
		unit := at
		for unit < len(number) && Class[number[unit]] != Digit {
			unit++
		}
		if s, ok := unitScale(string(bytes.TrimLeft(number[at:unit], " "))); ok {
			part *= s
		}
		v, at = v+part, unit
	}
	if negative {
		v = -v
	}
	return v, true
}

// simpleValue returns the value of digits with at most one point, and a unit directly after them.
func simpleValue(number []byte) (v float64, ok bool) {
	whole, scale := uint64(0), uint64(0)
	at := 0
	for ; at < len(number) && at < 18; at++ {
		if b := number[at]; Class[b] == Digit {
			whole, scale = whole*10+uint64(b-'0'), scale*10
		} else if b == '.' && scale == 0 {
			scale = 1
		} else {
			break
		}
	}
	if v = float64(whole); scale > 1 {
		v /= float64(scale)
	}
	switch rest := number[at:]; {
	case at == 0 || scale == 1:
		return 0, false
	case len(rest) == 0:
		return v, true
	case rest[0] == ' ' || Class[rest[0]] == Digit || Class[rest[len(rest)-1]] == Digit:
		return 0, false
	default:
		unit, ok := unitScale(string(rest))
		return v * unit, ok
	}
}

// unitScale returns the factor of a unit of time or size.
func unitScale(unit string) (float64, bool) {
	switch unit {
	case "ns":
		return 1e-9, true
	case "us", "µs", "μs":
		return 1e-6, true
	case "ms", "msec", "millis":
		return 1e-3, true
	case "s", "sec", "secs", "second", "seconds", "B", "b", "byte", "bytes", "Bytes", "%":
		return 1, true
	case "m", "min", "mins", "minutes":
		return 60, true
	case "h", "hours":
		return 3600, true
	case "d", "days":
		return 86400, true
	case "k", "K", "kB", "KB", "kb", "kB/s", "KB/s":
		return 1e3, true
	case "KiB":
		return 1 << 10, true
	case "M", "MB", "Mb":
		return 1e6, true
	case "MiB":
		return 1 << 20, true
	case "G", "GB", "Gb":
		return 1e9, true
	case "GiB":
		return 1 << 30, true
	case "T", "TB":
		return 1e12, true
	case "TiB":
		return 1 << 40, true
	}
	return 0, false
}
