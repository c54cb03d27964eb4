package cron

import (
	"strings"
	"testing"
	"time"
)

const stamp = "2006-01-02 15:04:05 -0700"

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestNext(t *testing.T) {
	for name, tt := range map[string]struct{ expression, zone, after, want string }{
		"each minute": {"* * * * *", "UTC", "2026-01-01 00:00:00", "2026-01-01 00:01:00 +0000, 2026-01-01 00:02:00 +0000"},
		"not now":     {"0 9 * * *", "UTC", "2026-01-01 09:00:00", "2026-01-02 09:00:00 +0000"},
		"later today": {"30 14 * * *", "UTC", "2026-01-01 09:45:10", "2026-01-01 14:30:00 +0000"},
		"step":        {"*/20 * * * *", "UTC", "2026-01-01 00:50:00", "2026-01-01 01:00:00 +0000, 2026-01-01 01:20:00 +0000"},
		"step from a value": {"5/25 * * * *", "UTC", "2026-01-01 00:00:00",
			"2026-01-01 00:05:00 +0000, 2026-01-01 00:30:00 +0000, 2026-01-01 00:55:00 +0000, 2026-01-01 01:05:00 +0000"},
		"list and range":      {"0 8-9,17 * * *", "UTC", "2026-01-01 08:30:00", "2026-01-01 09:00:00 +0000, 2026-01-01 17:00:00 +0000, 2026-01-02 08:00:00 +0000"},
		"working days":        {"0 9 * * MON-FRI", "UTC", "2026-01-02 10:00:00", "2026-01-05 09:00:00 +0000"},
		"sunday is 7":         {"0 9 * * 7", "UTC", "2026-01-02 10:00:00", "2026-01-04 09:00:00 +0000"},
		"sunday is 0":         {"0 9 * * 0", "UTC", "2026-01-02 10:00:00", "2026-01-04 09:00:00 +0000"},
		"saturday to sunday":  {"0 9 * * 6-7", "UTC", "2026-01-04 10:00:00", "2026-01-10 09:00:00 +0000"},
		"either day":          {"0 0 13 * 5", "UTC", "2026-01-01 00:00:00", "2026-01-02 00:00:00 +0000, 2026-01-09 00:00:00 +0000, 2026-01-13 00:00:00 +0000"},
		"both days by a star": {"0 0 */2 * 1", "UTC", "2026-01-01 00:00:00", "2026-01-05 00:00:00 +0000, 2026-01-19 00:00:00 +0000"},
		"month":               {"0 0 1 mar *", "UTC", "2026-03-01 00:00:00", "2027-03-01 00:00:00 +0000"},
		"month of 31 days":    {"0 0 31 * *", "UTC", "2026-01-31 00:00:00", "2026-03-31 00:00:00 +0000, 2026-05-31 00:00:00 +0000"},
		"leap day":            {"0 0 29 2 *", "UTC", "2026-01-01 00:00:00", "2028-02-29 00:00:00 +0000"},
		"leap day over 2100":  {"0 0 29 2 *", "UTC", "2096-03-01 00:00:00", "2104-02-29 00:00:00 +0000"},
		"never":               {"0 0 31 2 *", "UTC", "2026-01-01 00:00:00", "never"},
		"seconds":             {"15,45 30 9 * * *", "UTC", "2026-01-01 09:30:20", "2026-01-01 09:30:45 +0000, 2026-01-02 09:30:15 +0000"},
		"name":                {"@weekly", "UTC", "2026-01-01 00:00:00", "2026-01-04 00:00:00 +0000"},
		"end of the year":     {"59 23 31 12 ?", "UTC", "2026-12-31 23:59:00", "2027-12-31 23:59:00 +0000"},
		"half an hour's zone": {"0 9 * * *", "Asia/Kolkata", "2026-01-01 09:00:00", "2026-01-02 09:00:00 +0530"},
		"gap, fixed hour":     {"30 2 * * *", "America/New_York", "2026-03-07 12:00:00", "2026-03-08 03:00:00 -0400, 2026-03-09 02:30:00 -0400"},
		"gap, once":           {"*/10 2 * * *", "America/New_York", "2026-03-08 01:00:00", "2026-03-08 03:00:00 -0400, 2026-03-09 02:00:00 -0400"},
		"gap, its end is due": {"0 2,3 * * *", "America/New_York", "2026-03-08 01:00:00", "2026-03-08 03:00:00 -0400, 2026-03-09 02:00:00 -0400"},
		"gap, other day":      {"30 2 9 3 *", "America/New_York", "2026-03-07 12:00:00", "2026-03-09 02:30:00 -0400"},
		"gap, each hour":      {"30 * * * *", "America/New_York", "2026-03-08 01:00:00", "2026-03-08 01:30:00 -0500, 2026-03-08 03:30:00 -0400"},
		"gap at midnight":     {"0 0 * * *", "America/Havana", "2026-03-07 12:00:00", "2026-03-08 01:00:00 -0400, 2026-03-09 00:00:00 -0400"},
		"fold, fixed hour":    {"30 1 * * *", "America/New_York", "2026-10-31 12:00:00", "2026-11-01 01:30:00 -0400, 2026-11-02 01:30:00 -0500"},
		"fold, each hour": {"30 * * * *", "America/New_York", "2026-11-01 00:45:00",
			"2026-11-01 01:30:00 -0400, 2026-11-01 01:30:00 -0500, 2026-11-01 02:30:00 -0500"},
		"fold, each ten": {"*/30 1 * * *", "America/New_York", "2026-11-01 00:45:00",
			"2026-11-01 01:00:00 -0400, 2026-11-01 01:30:00 -0400, 2026-11-02 01:00:00 -0500"},
		"fold, after it":       {"0 2 * * *", "America/New_York", "2026-10-31 12:00:00", "2026-11-01 02:00:00 -0500"},
		"half an hour's shift": {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03 12:00:00", "2026-10-04 02:30:00 +1100, 2026-10-05 02:15:00 +1100"},
		"half an hour's fold":  {"45 1 * * *", "Australia/Lord_Howe", "2026-04-04 12:00:00", "2026-04-05 01:45:00 +1100, 2026-04-06 01:45:00 +1030"},
		"a whole day's gap":    {"0 9 30 12 *", "Pacific/Apia", "2011-12-29 12:00:00", "2011-12-31 00:00:00 +1400, 2012-12-30 09:00:00 +1400"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Parse(tt.expression)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.ParseInLocation(time.DateTime, tt.after, location(t, tt.zone))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for range strings.Count(tt.want, ",") + 1 {
				if at = e.Next(at); at.IsZero() {
					got = append(got, "never")
					break
				}
				got = append(got, at.Format(stamp))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("%s after %s:\n%v, want\n%s", tt.expression, tt.after, got, tt.want)
			}
		})
	}
}

