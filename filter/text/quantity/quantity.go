// Package quantity writes numbers with their noun, for messages to people and models:
// "1 line", "3 lines". It imports nothing, so that every package may use it.
package quantity

import (
	"fmt"
	"strconv"
	"strings"
)

// Count returns a number with a noun in the singular or the plural, such as "1 line",
// "3 lines", "2 entries" or "4 more matches".
func Count[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, noun string) string {
	return fmt.Sprintf("%d %s", n, Noun(n, noun))
}

// Noun returns the noun alone, in the form that the number needs.
func Noun[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, noun string) string {
	if n == 1 {
		return noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.HasSuffix(stem, "a") && !strings.HasSuffix(stem, "e") {
		return stem + "ies"
	}
	for _, end := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, end) {
			return noun + "es"
		}
	}
	return noun + "s"
}

// Least is a number of a user or model, and the least that is valid.
type Least struct {
	Name         string
	Value, Least int
}

// Check returns an error that names the first number that is too low, or nil.
func Check(numbers ...Least) error {
	for _, n := range numbers {
		if n.Value < n.Least {
			return fmt.Errorf("%s must be at least %d, got %d", n.Name, n.Least, n.Value)
		}
	}
	return nil
}

// CountGrouped returns "1 line" or "1,234 lines".
func CountGrouped[N int | int64](n N, noun string) string {
	return Grouped(int64(n)) + " " + Noun(n, noun)
}

// Grouped writes 1234567 as 1,234,567.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Bytes formats a number of bytes for people: "512 B", "1.2 kB", "34 MB".
func Bytes(n int64) string {
	f, unit := float64(n), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1000, next
	}
	if f >= 10 || unit == "B" {
		return strconv.FormatFloat(f, 'f', 0, 64) + " " + unit
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " " + unit
}
