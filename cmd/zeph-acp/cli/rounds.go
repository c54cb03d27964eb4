package cli

import "github.com/spf13/pflag"

const (
	// DefaultRounds is the default of --max-rounds, where no one is asked whether to continue.
	DefaultRounds = 100

	maxRounds     = "max-rounds"
	highestRounds = 10_000
)

// AddMaxRounds adds the flag --max-rounds.
func AddMaxRounds(fs *pflag.FlagSet, rounds *int, usage string) {
	fs.IntVar(rounds, maxRounds, DefaultRounds, usage)
}

// GivenRounds reports whether --max-rounds was given. Its error is about the value.
func GivenRounds(fs *pflag.FlagSet) (bool, error) {
	if !fs.Changed(maxRounds) {
		return false, nil
	}
	if n, err := fs.GetInt(maxRounds); err != nil || n < 1 || n > highestRounds {
		return false, Usagef("--%s: want a number from 1 to %d", maxRounds, highestRounds)
	}
	return true, nil
}
