//go:build !unix

package keys

// Nonblock is 0 where a file system has no pipes.
const Nonblock = 0
