package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// host identifies the scope of this process's pid.
func host() string {
	name, _ := os.Hostname()
	return name
}

// processAlive reports whether a process with this pid may exist.
func processAlive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER) // means that there is no such process
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0) // signalled once the process has ended
	return err != nil || event != windows.WAIT_OBJECT_0
}
