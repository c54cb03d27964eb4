package cron

import "time"

// horizon is how many years a search covers: 29 February can be eight years away.
const horizon = 9

// Next returns the first time after t at which the expression is due, on the clock of t's
// location, in whole seconds. It returns the zero time if that never comes.
func (e Expression) Next(t time.Time) time.Time {
	loc := t.Location()
	end := t.AddDate(horizon, 0, 0)
	for t = t.Truncate(time.Second).Add(time.Second); t.Before(end); {
		began, until := t.ZoneBounds()
		gap := shift(began)
		if gap > 0 && t.Equal(began) && !e.hourly && e.skipped(t, gap) {
			return t
		}
		if gap < 0 && !e.hourly && t.Before(began.Add(-gap)) { // the clock shows these times again
			t = began.Add(-gap)
			continue
		}
		next := e.step(t)
		if next.Equal(t) {
			return t.In(loc)
		}
		// The clock changes first, so the times after the change were computed with a
		// wrong offset.
		if !until.IsZero() && next.After(until) {
			next = until
		}
		t = next
	}
	return time.Time{}
}

// shift returns how far the clock is set forward at the time when a zone begins; it is
// negative if the clock is set back.
func shift(began time.Time) time.Duration {
	if began.IsZero() {
		return 0
	}
	_, now := began.Zone()
	_, before := began.Add(-time.Second).Zone()
	return time.Duration(now-before) * time.Second
}

// skipped reports whether the clock, which was just set forward to t, left out a time at
// which the expression is due.
func (e Expression) skipped(t time.Time, gap time.Duration) bool {
	_, offset := t.Zone()
	shown := t.Add(time.Duration(offset) * time.Second).UTC() // the time on the clock, where no clock changes
	next := e.Next(shown.Add(-gap - time.Second))
	return !next.IsZero() && next.Before(shown)
}

// step returns t if the expression matches it, else a later time before which the
// expression does not match, unless the clock changes.
func (e Expression) step(t time.Time) time.Time {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	toMidnight := time.Duration(24*3600-hour*3600-minute*60-second) * time.Second
	switch {
	case !contains(e.month, int(month)):
		// The days up to the last one, which may be longer or shorter than 24 hours.
		left := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day() - day
		return t.Add(toMidnight + time.Duration(left)*24*time.Hour)
	case !e.matchesDay(day, int(t.Weekday())):
		return t.Add(toMidnight)
	}
	h, ok := nextMember(e.hour, hour)
	if !ok {
		return t.Add(toMidnight)
	}
	if h > hour {
		return t.Add(time.Duration((h-hour)*3600-minute*60-second) * time.Second)
	}
	m, ok := nextMember(e.minute, minute)
	if !ok {
		return t.Add(time.Duration(3600-minute*60-second) * time.Second)
	}
	if m > minute {
		return t.Add(time.Duration((m-minute)*60-second) * time.Second)
	}
	s, ok := nextMember(e.second, second)
	if !ok {
		return t.Add(time.Duration(60-second) * time.Second)
	}
	return t.Add(time.Duration(s-second) * time.Second)
}
