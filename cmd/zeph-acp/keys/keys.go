// Package keys keeps the providers' keys that "zeph-acp login" saved, and writes
// private files for the other packages of the command.
//
// Start with [NewKeys]. It promises that no key is in an error, that a file which
// others may read is made private or not used, and that a file has either its old
// or its new content, whatever happens while it is written.
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

// Keys are the keys that login saved, in the file keys.toml of the configuration
// directory: one NAME = "KEY" for each environment variable that it stands in
// for. The methods may be called concurrently, by other processes too.
//
// The file is read again at each question, which takes some ten microseconds, so
// that a key saved or removed by another process is seen at once. It must be a
// regular file; one that others may read is made 0600 first, and not used where
// that fails. A key is in no error.
type Keys struct {
	dir     string // where the file is; empty means nowhere
	known   map[string]bool
	environ func(name string) string
}

// FileName is the name of the file.
const FileName = "keys.toml"

// NewKeys returns the keys in dir. Only the variables of known are answered, so
// that the file cannot set any other. Those of environ take precedence.
func NewKeys(dir string, known []provider.Key, environ func(name string) string) *Keys {
	k := &Keys{dir: dir, known: map[string]bool{}, environ: environ}
	for _, key := range known {
		k.known[key.Env] = true
	}
	return k
}

// Known reports whether the environment variable of that name holds a key.
func (k *Keys) Known(name string) bool { return k.known[name] }

// File is where the keys are; empty if there is no such place.
func (k *Keys) File() string {
	if k.dir == "" {
		return ""
	}
	return filepath.Join(k.dir, FileName)
}

// Getenv returns the environment's variable or, where that is empty and the
// variable holds a provider's key, the saved key. A file that cannot be used
// holds none; Err says why.
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

// Err returns why the file cannot be used, nil if it can.
func (k *Keys) Err() error {
	_, err := k.read()
	return err
}

// read returns the keys of the file by name; no keys if there is no file.
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

// parseKeys reads the lines of the file. Its errors begin with the line, and
// quote nothing: what is wrong may be a key.
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

// maxKeyBytes is the length of the longest key. A terminal's line ends at 4096
// characters, so that a longer key would be cut there unnoticed.
const maxKeyBytes = 4095

// CheckKey returns the key that a person typed or pasted, without the space around
// it, or says what is wrong with it. A key goes into an HTTP header: it is
// printable ASCII without spaces.
func CheckKey(typed string) (string, error) {
	key := strings.TrimSpace(strings.TrimPrefix(typed, "\ufeff"))
	wrong := strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
	switch {
	case key == "":
		return "", errors.New("the key is empty")
	case len(key) > maxKeyBytes:
		return "", fmt.Errorf("the key is too long: %d bytes are the most", maxKeyBytes)
	case wrong >= 0:
		return "", errors.New("that is no key: it has a space, a control character or a letter outside ASCII in it")
	}
	return key, nil
}
