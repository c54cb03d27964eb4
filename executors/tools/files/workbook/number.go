package workbook

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// dateKind is how a style shows a number.
type dateKind uint8

const (
	plainNumber dateKind = iota
	date
	clock // a time of day
	dateAndClock
	elapsed // hours that may exceed a day
)

// readStyles finds out which styles show a number as a date.
func (w *Workbook) readStyles() error {
	codes := map[string]string{}
	inCells := false
	return w.walk(w.styles, maxShared, func(e element) error {
		switch e.name {
		case "numFmt":
			if !e.end && len(codes) < 10000 {
				codes[e.attr("numFmtId")] = e.attr("formatCode")
			}
		case "cellXfs":
			inCells = !e.end
		case "xf":
			if inCells && !e.end {
				id := e.attr("numFmtId")
				kind := builtinKind(id)
				if code, ok := codes[id]; ok {
					kind = kindOf(code)
				}
				w.dates = append(w.dates, kind)
			}
		}
		return nil
	})
}

// builtinKind returns the kind of a format that files do not spell out. ECMA-376 part 1, 18.8.30.
func builtinKind(id string) dateKind {
	n, err := strconv.Atoi(id)
	switch {
	case err != nil:
		return plainNumber
	case n >= 14 && n <= 17, n >= 27 && n <= 31, n == 36, n >= 50 && n <= 58:
		return date
	case n >= 18 && n <= 21, n >= 32 && n <= 35, n == 45, n == 47:
		return clock
	case n == 22:
		return dateAndClock
	case n == 46:
		return elapsed
	}
	return plainNumber
}

// kindOf returns the kind of a format code, such as "yyyy-mm-dd" or `0.00 "m"`.
func kindOf(code string) dateKind {
	code, _, _ = strings.Cut(code, ";") // of positive numbers
	var days, hours, span bool
	for i := 0; i < len(code); i++ {
		switch c := code[i] | 0x20; {
		case code[i] == '"':
			end := strings.IndexByte(code[i+1:], '"')
			if end < 0 {
				end = len(code)
			}
			i += end + 1
		case code[i] == '\\', code[i] == '_', code[i] == '*':
			i++
		case code[i] == '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				return plainNumber
			}
			if strings.Trim(strings.ToLower(code[i+1:i+end]), "hms") == "" && end > 1 {
				span = true
			}
			i += end
		case c == 'y', c == 'd':
			days = true
		case c == 'h', c == 's':
			hours = true
		case c == 'm' && !hours && strings.Contains(strings.ToLower(code), "mmm"):
			days = true
		case code[i] == '0', code[i] == '#', code[i] == '?':
			if !hours && !days && !span {
				return plainNumber
			}
		}
	}
	switch {
	case span:
		return elapsed
	case days && hours:
		return dateAndClock
	case days:
		return date
	case hours:
		return clock
	}
	return plainNumber
}

// number returns a number as text: a date in ISO form if its style shows one.
func (w *Workbook) number(value, style string) string {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return value
	}
	kind := plainNumber
	if i, err := strconv.Atoi(style); err == nil && i >= 0 && i < len(w.dates) {
		kind = w.dates[i]
	}
	const last = 2958466 // the day after 9999-12-31
	if kind == plainNumber || f < 0 || f >= last {
		if math.Abs(f) >= 1e15 || f != 0 && math.Abs(f) < 1e-6 {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	seconds := int64(math.Round(f * 86400))
	if kind == elapsed {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	day := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case w.epoch:
		day = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case f < 60: // Excel has a 29th of February 1900
		day = day.AddDate(0, 0, 1)
	}
	at := day.Add(time.Duration(seconds%86400)*time.Second).AddDate(0, 0, int(seconds/86400))
	switch {
	case kind == clock && f < 1:
		return at.Format("15:04:05")
	case kind == date && seconds%86400 == 0:
		return at.Format("2006-01-02")
	}
	return at.Format("2006-01-02 15:04:05")
}

// unescape replaces the escapes of characters that XML cannot have, such as _x000D_.
func unescape(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "_x")
		if i < 0 || i+7 > len(s) {
			b.WriteString(s)
			return b.String()
		}
		n, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
		if err != nil || s[i+6] != '_' {
			b.WriteString(s[:i+2])
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		b.WriteRune(rune(n))
		s = s[i+7:]
	}
}
