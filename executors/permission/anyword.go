package permission

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
)

// checkAnyWord blocks a script that may run a blocked program in a way that the parser does not see. In a
// script outside of the grammar of [command.Script.Clear], the name of such a program as a word anywhere is
// enough: the shell may read its quotes, here documents, aliases and patterns differently.
func (g guardCheck) checkAnyWord(script *command.Script) (blocked *executors.Failure) {
	if script.Clear() {
		return nil
	}
	name, key := g.blockedWord(script.Text)
	if name == "" {
		return nil
	}
	f := executors.Failuref(executors.PolicyBlocked, "the script contains the name of the blocked program %s, and what it runs is not certain", quote(name))
	or := ""
	if key != "" {
		or = " (the user can allow the program: " + key + ")"
		f = f.ForUser("The script contains the name of the blocked program %s, and what it runs is not certain. The key %s can allow the program.", quote(name), key)
	}
	return f.Hint("Write it as plain commands: without substitutions, functions and background jobs. Write long texts with the tool write%s.", or)
}

// blockedWord returns the first blocked program whose name is a word of a script, and the key that
// can allow it.
func (g guardCheck) blockedWord(script string) (name, key string) {
	readings, patterns := command.SpelledWords(script), command.SpelledPatterns(script)
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" { // where SUDO is sudo
		for _, words := range readings {
			for i, w := range words {
				words[i] = strings.ToLower(w)
			}
		}
	}
	names := func(entry string) bool {
		want := strings.Fields(strings.ToLower(entry))
		return len(want) > 0 && (slices.ContainsFunc(readings, func(words []string) bool { return containsWords(words, want) }) ||
			len(want) == 1 && slices.ContainsFunc(patterns, func(p string) bool { return mayMean(p, want[0]) }))
	}
	configured := g.shell.BlockedCommands
	if !g.shell.AllowNetwork {
		configured = slices.Concat(configured, downloaders)
	}
	if i := slices.IndexFunc(configured, names); i >= 0 {
		return configured[i], ""
	}
	for _, entry := range append(slices.Clone(builtinBlocked), "mkfs") {
		isEntry := func(allowed string) bool { return strings.EqualFold(strings.TrimSpace(allowed), entry) }
		if names(entry) && !slices.ContainsFunc(g.shell.AllowedCommands, isEntry) {
			return entry, "tools.shell.allowed_commands"
		}
	}
	return "", ""
}

// containsWords reports whether words contains want as consecutive words, apart from options
// between them.
func containsWords(words, want []string) bool {
	for i, w := range words {
		if name, _, _ := strings.Cut(w, "."); w != want[0] && name != want[0] { // mkfs.ext4, nc.openbsd
			continue
		}
		rest := want[1:]
		for _, next := range words[i+1:] {
			if len(rest) == 0 || next != rest[0] && !strings.HasPrefix(next, "-") {
				break
			}
			if next == rest[0] {
				rest = rest[1:]
			}
		}
		if len(rest) == 0 {
			return true
		}
	}
	return false
}

// mayMean reports whether a pattern of file names, such as "su?o", is likely to stand for a program.
func mayMean(pattern, program string) bool {
	literal := strings.NewReplacer("*", "", "?", "", "[", "", "]", "").Replace(pattern)
	if len(literal) < max(2, (len(program)+1)/2) {
		return false
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), program)
	return ok && err == nil
}
