//go:build !unix

package main

import "os"

// openStdin returns standard input.
func openStdin() (in *os.File, restore func()) { return os.Stdin, func() {} }
