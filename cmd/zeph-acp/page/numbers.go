package page

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Count formats a number; "" for 0.
func Count(n int) string {
	if n == 0 {
		return ""
	}
	return quantity.Grouped(int64(n))
}

// Tokens formats a number of tokens: "84,120", "1.3M"; "" for 0.
func Tokens(n int) string {
	if n < 1_000_000 {
		return Count(n)
	}
	return Short(float64(n))
}

// Short formats a number with three digits: "950", "1.2k", "84k", "1.3M".
func Short(f float64) string {
	unit := ""
	for _, next := range []string{"k", "M", "G"} {
		if f < 1000 {
			break
		}
		f, unit = f/1000, next
	}
	if unit != "" && f < 10 {
		return strconv.FormatFloat(f, 'f', 1, 64) + unit
	}
	return strconv.FormatFloat(f, 'f', 0, 64) + unit
}

// worthSaying is the number of bytes from which on a page mentions that they were saved.
const worthSaying = 1000

// Saved formats a number of bytes that were saved; "" for a few.
func Saved(n int64) string {
	if n < worthSaying {
		return ""
	}
	return quantity.Bytes(n)
}

// Money formats a cost; small amounts get more digits.
func Money(amount float64, currency string) string {
	digits := 2
	if amount != 0 && math.Abs(amount) < 0.1 {
		digits = 4
	}
	text := strconv.FormatFloat(amount, 'f', digits, 64)
	switch currency {
	case "USD":
		return "$" + text
	case "EUR":
		return "€" + text
	}
	return text + " " + currency
}

// Took formats a duration: "80 ms", "4.2 s", "3 min 5 s", "2 h 10 min".
func Took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}
