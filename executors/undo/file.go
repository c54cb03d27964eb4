package undo

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile replaces a private file in one step, and makes its directory if there is none.
func WriteFile(name string, data []byte) error { return replaceFile(name, data, false) }

// WriteJSON is WriteFile for a value. sync also makes the file last through a crash of the system.
func WriteJSON(name string, value any, sync bool) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return replaceFile(name, data, sync)
}

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

// ReadJSON reads a value; ok is false if there is no such file.
func ReadJSON(name string, value any) (ok bool, err error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, value)
	}
	return err == nil, err
}
