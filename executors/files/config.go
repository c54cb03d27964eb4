package files

import "fmt"

// Config bounds what one call of a file tool reads and returns. It is the table
// [tools.file].
type Config struct {
	// MaxReadLines is how many lines one read returns at most. Default 2000; 0
	// is refused.
	MaxReadLines int `toml:"max_read_lines"`
	// MaxReadChars is how many characters one read or grep returns at most.
	// Default 50000; less than 1000 is refused, since the notes need room.
	MaxReadChars int `toml:"max_read_chars"`
	// MaxFileBytes is the size of the largest file that is read into memory,
	// to be edited or searched; read pages through larger ones. Default
	// 10485760 (10 MiB); 0 is refused.
	MaxFileBytes int `toml:"max_file_bytes"`
	// MaxResults is how many paths find_path returns at most. Default 200; 0 is
	// refused.
	MaxResults int `toml:"max_results"`
	// MaxEntries is how many names list_directory returns at most. Default
	// 1000; 0 is refused.
	MaxEntries int `toml:"max_entries"`
	// MaxMatches is how many matching lines grep returns at most. Default 100;
	// 0 is refused.
	MaxMatches int `toml:"max_matches"`
}

// Defaults gives the settings that hold where nothing else is said.
func Defaults() Config {
	return Config{
		MaxReadLines: 2000,
		MaxReadChars: 50_000,
		MaxFileBytes: 10 << 20,
		MaxResults:   200,
		MaxEntries:   1000,
		MaxMatches:   100,
	}
}

// key is one setting with its least value.
type key struct {
	name  string
	least int
	value *int
}

func (c *Config) keys() []key {
	return []key{
		{"max_read_lines", 1, &c.MaxReadLines},
		{"max_read_chars", 1000, &c.MaxReadChars},
		{"max_file_bytes", 1, &c.MaxFileBytes},
		{"max_results", 1, &c.MaxResults},
		{"max_entries", 1, &c.MaxEntries},
		{"max_matches", 1, &c.MaxMatches},
	}
}

// Validate tells for each wrong key what is wrong with it.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for _, k := range c.keys() {
		if *k.value < k.least {
			wrong[k.name] = fmt.Sprintf("must be at least %d, is %d", k.least, *k.value)
		}
	}
	return wrong
}

// Tighten takes over the lower limits of a repository's file. It returns the
// keys that the file set and that were not taken.
func (c Config) Tighten(repo Config, has func(key string) bool) (Config, []string) {
	var ignored []string
	theirs := repo.keys()
	for i, ours := range c.keys() {
		switch v := *theirs[i].value; {
		case !has(ours.name):
		case v >= ours.least && v <= *ours.value:
			*ours.value = v
		default:
			ignored = append(ignored, ours.name)
		}
	}
	return c, ignored
}
