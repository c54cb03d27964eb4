package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
)

// LoginsFile is the name of the file of logins.
const LoginsFile = "mcp-logins.json"

// Logins are the saved logins at MCP servers, by address, in a file beside the saved
// keys. What holds for [Keys] holds for it, too.
type Logins struct {
	dir string // empty means that there is no file
}

// NewLogins returns the logins in dir.
func NewLogins(dir string) *Logins { return &Logins{dir} }

func (l *Logins) file() string { return filepath.Join(l.dir, LoginsFile) }

// read returns the logins by address; a missing file has no logins.
func (l *Logins) read() (map[string]json.RawMessage, error) {
	saved := map[string]json.RawMessage{}
	if l.dir == "" {
		return saved, nil
	}
	data, err := ReadPrivate(l.file())
	if errors.Is(err, fs.ErrNotExist) {
		return saved, nil
	}
	if err == nil && json.Unmarshal(data, &saved) != nil {
		err = errors.New("not a JSON object: remove the file, and log in again")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", toml.Printable(l.file()), err)
	}
	return saved, nil
}

// Load returns the login at a server; nil if there is none.
func (l *Logins) Load(server string) ([]byte, error) {
	saved, err := l.read()
	return saved[server], err
}

// Change replaces the login at a server by the result of edit, under a lock; nil
// removes it, and an error changes nothing.
func (l *Logins) Change(server string, edit func(old []byte) ([]byte, error)) (err error) {
	if l.dir == "" {
		return errors.New("no home directory: set HOME or ZEPH_HOME")
	}
	if err := MakeDir(l.dir); err != nil {
		return err
	}
	unlock, err := lockDir(l.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	saved, err := l.read()
	if err != nil {
		return err
	}
	login, err := edit(saved[server])
	if err != nil {
		return err
	}
	if saved[server] = login; login == nil {
		delete(saved, server)
	}
	if len(saved) == 0 {
		if err := os.Remove(l.file()); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.MarshalIndent(saved, "", "  ")
	if err != nil {
		return err
	}
	return ReplaceFile(l.file(), append(data, '\n'), 0o600)
}
