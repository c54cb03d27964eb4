package main

import (
	"cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
)

// managedFile and managedOwner replace the place and the owner of the managed
// configuration. Only a build can set them, with -ldflags "-X main.managedFile=...".
var managedFile, managedOwner string

// managed returns the managed configuration of this machine.
func managed() config.ManagedFile {
	return config.ManagedFile{Path: cmp.Or(managedFile, config.ManagedPath()), Owner: managedOwner}
}
