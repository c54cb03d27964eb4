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
	commandKeys = []string{"command", "cmd", "script", "shell", "commandline", "line", "exec", "execute", "run", "program", "executable", "bash", "sh", "code", "input", "commands"}
	// argsKeys are names of parameters with the arguments of such a program, or all of its words.
	argsKeys = []string{"args", "argv", "arguments", "parameters", "params", "argumentlist", "arglist"}
	dirKeys  = []string{"cwd", "dir", "directory", "workdir", "workingdirectory", "path", "root"}
)

// Commands returns the commands that an input may ask for: scripts, lists of words, and programs
// with their arguments.
func Commands(input json.RawMessage) []Command {
	var out []Command
	collect(string(input), 0, &out)
	return out
}

func collect(text string, depth int, out *[]Command) {
	var v any
	if depth > maxNested || json.NewDecoder(strings.NewReader(text)).Decode(&v) != nil {
		return
	}
	visit(v, depth, out)
}

func visit(v any, depth int, out *[]Command) {
	if len(*out) > 256 {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			visit(e, depth, out)
		}
	case string:
		if t := strings.TrimSpace(v); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			collect(t, depth+1, out)
		}
	case map[string]any:
		object(v, out)
		for _, e := range v {
			visit(e, depth, out)
		}
	}
}

// object adds the commands of one object.
func object(v map[string]any, out *[]Command) {
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
	add := func(text string) { *out = append(*out, Command{Text: text, Dir: dir}) }
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
