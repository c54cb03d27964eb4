package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/lazyregexp"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// ignoredCharacters removes characters that some file systems ignore in names.
var ignoredCharacters = strings.NewReplacer("\u200c", "", "\u200d", "", "\u200e", "", "\u200f", "", "\u202a", "", "\u202b", "", "\u202c", "", "\u202d", "", "\u202e", "",
	"\u206a", "", "\u206b", "", "\u206c", "", "\u206d", "", "\u206e", "", "\u206f", "", "\ufeff", "")

// controlsGitOrAgent reports whether a file controls git or this agent later, by any
// name that some file system has for it.
func controlsGitOrAgent(abs string) bool {
	return hasPart(abs, func(name string) bool { return slices.Contains([]string{".git", ".zeph", "git~1", "zeph~1"}, name) })
}

// startingDirs are directories with settings from which editors, other agents, the hooks of git or
// the desktop start programs.
var startingDirs = []string{
	".agents", ".claude", ".codex", ".config", ".continue", ".cursor", ".devcontainer", ".fleet", ".gemini", ".githooks", ".helix", ".husky",
	".idea", ".kiro", ".nova", ".nvim", ".opencode", ".qwen", ".roo", ".ssh", ".trae", ".vim", ".vscode", ".windsurf", ".zed", "launchagents",
}

// startingFiles match files with such settings. Shells read some of them at each start, and others
// when a person enters the directory.
var startingFiles = lazyregexp.New(`^(\.dir-locals(-2)?\.el|\.envrc|\.exrc|\.g?vimrc|\.nvim\.lua|\.nvimrc|\.mcp\.json|\.?mise(\.[a-z]+)*\.toml|` +
	`opencode\.jsonc?|\.aider\.conf\.yml|\.bash_(aliases|login|logout|profile)|\.[a-z]*sh(env|rc)|\.z?(login|logout|profile)|\.x(initrc|profile|session)|\.gitconfig|` +
	`.*\.code-workspace|.*\.sublime-project|\.?lefthook(-local)?\.(json|toml|yaml|yml)|\.pre-commit-config\.yaml)$`)

// startsPrograms reports whether other programs of the user start programs from a file, without
// being asked to.
func startsPrograms(abs string) bool {
	return startingFiles.MatchString(strings.ToLower(filepath.Base(abs))) ||
		hasPart(abs, func(name string) bool { return slices.Contains(startingDirs, name) })
}

// startsProgramsReason is the reason to ask about a change of such a file.
const startsProgramsReason = "default: editors, shells or other agents start programs from this file"

// startsProgramsInRoots is startsPrograms for the part of a path below the innermost of the
// session's roots that has it. A whole project may be inside of ".claude/worktrees".
func (p permissionCheck) startsProgramsInRoots(abs string) bool {
	innermost := ""
	for _, root := range p.Roots.Dirs() {
		if workspace.Within(root, abs) && len(root) > len(innermost) {
			innermost = root
		}
	}
	return startsPrograms(strings.TrimPrefix(abs, innermost))
}

// hasPart reports whether the name of a file or of a directory above it matches. Names that file
// systems take for equal are compared in one plain form.
func hasPart(abs string, matches func(name string) bool) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(abs), "/") {
		name, _, _ := strings.Cut(ignoredCharacters.Replace(part), ":") // ".git::$INDEX_ALLOCATION"
		if matches(strings.ToLower(strings.TrimRight(name, ". "))) {
			return true
		}
	}
	return false
}
