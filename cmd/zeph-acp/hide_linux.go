package main

import "golang.org/x/sys/unix"

// hide closes this process to others of the same user: its memory and environment,
// which hold keys, and its open files, which are the stream to the client. Root
// is kept out as far as its commands lose the right to look (see package shell).
// Programs that it starts are not concerned. There are no core dumps then, and no
// debugger attaches.
func hide() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) } // without it all works
