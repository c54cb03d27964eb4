//go:build !linux

package main

// releaseStart is for Linux.
func releaseStart() {}
