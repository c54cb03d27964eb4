//go:build !unix

package app

// openNonblock is nothing where a file system has no pipes.
const openNonblock = 0
