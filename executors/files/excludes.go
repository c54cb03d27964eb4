package files

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// globalIgnore is what a walk begins with: the user's own excludes for all
// repositories. It is nil if nothing shall be left out.
//
// The file is what core.excludesFile in the user's configuration of git says,
// else git/ignore in the user's configuration directory. What a repository's own
// configuration says is not taken, since it could name any file.
func (t *tools) globalIgnore(ignoring bool) *ignore {
	if !ignoring {
		return nil
	}
	return &ignore{userRules: parseRules(t.userExcludes())}
}

// userExcludes returns the text of the user's own excludes.
func (t *tools) userExcludes() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	// The later goes before the earlier.
	settings := []string{filepath.Join(config, "git", "config"), filepath.Join(home, ".gitconfig")}
	if own, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		settings = []string{own}
	}
	file := filepath.Join(config, "git", "ignore")
	for _, name := range settings {
		if value, ok := excludesFile(t.readUser(name)); ok {
			file = value
			if rest, ok := strings.CutPrefix(value, "~/"); ok {
				file = filepath.Join(home, rest)
			}
		}
	}
	return t.readUser(file)
}

// readUser reads a small regular file of the user, wherever links put it; what
// cannot be read is empty. zeph-acp's own files are not.
func (t *tools) readUser(name string) string {
	if !filepath.IsAbs(name) {
		return ""
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return ""
	}
	f, err := t.roots.Private().Open(real)
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

// excludesFile finds core.excludesFile in a configuration of git:
// https://git-scm.com/docs/git-config#_syntax. Includes are not followed, and
// lines that go on over the next are not read.
func excludesFile(config string) (value string, ok bool) {
	core := false
	for line := range strings.Lines(strings.TrimPrefix(config, byteOrderMark)) {
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

// configValue takes quotes, escapes and a comment out of a value.
func configValue(raw string) string {
	var b strings.Builder
	quoted, end := false, 0 // of what is kept of b: not the spaces behind
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
