package cli

import (
	"fmt"
	"strconv"
	"time"
)

// ParseAge parses a number of hours, days or weeks, such as 30d. It returns at most 146
// years.
func ParseAge(text string) (time.Duration, error) {
	units := map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	last := max(len(text)-1, 0)
	number, unit := text[:last], text[last:]
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil || units[unit] == 0 {
		return 0, fmt.Errorf("want a number with h, d or w, such as 30d; got %q", text)
	}
	return min(time.Duration(n), time.Duration(1<<62)/units[unit]) * units[unit], nil
}

// SinceFlag is a time as a flag. Its zero value is before all calls.
type SinceFlag struct{ time.Time }

// Set parses an age or a date.
func (s *SinceFlag) Set(text string) error {
	if at, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		s.Time = at
		return nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		s.Time = at
		return nil
	}
	age, err := ParseAge(text)
	if err != nil {
		return fmt.Errorf("want a number with h, d or w, such as 7d, or a date such as 2026-11-20; got %q", text)
	}
	s.Time = time.Now().Add(-age)
	return nil
}

// String returns the time; "" for the zero value.
func (s *SinceFlag) String() string {
	if s.IsZero() {
		return ""
	}
	return s.Format(time.RFC3339)
}

// Type names the value in usage messages.
func (s *SinceFlag) Type() string { return "time" }
