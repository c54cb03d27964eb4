// Package keys stores the providers' keys that "zeph-acp login" saved, and
// writes private files for the other packages of the command.
//
// Start with [NewKeys]. No error contains a key. A file that others may read is
// made private or not used. While a file is written, readers see either its old
// or its new content.
package keys

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// Keys are the saved keys, in the file keys.toml of the configuration
// directory: one NAME = "KEY" for each environment variable that it replaces.
// The methods are safe for concurrent use, even by several processes.
//
// Each lookup reads the file again, which takes some ten microseconds, so that
// a key saved or removed by another process counts immediately. The file must
// be regular. If others may read it, it is first made 0600; if that fails, it
// is not used. No error contains a key.
type Keys struct {
	dir     string // the directory of the file; empty means that there is no file
	known   map[string]bool
	environ func(name string) string
}

// FileName is the name of the file.
const FileName = "keys.toml"

// NewKeys returns the keys in dir. It looks up only the variables of known, so
// that the file cannot set any other. Variables set in environ take precedence.
func NewKeys(dir string, known []provider.Key, environ func(name string) string) *Keys {
	k := &Keys{dir: dir, known: map[string]bool{}, environ: environ}
	for _, key := range known {
		k.known[key.Env] = true
	}
	return k
}

// Known reports whether the named environment variable holds a key.
func (k *Keys) Known(name string) bool { return k.known[name] }

// File returns the path of the keys; empty if there is no directory for it.
func (k *Keys) File() string {
	if k.dir == "" {
		return ""
	}
	return filepath.Join(k.dir, FileName)
}

// Getenv returns the named environment variable or, if that is empty and the
// variable holds a provider's key, the saved key. A file that cannot be used
// counts as empty; Err returns the reason.
func (k *Keys) Getenv(name string) string {
	if value := k.environ(name); value != "" || !k.known[name] {
		return value
	}
	saved, err := k.read()
	if err != nil {
		return ""
	}
	return saved[name]
}

// Err returns why the file cannot be used, or nil.
func (k *Keys) Err() error {
	_, err := k.read()
	return err
}

// read returns the keys of the file by name; a missing file has no keys.
func (k *Keys) read() (map[string]string, error) {
	if k.dir == "" {
		return nil, nil
	}
	data, err := ReadPrivate(k.File())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathErr.Err
		}
		return nil, fmt.Errorf("saved keys: %s: %w", toml.Printable(k.File()), err)
	}
	saved, err := parseKeys(data)
	if err != nil {
		return nil, fmt.Errorf("saved keys: %s:%w", toml.Printable(k.File()), err)
	}
	return saved, nil
}

// parseKeys parses the lines of the file. Its errors begin with the line and
// quote nothing, since any word may be a key.
func parseKeys(data []byte) (map[string]string, error) {
	root, mistakes := toml.Parse(data)
	saved := map[string]string{}
	for _, name := range root.Keys {
		n := root.Child(name)
		if key, err := CheckKey(n.Text); n.Kind != unstable.String || err != nil || key != n.Text {
			mistakes = append(mistakes, toml.Mistake{Line: n.Line})
		}
		saved[name] = n.Text
	}
	if len(mistakes) > 0 {
		first := slices.MinFunc(mistakes, func(a, b toml.Mistake) int { return cmp.Compare(a.Line, b.Line) })
		return nil, fmt.Errorf("%d: want lines such as ANTHROPIC_API_KEY = \"KEY\"", first.Line)
	}
	return saved, nil
}

// maxKeyBytes is the length of the longest key. A terminal cuts its lines at
// 4096 characters, and would cut a longer key without notice.
const maxKeyBytes = 4095

// CheckKey returns a typed or pasted key without surrounding space, or an
// error. A key goes into an HTTP header, so it must be printable ASCII without
// spaces.
func CheckKey(typed string) (string, error) {
	key := strings.TrimSpace(strings.TrimPrefix(typed, "\ufeff"))
	wrong := strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
	switch {
	case key == "":
		return "", errors.New("the key is empty")
	case len(key) > maxKeyBytes:
		return "", fmt.Errorf("the key is too long: the limit is %d bytes", maxKeyBytes)
	case wrong >= 0:
		return "", errors.New("not a key: it contains a space, a control character or a character outside ASCII")
	}
	return key, nil
}
