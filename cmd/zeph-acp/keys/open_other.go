//go:build !unix

package keys

// Nonblock is nothing where a file system has no pipes.
const Nonblock = 0
