//go:build !unix

package commands

import "os/exec"

// wholeGroup does nothing: only Unix has process groups.
func wholeGroup(*exec.Cmd) {}
