// Package git holds the strategies for git: git_status, git_diff, git_log and
// git_blame.
//
// Branches, names of files and hunks stay. Padding, hints and repeated headers are
// removed.
package git

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family by type.
var Strategies = map[string]strategy.Constructor{
	"git_status": newGitStatus,
	"git_diff":   newGitDiff,
	"git_log":    newGitLog,
	"git_blame":  newGitBlame,
}
