// Package cron parses cron expressions and returns the times at which they are due.
//
// Start with [Parse], then [Expression.Next]. An expression has five fields: minute, hour, day of
// the month, month and day of the week. With six fields, the first is the second. A name such as
// @daily is an expression too. A day matches if either of its two fields does, unless one of them
// begins with a star: the usual rule of cron(8).
//
// Why does an expression with a fixed hour differ from one with a star when the clock
// changes? "Daily at 02:30" means once each day. If the clock skips 02:30, the time is due
// at the end of the gap; if the clock shows 02:30 twice, it is due the first time.
// "Every hour at 30" counts hours that pass, so it is due in each of them.
package cron

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Expression is a parsed expression.
type Expression struct {
	second, minute, hour, day, month, weekday uint64 // bit n: the field matches n

	anyDay, anyWeekday bool // the field begins with a star
	hourly             bool // the field of the hour begins with a star
}

// field is one field of an expression.
type field struct {
	name      string
	low, high int
	names     []string // of the values from low on
}

// fields are the fields in the order in which an expression has them.
var fields = [...]field{
	{name: "second", high: 59},
	{name: "minute", high: 59},
	{name: "hour", high: 23},
	{name: "day of the month", low: 1, high: 31},
	{name: "month", low: 1, high: 12, names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{name: "day of the week", high: 7, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// namedExpressions are the expressions that have a name.
var namedExpressions = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// Parse parses an expression. Its errors name the field. It accepts dates that never come,
// such as 31 February.
func Parse(text string) (Expression, error) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 1 && strings.HasPrefix(words[0], "@") {
		known, ok := namedExpressions[words[0]]
		if !ok {
			return Expression{}, fmt.Errorf("unknown name %q: want five fields, or @hourly, @daily, @weekly, @monthly or @yearly", words[0])
		}
		words = strings.Fields(known)
	}
	switch len(words) {
	case 5:
		words = append([]string{"0"}, words...)
	case 6:
	default:
		return Expression{}, fmt.Errorf("%s: want minute, hour, day of the month, month and day of the week, such as %q", quantity.Count(len(words), "field"), "30 9 * * mon-fri")
	}
	var sets [len(fields)]uint64
	for i, f := range fields {
		set, err := f.parse(words[i])
		if err != nil {
			return Expression{}, fmt.Errorf("%s %q: %w", f.name, words[i], err)
		}
		sets[i] = set
	}
	e := Expression{
		second: sets[0], minute: sets[1], hour: sets[2], day: sets[3], month: sets[4], weekday: sets[5]&0x7f | sets[5]>>7&1,
		hourly: starred(words[2]), anyDay: starred(words[3]), anyWeekday: starred(words[5]),
	}
	return e, nil
}

func starred(word string) bool { return word[0] == '*' || word == "?" }

// parse returns the set of the values that match.
func (f field) parse(word string) (set uint64, err error) {
	for part := range strings.SplitSeq(word, ",") {
		values, err := f.part(part)
		if err != nil {
			return 0, err
		}
		set |= values
	}
	return set, nil
}

// part parses a value, a range or a star, each with an optional step.
func (f field) part(text string) (set uint64, err error) {
	span, step, stepped := strings.Cut(text, "/")
	by := 1
	if stepped {
		if by, err = strconv.Atoi(step); err != nil || by < 1 || by > f.high {
			return 0, fmt.Errorf("want a step from 1 to %d after the slash", f.high)
		}
	}
	first, last, ranged := strings.Cut(span, "-")
	low, high := f.low, f.high
	if span != "*" && span != "?" {
		if low, err = f.value(first); err != nil {
			return 0, err
		}
		switch {
		case ranged:
			if high, err = f.value(last); err != nil {
				return 0, err
			}
		case !stepped: // "5/15" means from 5 on
			high = low
		}
	}
	if low > high {
		return 0, fmt.Errorf("the range begins after its end")
	}
	for n := low; n <= high; n += by {
		set |= 1 << n
	}
	return set, nil
}

// value parses a number or a name.
func (f field) value(text string) (int, error) {
	for i, name := range f.names {
		if text == name {
			return f.low + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.low || n > f.high || text[0] == '+' {
		return 0, fmt.Errorf("want a value from %d to %d", f.low, f.high)
	}
	return n, nil
}

// matchesDay reports whether a day matches.
func (e *Expression) matchesDay(day, weekday int) bool {
	byDay, byWeekday := contains(e.day, day), contains(e.weekday, weekday)
	if e.anyDay || e.anyWeekday {
		return byDay && byWeekday
	}
	return byDay || byWeekday
}

func contains(set uint64, n int) bool { return set>>n&1 == 1 }

// nextMember returns the least member of a set that is at least n; ok is false if there is none.
func nextMember(set uint64, n int) (least int, ok bool) {
	rest := set >> n << n
	return bits.TrailingZeros64(rest), rest != 0
}
