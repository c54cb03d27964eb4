package walk

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
)

// userExcludes returns the text of the user's own excludes for all repositories,
// "" if there are none.
//
// The file is the one that core.excludesFile in the user's configuration of git, or
// in the configuration of the machine, names, else git/ignore in the user's
// configuration directory. The configuration of a repository does not count, since it
// could name any file.
func userExcludes(roots *workspace.Roots) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	// The later file wins.
	settings := []string{filepath.Join(config, filepath.FromSlash("git/config")), filepath.Join(home, ".gitconfig")}
	if own, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		settings = []string{own}
	}
	if machine := systemSettings(); machine != "" {
		settings = append([]string{machine}, settings...)
	}
	c := gitSettings{home: home, read: func(name string) string { return readUser(roots, name) }}
	file := filepath.Join(config, filepath.FromSlash("git/ignore"))
	for _, name := range settings {
		if value, ok := c.excludesFile(name, 0); ok {
			file = c.expand(value)
		}
	}
	return readUser(roots, file)
}

// systemSettings returns the configuration file of git for all users of the machine, "" if it
// is not used or unknown.
func systemSettings() string {
	switch strings.ToLower(os.Getenv("GIT_CONFIG_NOSYSTEM")) {
	case "", "0", "false", "no", "off":
	default:
		return ""
	}
	if own, ok := os.LookupEnv("GIT_CONFIG_SYSTEM"); ok {
		return own
	}
	if runtime.GOOS == "windows" {
		return ""
	}
	return "/etc/gitconfig"
}

// readUser reads a small regular file of the user, and follows links. It
// returns "" for a file that cannot be read and for zeph-acp's own files.
func readUser(roots *workspace.Roots, name string) string {
	if !filepath.IsAbs(name) {
		return ""
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return ""
	}
	return readPlain(roots.Hidden(), real)
}

// gitSettings reads configuration files of git.
type gitSettings struct {
	home string
	read func(name string) string // returns "" for a file that cannot be read
}

// maxIncludes is how deep configuration files include each other, as in git.
const maxIncludes = 10

// expand returns a path with the home directory for a leading "~/".
func (c gitSettings) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(c.home, rest)
	}
	return path
}

// excludesFile returns core.excludesFile of a configuration file and of the files that it
// includes: https://git-scm.com/docs/git-config#_syntax. It does not follow conditional
// includes or join continued lines. depth is how many files include this one.
func (c gitSettings) excludesFile(name string, depth int) (value string, ok bool) {
	if depth > maxIncludes {
		return "", false
	}
	section := ""
	for line := range strings.Lines(strings.TrimPrefix(c.read(name), executors.ByteOrderMark)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			head, rest, _ := strings.Cut(line[1:], "]")
			section = strings.ToLower(strings.TrimSpace(head))
			line = strings.TrimSpace(rest)
		}
		key, v, _ := strings.Cut(line, "=")
		switch section + "." + strings.ToLower(strings.TrimSpace(key)) {
		case "core.excludesfile":
			value, ok = configValue(v), true
		case "include.path":
			included := pathname.From(filepath.Dir(name), c.expand(configValue(v)))
			if v, isSet := c.excludesFile(included, depth+1); isSet {
				value, ok = v, true
			}
		}
	}
	return value, ok
}

// configValue returns a value without quotes, escapes and comment.
func configValue(raw string) string {
	var b strings.Builder
	quoted, end := false, 0 // the length of b without trailing spaces
	raw = strings.TrimLeft(raw, " \t")
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '"':
			quoted = !quoted
			continue
		case !quoted && (c == '#' || c == ';'):
			return b.String()[:end]
		case c == '\\' && i+1 < len(raw):
			i++
			c = raw[i]
			switch c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			}
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			end = b.Len()
		}
	}
	return b.String()[:end]
}
