package walk

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// UserExcludes returns the text of the user's own excludes for all repositories,
// "" if there are none. Do reads them at the start of a walk with Tree.Ignore.
//
// The file is the one that core.excludesFile in the user's configuration of git
// names, else git/ignore in the user's configuration directory. The configuration
// of a repository does not count, since it could name any file.
func UserExcludes(roots *workspace.Roots) string {
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
	file := filepath.Join(config, filepath.FromSlash("git/ignore"))
	for _, name := range settings {
		if value, ok := excludesFile(readUser(roots, name)); ok {
			file = value
			if rest, ok := strings.CutPrefix(value, "~/"); ok {
				file = filepath.Join(home, rest)
			}
		}
	}
	return readUser(roots, file)
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
	f, err := roots.Hidden().Open(real)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore+1))
	if err != nil || len(text) > maxIgnore {
		return ""
	}
	return string(text)
}

// excludesFile returns core.excludesFile of a configuration of git:
// https://git-scm.com/docs/git-config#_syntax. It does not follow includes or join continued lines.
func excludesFile(config string) (value string, ok bool) {
	core := false
	for line := range strings.Lines(strings.TrimPrefix(config, executors.ByteOrderMark)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section, rest, _ := strings.Cut(line[1:], "]")
			core = strings.EqualFold(strings.TrimSpace(section), "core")
			line = strings.TrimSpace(rest)
		}
		key, v, _ := strings.Cut(line, "=")
		if core && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			value, ok = configValue(v), true
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
