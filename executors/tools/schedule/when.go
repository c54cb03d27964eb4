package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/tools/schedule/cron"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// timeHelp is a way to write a time, for messages.
const timeHelp = `want a time such as "2026-11-23 14:00", "today 14:00", "tomorrow 9:30", "friday 10:00", "+1h30m" or "in 5 minutes"`

// stampLayouts are the forms of a date with a time, without an offset.
var stampLayouts = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"}

// clockLayouts are the forms of a time of day.
var clockLayouts = []string{"15:04", "15:04:05", "3:04pm", "3pm", "3:04 pm", "3 pm"}

// maxDistance is how far ahead a task may be.
const maxDistance = 5 * 366 * 24 * time.Hour

// parseTime parses the time of a task: a date, a time of day, or a distance from now. Times
// without an offset are on the clock of now's location.
func parseTime(text string, now time.Time) (time.Time, error) {
	t, ok := parseAnyTime(line.Join(text), now)
	switch {
	case !ok:
		return t, fmt.Errorf("run_at %q: %s", text, timeHelp)
	case !t.After(now):
		return t, fmt.Errorf("run_at %q is in the past: now it is %s", text, formatTime(now))
	case t.Sub(now) > maxDistance:
		return t, fmt.Errorf("run_at %q is more than five years ahead: now it is %s", text, formatTime(now))
	}
	return t, nil
}

func parseAnyTime(text string, now time.Time) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(text)); err == nil {
		return t.In(now.Location()), true
	}
	for _, layout := range stampLayouts {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return onClock(t, now.Location()), true
		}
	}
	lower := strings.ToLower(text)
	if d, ok := parseDistance(lower); ok {
		return now.Add(d), true
	}
	return onDay(lower, now)
}

// onClock returns the time at which the clock of a location shows the date and time of t:
// the first of two, and the end of a gap.
func onClock(t time.Time, loc *time.Location) time.Time {
	e, err := cron.Parse(fmt.Sprintf("%d %d %d %d %d *", t.Second(), t.Minute(), t.Hour(), t.Day(), t.Month()))
	if err != nil { // t has valid fields
		panic(err)
	}
	return e.Next(time.Date(t.Year(), t.Month(), t.Day()-2, 12, 0, 0, 0, loc))
}

// onDay parses a time of day, with a day before it or without.
func onDay(text string, now time.Time) (time.Time, bool) {
	day, clock, ok := strings.Cut(text, " ")
	ahead, known := 0, ok
	switch {
	case day == "today":
	case day == "tomorrow":
		ahead = 1
	default:
		ahead, known = untilWeekday(day, now.Weekday())
	}
	if !known {
		clock = text
	}
	at, ok := timeOfDay(strings.TrimPrefix(clock, "at "))
	if !ok {
		return time.Time{}, false
	}
	on := func(days int) time.Time {
		y, m, d := now.Date()
		return onClock(time.Date(y, m, d+days, at.Hour(), at.Minute(), at.Second(), 0, time.UTC), now.Location())
	}
	t := on(ahead)
	switch {
	case t.After(now) || day == "today":
	case !known: // a time of day alone: its next one
		t = on(1)
	case ahead == 0: // the weekday of today
		t = on(7)
	}
	return t, true
}

// untilWeekday returns the number of days until a weekday, from 0.
func untilWeekday(name string, today time.Weekday) (days int, ok bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		full := strings.ToLower(d.String())
		if name == full || name == full[:3] {
			return int(d-today+7) % 7, true
		}
	}
	return 0, false
}

func timeOfDay(text string) (time.Time, bool) {
	switch text {
	case "noon":
		text = "12:00"
	case "midnight":
		text = "0:00"
	}
	for _, layout := range clockLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// units are the lengths of the units of a distance.
var units = map[string]time.Duration{
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// amountPattern matches a number with its unit.
var amountPattern = lazyregexp.New(`^(\d{1,6}|an?) ?([a-z]+)(?:,? (?:and )?)?`)

// parseDistance parses "+1h30m" and "in 1 hour and 30 minutes".
func parseDistance(text string) (time.Duration, bool) {
	rest, ok := strings.CutPrefix(text, "+")
	if !ok {
		if rest, ok = strings.CutPrefix(text, "in "); !ok {
			return 0, false
		}
	}
	var total time.Duration
	for rest != "" {
		m := amountPattern.FindStringSubmatch(rest)
		if m == nil {
			return 0, false
		}
		unit, ok := units[m[2]]
		if !ok {
			unit, ok = units[strings.TrimSuffix(m[2], "s")]
		}
		if !ok {
			return 0, false
		}
		n, err := strconv.Atoi(m[1])
		if err != nil { // "a" or "an"
			n = 1
		}
		if total += time.Duration(n) * unit; total > 2*maxDistance {
			total = 2 * maxDistance // rather than an overflow
		}
		rest = rest[len(m[0]):]
	}
	return total, total > 0
}

// formatTime returns a time for people and models.
func formatTime(t time.Time) string { return t.Format("Mon 2006-01-02 15:04:05 -07:00") }
