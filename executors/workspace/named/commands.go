package named

import (
	"encoding/json"
	"slices"
	"strings"
)

// Command is a command that an input may ask for.
type Command struct {
	Text string // for a shell
	Dir  string // as in the input; empty means none
}

var (
	// commandKeys are names of parameters whose value is a script, a program, or the words of a
	// command.
	commandKeys = []string{"command", "cmd", "script", "shell", "commandline", "line", "exec", "execute", "run", "program", "executable", "bash", "sh", "code", "input", "commands", "exe", "bin", "binary", "argv0", "keys", "chars", "stdin"}
	// argsKeys are names of parameters with the arguments of such a program, or all of its words.
	argsKeys = []string{"args", "argv", "arguments", "parameters", "params", "argumentlist", "arglist", "arg", "subcommand"}
	dirKeys  = []string{"cwd", "dir", "directory", "workdir", "workingdirectory", "path", "root"}
)

// Limits on the commands of one input. The longer ones are incomplete.
const (
	maxCommands = 1024
	maxCommand  = 64 << 10 // bytes; a shell's parser takes no more
)

// Commands returns the commands that an input may ask for: scripts, lists of words, and programs
// with their arguments. It reports whether these are all.
func Commands(input json.RawMessage) (out []Command, complete bool) {
	c := commands{complete: true}
	c.text(string(input), 0)
	return c.found, c.complete
}

type commands struct {
	found    []Command
	complete bool
}

func (c *commands) text(text string, depth int) {
	var v any
	if json.NewDecoder(strings.NewReader(text)).Decode(&v) != nil {
		return
	}
	if depth > maxNested {
		c.complete = false
		return
	}
	c.visit(v, depth)
}

func (c *commands) visit(v any, depth int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			c.visit(e, depth)
		}
	case string:
		if t := strings.TrimSpace(v); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			c.text(t, depth+1)
		}
	case map[string]any:
		c.object(v)
		for _, e := range v {
			c.visit(e, depth)
		}
	}
}

// object adds the commands of one object.
func (c *commands) object(v map[string]any) {
	var programs, args []string // as texts for a shell
	dir := ""
	for key, e := range v {
		name := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
		switch {
		case slices.Contains(commandKeys, name):
			programs = append(programs, scripts(e)...)
		case slices.Contains(argsKeys, name):
			args = append(args, scripts(e)...)
		case slices.Contains(dirKeys, name):
			if text, ok := e.(string); ok {
				dir = text
			}
		}
	}
	add := func(text string) {
		if len(text) > maxCommand || len(c.found) == maxCommands {
			c.complete = false
			return
		}
		c.found = append(c.found, Command{Text: text, Dir: dir})
	}
	for _, p := range programs {
		add(p)
		for _, a := range args {
			add(p + " " + a)
		}
	}
	for _, a := range args {
		add(a)
	}
}

// scripts returns the texts for a shell that a value may stand for: a string, the words of one
// command, or a list of commands.
func scripts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var words, lines []string
		for _, e := range v {
			text, ok := e.(string)
			if !ok {
				lines = append(lines, scripts(e)...)
				continue
			}
			words = append(words, "'"+strings.ReplaceAll(text, "'", `'\''`)+"'")
			if strings.ContainsAny(text, " \n") {
				lines = append(lines, text)
			}
		}
		if len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
		return lines
	case map[string]any:
		var all []string
		for _, e := range v {
			all = append(all, scripts(e)...)
		}
		return all
	}
	return nil
}
