package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
)

// FlagError returns the error about a flag that cannot be used, with a hint.
func FlagError(cmd *cobra.Command, err error) error {
	text, number, ok := strings.Cut(err.Error(), ": strconv.") // Go's words, not the user's
	switch {
	case ok && strings.HasPrefix(number, "ParseBool"):
		text += ": want true or false"
	case ok:
		text += ": want a whole number"
	}
	if before, _, ok := strings.Cut(text, ": time: "); ok {
		text = before + ": want a duration such as 90s or 10m"
	}
	if name, unknown := strings.CutPrefix(text, "unknown flag: --"); unknown {
		if ours, ok := habits[name]; ok {
			return Usagef("%s: did you mean %q?", text, withFlag(cmd, ours))
		}
		if near := nearFlag(cmd, name); near != "" {
			return Usagef("%s: did you mean --%s?", text, near)
		}
		if with := commandsWith(cmd, func(f *pflag.FlagSet) bool { return f.Lookup(name) != nil }); with != "" {
			return Usagef("%s: write it after %s", text, with)
		}
	}
	if name, unknown := strings.CutPrefix(text, "unknown shorthand flag: '"); unknown && !cmd.HasParent() {
		if with := commandsWith(cmd, func(f *pflag.FlagSet) bool { return f.ShorthandLookup(name[:1]) != nil }); with != "" {
			return Usagef("%s: write it after %s", text, with)
		}
	}
	return Usagef("%s: try %q", text, cmd.CommandPath()+" --help")
}

// commandsWith names those of the commands chat and run, if they are below a command, that have a flag.
func commandsWith(cmd *cobra.Command, has func(*pflag.FlagSet) bool) string {
	var all []string
	for _, name := range []string{"chat", "run"} {
		if c, _, err := cmd.Find([]string{name}); err == nil && c != cmd && has(c.Flags()) {
			all = append(all, strconv.Quote(c.CommandPath()))
		}
	}
	return strings.Join(all, " or ")
}

// FlagErrorBeforeCommand is FlagError for a command that has another command line as its
// arguments, whose options come after "--".
func FlagErrorBeforeCommand(cmd *cobra.Command, err error) error {
	wrong := FlagError(cmd, err)
	if text, ok := strings.CutSuffix(wrong.Error(), fmt.Sprintf(": try %q", cmd.CommandPath()+" --help")); ok {
		return Usagef(`%s: write "--" before a command with options`, text)
	}
	return wrong
}

// NoEmptyFlag rejects empty values of flags that need one. A script passes them if its
// variable is unset.
func NoEmptyFlag(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if wanted := wantedBy(f.Name); err == nil && wanted != "" && slices.Contains(values, "") {
			err = Usagef("--%s: want %s", f.Name, wanted)
		}
	})
	return err
}

// wantedBy returns the value that a flag must have; "" means any.
func wantedBy(flag string) string {
	switch flag {
	case "add-dir", "cwd":
		return "a directory"
	case "mode":
		return "a session mode"
	case "name":
		return "a name"
	case "model":
		return "PROVIDER:MODEL"
	case "resume":
		return "the id of a session"
	}
	return ""
}

// nearFlag returns the flag of a command, or of the commands above it, whose name
// resembles a mistyped one; "" if no flag does.
func nearFlag(cmd *cobra.Command, name string) string {
	names := []string{"help"}
	collect := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	cmd.Flags().VisitAll(collect)
	cmd.InheritedFlags().VisitAll(collect)
	return nearest(name, names)
}

// nearest returns the name that a mistyped one most resembles; "" if no name does. Of two the
// one of the same length wins: swapped letters are more common than missing ones.
func nearest(typed string, names []string) string {
	off := func(name string) int { return max(len(name)-len(typed), len(typed)-len(name)) }
	byOff := slices.Clone(names)
	slices.SortStableFunc(byOff, func(a, b string) int { return cmp.Compare(off(a), off(b)) })
	return toml.Nearest(typed, byOff)
}
