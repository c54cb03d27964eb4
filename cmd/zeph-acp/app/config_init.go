package app

import (
	_ "embed" // config_init.toml
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// initial is a configuration that changes nothing: all keys with their defaults,
// as comments. A test makes it from the documentation.
//
//go:embed config_init.toml
var initial []byte

// Init writes a configuration file to start from, where the options say that it
// is read, and gives its path. A file that is there stays, and is an error.
func Init(o Options) (file string, err error) {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	env := environment(o.Environ)
	file, _ = locate(o.File, env["ZEPH_CONFIG"], FindPaths(func(name string) string { return env[name] }))
	if file == "" {
		return "", errors.New("no home directory: set HOME or ZEPH_HOME, or name a file with --config")
	}
	if err = MakeDir(filepath.Dir(file)); err == nil {
		err = createFile(file, initial, 0o600)
	}
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s is there already and stays as it is", printable(file))
	}
	if err != nil {
		return "", fmt.Errorf("writing the configuration: %w", err)
	}
	return file, nil
}
