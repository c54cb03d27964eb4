package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// ReadOnly returns a function that restricts the calling thread, and all that
// it starts, to reading: no file is written, made or removed except below the
// directory temp, /dev/null aside; there is no network, no socket of a local
// service, and no device to control. It returns nil where the kernel has no
// Landlock.
//
// Unlike the sandbox of [New] this needs no helper: its rules are few, so the
// thread that starts a program takes them on itself, in some 50 µs. The thread
// must be locked to its goroutine and must end with it.
func ReadOnly() func(temp string) error {
	abi := abiHere()
	if abi <= 0 {
		return nil
	}
	return func(temp string) error { return readOnly(abi, temp) }
}

var abiHere = sync.OnceValue(func() int { abi, _ := Available(); return abi })

// readCapabilities are what root keeps: without them it could not read the files
// of others. Writing is Landlock's to refuse.
var readCapabilities = []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH}

func readOnly(abi int, temp string) error {
	r := handled(abi, false)
	r.FS &^= mayRead
	for _, path := range []string{"/dev/null", temp} {
		at, ok := idAt(path)
		if !ok {
			return fmt.Errorf("%s is missing", path)
		}
		r.Grants = append(r.Grants, grant{
			Dir: []byte(filepath.Dir(path)), Right: mayWrite, Names: []entry{{Name: []byte(filepath.Base(path)), ID: at}},
		})
	}
	if err := keepCapabilities(readCapabilities); err != nil {
		return err
	}
	if err := r.enforce(); err != nil {
		return err
	}
	return refuseCalls(changes)
}

// keepCapabilities returns up all capabilities of this thread but these.
func keepCapabilities(keep []uintptr) error {
	var gone []uintptr
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if !slices.Contains(keep, c) {
			gone = append(gone, c)
		}
	}
	return dropCapabilities(gone)
}
