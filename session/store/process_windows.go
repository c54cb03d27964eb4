package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// host names where a pid of ours means something.
func host() string {
	name, _ := os.Hostname()
	return name
}

// alive says whether there may be a process with that pid.
func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER) // which says: no such process
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0) // set once the process has ended
	return err != nil || event != windows.WAIT_OBJECT_0
}
