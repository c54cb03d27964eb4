//go:build !linux

package main

// releaseStart does nothing: it is implemented only on Linux.
func releaseStart() {}
