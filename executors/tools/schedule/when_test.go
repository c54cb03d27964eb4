package schedule

import (
	"strings"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 23, 12, 30, 0, 0, berlin) // a Monday
	for text, want := range map[string]string{
		"2026-11-23T14:00:00Z":        "Mon 2026-11-23 15:00:00 +01:00",
		"2026-11-23T14:00:00-05:00":   "Mon 2026-11-23 20:00:00 +01:00",
		"2026-11-24T09:30":            "Tue 2026-11-24 09:30:00 +01:00",
		"2026-11-24 09:30:15":         "Tue 2026-11-24 09:30:15 +01:00",
		"2027-07-01 09:30":            "Thu 2027-07-01 09:30:00 +02:00",
		"2027-03-28 02:30":            "Sun 2027-03-28 03:00:00 +02:00", // no such time
		"2027-10-31 02:30":            "Sun 2027-10-31 02:30:00 +02:00", // the first of two
		"2028-02-29 00:00":            "Tue 2028-02-29 00:00:00 +01:00",
		"+2m":                         "Mon 2026-11-23 12:32:00 +01:00",
		"+1h30m":                      "Mon 2026-11-23 14:00:00 +01:00",
		"+1d":                         "Tue 2026-11-24 12:30:00 +01:00",
		"+90s":                        "Mon 2026-11-23 12:31:30 +01:00",
		"in 5 minutes":                "Mon 2026-11-23 12:35:00 +01:00",
		"In an hour":                  "Mon 2026-11-23 13:30:00 +01:00",
		"in 1 hour and 15 mins":       "Mon 2026-11-23 13:45:00 +01:00",
		"in 2 days":                   "Wed 2026-11-25 12:30:00 +01:00",
		"today 14:00":                 "Mon 2026-11-23 14:00:00 +01:00",
		"tomorrow 09:30":              "Tue 2026-11-24 09:30:00 +01:00",
		"tomorrow at 9am":             "Tue 2026-11-24 09:00:00 +01:00",
		"tomorrow midnight":           "Tue 2026-11-24 00:00:00 +01:00",
		"friday 10:00":                "Fri 2026-11-27 10:00:00 +01:00",
		"Sun at noon":                 "Sun 2026-11-29 12:00:00 +01:00",
		"monday 13:00":                "Mon 2026-11-23 13:00:00 +01:00",
		"monday 12:00":                "Mon 2026-11-30 12:00:00 +01:00",
		"14:00":                       "Mon 2026-11-23 14:00:00 +01:00",
		"at 9:15 pm":                  "Mon 2026-11-23 21:15:00 +01:00",
		"9:00":                        "Tue 2026-11-24 09:00:00 +01:00",
		"today 12:00":                 "is in the past: now it is Mon 2026-11-23 12:30:00 +01:00",
		"2026-11-23 12:30":            "is in the past",
		"2026-02-30 12:30":            "want a time such as",
		"2036-01-01 12:30":            "is more than five years ahead",
		"+999999w999999w999999w":      "is more than five years ahead",
		"+0m":                         "want a time such as",
		"in 5 parsecs":                "want a time such as",
		"in five minutes":             "want a time such as",
		"soon":                        "want a time such as",
		"":                            "want a time such as",
		"tomorrow":                    "want a time such as",
		"tomorrow 25:00":              "want a time such as",
		"someday 10:00":               "want a time such as",
		"2026-11-23T14:00:00Z please": "want a time such as",
	} {
		got, err := parseTime(text, now)
		if text := formatTime(got); err == nil && text != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v, want %s", text, text, err, want)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"2026-11-24T09:30", "+1h30m", "in 5 minutes", "friday 10:00", "at 9 pm"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 23, 12, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := parseTime(text, now); err == nil && (!got.After(now) || got.Sub(now) > maxDistance) {
			t.Errorf("%q: %s", text, got)
		}
	})
}
