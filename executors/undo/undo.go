// Package undo keeps earlier states of files, compares them with later states, and restores them.
//
// A [Survey] describes the entries of a part of the workspace, and puts the contents of its files into
// a [Store]. [Index.Changes] compares two surveys, and [Restorer] brings entries back. A [Reader] reads
// the states of single paths. Its users are rewind, which keeps the files that each turn changes;
// rollback, which undoes a failed command; and copies, which brings back the changes of a sub-agent.
//
// It promises that nothing outside the workspace roots is read, written or removed, even through
// links. A file is replaced in one step, so that a reader never sees a part of it. An unchanged file stays
// untouched. Contents come back exactly, or not at all.
//
// It does not keep .git, zeph-acp's own files, pipes, sockets and devices. Hard links
// become separate files; owners and extended attributes are not kept.
//
// Why are files copied and not linked? A program that writes in place would change both.
package undo

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// Limits is the table [tools.undo].
type Limits struct {
	// MaxFiles of 0 leaves out all changes of commands.
	MaxFiles int   `toml:"max_files" default:"100000" range:"0..1000000" zero:"only files that commands name" tighten:"lower" doc:"the most files of a workspace that are compared or copied"`
	MaxBytes int64 `toml:"max_bytes" default:"1GiB" range:"0.." tighten:"lower" unit:"bytes" doc:"kept for one workspace, for one turn, for one command, and for one sub-agent"`
	// MaxFileBytes does not bound the copies of a transaction, which restores all files or none.
	MaxFileBytes int64 `toml:"max_file_bytes" default:"16MiB" range:"0.." tighten:"lower" unit:"bytes" doc:"of the largest file whose content is kept"`
}

// ForNamed returns the limits on files that a command names: 0 does not leave them out.
func (l Limits) ForNamed() Limits {
	l.MaxFiles = cmp.Or(l.MaxFiles, setting.Default[Limits]().MaxFiles)
	return l
}

// TooManyFiles says that there are more files than the limit.
func (l Limits) TooManyFiles() error {
	return fmt.Errorf("there are more than %s files (tools.undo.max_files)", quantity.Grouped(int64(l.MaxFiles)))
}

// TooManyBytes says that the files are larger than the limit, together.
func (l Limits) TooManyBytes() error {
	return fmt.Errorf("the files have more than %s bytes (tools.undo.max_bytes)", quantity.Grouped(l.MaxBytes))
}

func (l Limits) tooLarge() string {
	return fmt.Sprintf("it is larger than %s bytes (tools.undo.max_file_bytes)", quantity.Grouped(l.MaxFileBytes))
}

// Names joins names for a message, the first ones if there are many.
func Names(names []string, separator string, most int) string {
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, separator) + more
}
