// Package files lists the files of a project, for the completion of their names.
//
// Start with [Names].
package files

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

const (
	maxNames = 50_000
	maxTime  = 200 * time.Millisecond
)

// Names returns the files and directories below a directory that ignore files such as .gitignore
// do not exclude, in order. Paths are relative, with slashes; a directory ends in one. It leaves
// out names that a mention with "@" cannot have: with control characters, or a space and a quote. A large
// project is listed in part: 50,000 names, and what was found within 200 ms.
func Names(ctx context.Context, dir string) ([]string, error) {
	return list(ctx, dir, maxNames, maxTime)
}

func list(ctx context.Context, dir string, most int, limit time.Duration) ([]string, error) {
	roots, err := workspace.New(dir)
	if err != nil {
		return nil, err
	}
	inTime, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var names []string
	tree := walk.Tree{Roots: roots, Dir: roots.Cwd(), Ignore: true, Budget: walk.MaxEntries}
	_, err = walk.Do(inTime, tree, func() walk.Visit[string] { return name }, func(n string) int { return len(n) }, func(n string) bool {
		names = append(names, n)
		return len(names) < most
	})
	if err != nil && inTime.Err() != nil && ctx.Err() == nil {
		err = nil // out of time
	}
	return names, err
}

// name returns the path of an entry.
func name(e walk.Entry, _ func() bool) (string, bool, error) {
	path := e.Path()
	if e.Type.IsDir() {
		path += "/"
	}
	quoted := strings.Contains(path, " ") && strings.Contains(path, `"`)
	return path, !quoted && !strings.ContainsFunc(path, cannotMention), nil
}

// cannotMention reports whether a name with a character cannot be mentioned or shown.
func cannotMention(r rune) bool {
	return unicode.IsSpace(r) && r != ' ' || unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r)
}
