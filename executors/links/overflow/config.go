package overflow

// Config is the table [tools.overflow]: which texts are too long, and how much of
// them is kept.
type Config struct {
	// Threshold leaves room for the marks. A longer text is kept, and a line refers to it.
	Threshold int `toml:"threshold" default:"50000" range:"200.." tighten:"lower" unit:"characters" doc:"of a result for model and editor; read_overflow returns the rest"`
	// RetentionDays is bounded: far more does not fit a time.Duration.
	RetentionDays int `toml:"retention_days" default:"7" range:"0..36500" zero:"as long as the session" unit:"days" doc:"that the rest is kept"`
	// MaxOverflowBytes are kept from the beginning of the text.
	MaxOverflowBytes int64 `toml:"max_overflow_bytes" default:"10MiB" range:"0.." zero:"no limit" tighten:"limit" unit:"bytes" doc:"kept of one result"`
}

// minThreshold is the least Threshold.
const minThreshold = 200

// noteRoom is the room for the last line of a page, in characters.
const noteRoom = 100

// pageChars is how many characters of a text one read_overflow returns.
func (c Config) pageChars() int { return c.Threshold - noteRoom }

// rowWidth is the number of characters in a row, small enough that a page has several
// rows.
func (c Config) rowWidth() int { return min(maxRow, c.pageChars()/2) }
