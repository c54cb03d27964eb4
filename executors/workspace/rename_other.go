//go:build unix && !linux && !darwin

package workspace

import (
	"errors"
	"os"
)

func renameExclusive(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }
