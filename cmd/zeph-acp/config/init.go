package config

import (
	_ "embed" // init.toml
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
)

// initialConfig is a configuration that changes nothing: all keys with their defaults,
// as comments. A test makes it from the documentation.
//
//go:embed init.toml
var initialConfig []byte

// Init writes an initial configuration file to the path that the options
// select, and returns that path. It returns an error if the file exists.
func Init(o Options) (file string, err error) {
	if file, err = locateForChange(o, newEnvironment(o.Environ)); err != nil {
		return "", err
	}
	if err = keys.MakeDir(filepath.Dir(file)); err == nil {
		err = keys.CreateFile(file, initialConfig, 0o600)
	}
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s already exists and was not changed", toml.Printable(file))
	}
	if err != nil {
		return "", fmt.Errorf("writing the configuration: %w", err)
	}
	return file, nil
}
