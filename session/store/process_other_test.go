//go:build !linux

package store

import (
	"os"
	"os/exec"
	"testing"
)

func awaitDeath(t *testing.T, cmd *exec.Cmd) { _ = cmd.Wait() }

// unprivileged runs do as a user without permissions.
func unprivileged(t *testing.T, dir string, do func()) {
	t.Helper()
	if os.Geteuid() <= 0 {
		t.Skip("root is held back by no permission, and Windows has other ones")
	}
	do()
}
