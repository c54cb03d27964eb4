package overflow

import "fmt"

// Config says what is too long, and what is kept of it. It is the table
// [tools.overflow].
type Config struct {
	// Threshold is how many characters of a text the model and the editor get;
	// what is longer is kept, and the line that refers to it comes on top.
	// Default 50000; less than 200 is refused, since the marks need room.
	Threshold int `toml:"threshold"`
	// RetentionDays is how long what is kept is kept, in days. Default 7; 0: as
	// long as its session.
	RetentionDays int `toml:"retention_days"`
	// MaxOverflowBytes is how much of one text is kept; what comes after is
	// gone. Default 10485760 (10 MiB); 0: all of it.
	MaxOverflowBytes int64 `toml:"max_overflow_bytes"`
}

const (
	minThreshold = 200
	maxDays      = 36500 // a hundred years: what is longer does not fit a time.Duration for ever
)

// Defaults gives the settings that hold where nothing else is said.
func Defaults() Config {
	return Config{Threshold: 50_000, RetentionDays: 7, MaxOverflowBytes: 10 << 20}
}

// Validate tells for each wrong key what is wrong with it.
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

// Tighten takes over the lower limits of a repository's file. How long things
// are kept is not for it to say. It returns the keys that the file set and that
// were not taken.
func (c Config) Tighten(repo Config, has func(key string) bool) (Config, []string) {
	var ignored []string
	switch v := repo.Threshold; {
	case !has("threshold"):
	case v >= minThreshold && v <= c.Threshold:
		c.Threshold = v
	default:
		ignored = append(ignored, "threshold")
	}
	if has("retention_days") {
		ignored = append(ignored, "retention_days")
	}
	switch v := repo.MaxOverflowBytes; {
	case !has("max_overflow_bytes"), v == c.MaxOverflowBytes:
	case v > 0 && (c.MaxOverflowBytes == 0 || v < c.MaxOverflowBytes):
		c.MaxOverflowBytes = v
	default:
		ignored = append(ignored, "max_overflow_bytes")
	}
	return c, ignored
}

// noteRoom is what the last line of a page may take, in characters.
const noteRoom = 100

// room is how many characters of a text one read_overflow gives.
func (c Config) room() int { return c.Threshold - noteRoom }

// width is how many characters a row has: so few that a page has some.
func (c Config) width() int { return min(maxRow, c.room()/2) }
