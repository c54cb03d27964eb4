package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
)

// LoginsFile is the name of the file of logins.
const LoginsFile = "mcp-logins.json"

// Logins are the saved logins at MCP servers, by address, in a file next to the saved
// keys. The file is read, protected and changed like the file of [Keys].
type Logins struct {
	dir string // empty means that there is no file
}

// NewLogins returns the logins in dir.
func NewLogins(dir string) *Logins { return &Logins{dir} }

func (l *Logins) file() string { return filepath.Join(l.dir, LoginsFile) }

// parse returns the logins by address.
func (l *Logins) parse(data []byte) (map[string]json.RawMessage, error) {
	saved := map[string]json.RawMessage{}
	if len(data) > 0 && json.Unmarshal(data, &saved) != nil {
		return nil, errors.New("not a JSON object: remove the file, and log in again")
	}
	return saved, nil
}

// Load returns the login at a server; nil if there is none.
func (l *Logins) Load(server string) ([]byte, error) {
	if l.dir == "" {
		return nil, nil
	}
	data, err := ReadPrivate(l.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var saved map[string]json.RawMessage
	if err == nil {
		saved, err = l.parse(data)
	}
	return saved[server], l.withFileName(err)
}

// Change replaces the login at a server by the result of edit, under a lock; nil
// removes it, and an error changes nothing.
func (l *Logins) Change(server string, edit func(old []byte) ([]byte, error)) error {
	if l.dir == "" {
		return errors.New("no home directory: set HOME or ZEPH_HOME")
	}
	return EditFile(l.file(), func(old []byte) ([]byte, error) {
		saved, err := l.parse(old)
		if err != nil {
			return nil, l.withFileName(err)
		}
		login, err := edit(saved[server])
		if err != nil {
			return nil, err
		}
		if saved[server] = login; login == nil {
			delete(saved, server)
		}
		if len(saved) == 0 {
			return nil, nil
		}
		data, err := json.MarshalIndent(saved, "", "  ")
		return append(data, '\n'), err
	})
}

// withFileName adds the file's name to an error.
func (l *Logins) withFileName(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", toml.Printable(l.file()), err)
}