func TestParseFails(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "0 fields",
		"* * * *":           "4 fields",
		"* * * * * * *":     "7 fields",
		"60 * * * *":        `minute "60": want a value from 0 to 59`,
		"* 24 * * *":        `hour "24": want a value from 0 to 23`,
		"* * 0 * *":         `day of the month "0": want a value from 1 to 31`,
		"* * * 13 *":        `month "13": want a value from 1 to 12`,
		"* * * * 8":         `day of the week "8": want a value from 0 to 7`,
		"*/0 * * * *":       "want a step from 1 to 59",
		"*/x * * * *":       "want a step from 1 to 59",
		"5-1 * * * *":       "the range begins after its end",
		"1,,2 * * * *":      `minute "1,,2": want a value`,
		"+5 * * * *":        `minute "+5": want a value`,
		"-5 * * * *":        `minute "-5": want a value`,
		"@fortnightly":      `unknown name "@fortnightly"`,
		"every day at nine": "4 fields",
		"a b c d e":         `minute "a": want a value`,
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %s", text, err, want)
		}
	}
}

// Next must be later than its argument and match, on any clock.
func FuzzNext(f *testing.F) {
	for _, text := range []string{"* * * * *", "30 2 * * *", "*/7 1-3 1,15 * mon", "0 0 29 2 *", "0 0 31 2 *", "1/2 3/4 5 6 7 1"} {
		f.Add(text, int64(1772953200), uint8(1))
	}
	zones := []string{"UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Europe/Dublin", "Asia/Kathmandu"}
	f.Fuzz(func(t *testing.T, text string, unix int64, zone uint8) {
		e, err := Parse(text)
		if err != nil || unix < -1<<33 || unix > 1<<33 {
			return
		}
		after := time.Unix(unix, 0).In(location(t, zones[int(zone)%len(zones)]))
		next := e.Next(after)
		if next.IsZero() {
			return
		}
		if !next.After(after) {
			t.Fatalf("%q after %s: %s", text, after, next)
		}
		began, _ := next.ZoneBounds()
		if !e.step(next).Equal(next) && !next.Equal(began) {
			t.Fatalf("%q after %s: %s does not match", text, after, next)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	e, err := Parse("0 9 29 2 *")
	if err != nil {
		b.Fatal(err)
	}
	after := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b.ReportAllocs()
	for b.Loop() {
		e.Next(after)
	}
}
