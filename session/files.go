package session

import (
	"context"
	"errors"

	"github.com/zeph-acp/zeph-acp/executors/filechange"
)

// Files keeps the files that the turns of a session change.
type Files interface {
	// Begin begins the turn with that number and prompt, and End ends it.
	Begin(turn int, messageID string)
	End(ctx context.Context)
	// Changed returns the number of files that each turn changed, by the turn's number; -1
	// where they are no longer kept.
	Changed() (map[int]int, error)
	// Before plans the rewind of the files to before a turn; id names the rewind. Again
	// plans to undo that rewind.
	Before(ctx context.Context, turn int, id string) (FilesPlan, error)
	Again(ctx context.Context, id string) (FilesPlan, error)
	// Complete ends a rewind whose mark is stored in the session's log.
	Complete() error
	// Recover completes or undoes the rewind of a killed process. It returns the mark of
	// a rewind whose files are restored, and a message for the user; each may be empty.
	Recover(ctx context.Context) (mark []byte, message string, err error)
}

// FilesPlan lists the changes of a rewind to the files, and makes them.
type FilesPlan struct {
	Files []PlannedFile
	Notes []string // for the user, such as changes that are not covered
	// Apply restores the files. force also replaces those that differ. If the process is
	// killed before Complete, Recover returns mark.
	Apply func(ctx context.Context, force bool, mark []byte) (FilesOutcome, error)
}

// PlannedFile is one file, link or directory of a plan.
type PlannedFile struct {
	Path, Name string // absolute; relative, for people
	Change     string // "restore", "remove" or "create"
	Differs    string // the difference from the file after the agent's last change; empty if there is none
	Lost       string // the reason why it cannot be restored; empty if it can be
}

// FilesOutcome is the result of a plan.
type FilesOutcome struct {
	Changed []string            // absolute paths
	Changes []filechange.Change // the same, with small texts, and directories
	Kept    []string            // names of files that differ
	Failed  []string            // names with reasons
}

// noFiles is the Files of a session that keeps no files.
type noFiles struct{}

var errNoFiles = errors.New("no files are kept: tools.rewind.enabled is false, or there is no directory for them")

func (noFiles) Begin(int, string)             {}
func (noFiles) End(context.Context)           {}
func (noFiles) Changed() (map[int]int, error) { return nil, nil }
func (noFiles) Complete() error               { return nil }

func (noFiles) Before(context.Context, int, string) (FilesPlan, error) {
	return FilesPlan{}, errNoFiles
}

func (noFiles) Again(context.Context, string) (FilesPlan, error) { return FilesPlan{}, nil }

func (noFiles) Recover(context.Context) ([]byte, string, error) { return nil, "", nil }
