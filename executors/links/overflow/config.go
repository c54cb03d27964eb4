package overflow

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.overflow]: which texts are too long, and how much of
// them is kept.
type Config struct {
	// Threshold is how many characters of a text the model and the editor get. A
	// longer text is kept, and a line that refers to it is added to these.
	// Default 50000; less than 200 is refused, since the marks need room.
	Threshold int `toml:"threshold"`
	// RetentionDays is how long texts are kept, in days. Default 7; 0: as long as
	// their session.
	RetentionDays int `toml:"retention_days"`
	// MaxOverflowBytes is how much of one text is kept, from its beginning; the
	// rest is dropped. Default 10485760 (10 MiB); 0: all of it.
	MaxOverflowBytes int64 `toml:"max_overflow_bytes"`
}

const (
	minThreshold = 200
	maxDays      = 36500 // a hundred years: far more does not fit a time.Duration
)

// Defaults returns the default settings.
func Defaults() Config {
	return Config{Threshold: 50_000, RetentionDays: 7, MaxOverflowBytes: 10 << 20}
}

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.Threshold < minThreshold {
		wrong["threshold"] = fmt.Sprintf("must be at least %d, is %d", minThreshold, c.Threshold)
	}
	if c.RetentionDays < 0 || c.RetentionDays > maxDays {
		wrong["retention_days"] = fmt.Sprintf("must be from 0 to %d, is %d", maxDays, c.RetentionDays)
	}
	if c.MaxOverflowBytes < 0 {
		wrong["max_overflow_bytes"] = fmt.Sprintf("must be at least 0, is %d", c.MaxOverflowBytes)
	}
	return wrong
}

// Tighten adopts the lower limits of a repository's file, but not the retention.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	v := repo.Threshold
	keys.Adopt("threshold", v >= minThreshold && v <= c.Threshold, func() { c.Threshold = v })
	tighten.LowerOptional(keys, "max_overflow_bytes", &c.MaxOverflowBytes, repo.MaxOverflowBytes)
	return c
}

// noteRoom is the room for the last line of a page, in characters.
const noteRoom = 100

// pageChars is how many characters of a text one read_overflow returns.
func (c Config) pageChars() int { return c.Threshold - noteRoom }

// rowWidth is the number of characters in a row, small enough that a page has several
// rows.
func (c Config) rowWidth() int { return min(maxRow, c.pageChars()/2) }
