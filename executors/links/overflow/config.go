package overflow

// Config is the table [tools.overflow]: how much of an output over the limit is stored, and for how long.
type Config struct {
	// RetentionDays is bounded: far more does not fit a time.Duration.
	RetentionDays int `toml:"retention_days" default:"7" range:"0..36500" zero:"as long as the session" unit:"days" doc:"that the rest is kept"`
	// MaxOverflowBytes are kept from the beginning of the text.
	MaxOverflowBytes int64 `toml:"max_overflow_bytes" default:"10MiB" range:"0.." zero:"no limit" tighten:"limit" unit:"bytes" doc:"kept of one result"`
}

// noteRoom is the room for the last line of a page, in characters.
const noteRoom = 100

// pageChars is how many characters of a text one read_overflow returns.
func (o *Overflow) pageChars() int { return o.MaxChars - noteRoom }

// rowWidth is the number of characters in a row, small enough that a page has several
// rows.
func (o *Overflow) rowWidth() int { return min(maxRow, o.pageChars()/2) }
