package rewind

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// contents keeps the contents of files by their hashes, one file each. Several
// processes may use it concurrently, since an object never changes.
type contents struct{ dir string }

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (c contents) name(hash string) string { return filepath.Join(c.dir, hash[:2], hash[2:]) }

// put keeps data and returns its hash.
func (c contents) put(data []byte) (hash string, err error) {
	hash = hashOf(data)
	name := c.name(hash)
	if info, err := os.Stat(name); err == nil && info.Size() == int64(len(data)) {
		c.renew(name, info)
		return hash, nil
	}
	return hash, writePrivate(name, data)
}

// get returns the content with that hash, exactly as it was put.
func (c contents) get(hash string) ([]byte, error) {
	if len(hash) != 2*sha256.Size {
		return nil, errors.New("its content was not kept")
	}
	data, err := os.ReadFile(c.name(hash))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("its content is no longer kept")
	case err != nil:
		return nil, fmt.Errorf("read the kept content: %w", err)
	case hashOf(data) != hash:
		return nil, errors.New("its kept content is damaged")
	}
	return data, nil
}

// writePrivate replaces a file of this package in one step.
func writePrivate(name string, data []byte) error { return replaceFile(name, data, false) }

// replaceFile is writePrivate. sync also makes the file last through a crash of the system.
func replaceFile(name string, data []byte, sync bool) error {
	dir := filepath.Dir(name)
	temp := filepath.Join(dir, ".new-"+rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			f, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// writeJSON is writePrivate for a value.
func writeJSON(name string, value any) error { return replaceJSON(name, value, false) }

// writeJSONDurably is writeJSON for a file that lasts through a crash of the system.
func writeJSONDurably(name string, value any) error { return replaceJSON(name, value, true) }

func replaceJSON(name string, value any, sync bool) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return replaceFile(name, data, sync)
}

// readJSON reads a value; ok is false if there is no such file.
func readJSON(name string, value any) (ok bool, err error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, value)
	}
	return err == nil, err
}
