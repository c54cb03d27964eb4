package main

import (
	"context"
	"strings"

	"github.com/zeph-acp/zeph-acp/integration/agents"
)

// The versions of the reviewed module: the last is the change, the others are its history.
var syncVersions = []string{"v0.1.0", "v0.4.0", "v0.8.0", "v0.12.0", "v0.16.0", "v0.20.0"}

// A plant is a mistake in the change under review.
type plant struct{ path, right, wrong string }

var plants = []plant{
	{"semaphore/semaphore.go", "			s.cur -= n\n			s.notifyWaiters()\n", "			s.cur += n\n			s.notifyWaiters()\n"},
	{"errgroup/errgroup.go", "	if n < 0 {\n		g.sem = nil\n", "	if n <= 0 {\n		g.sem = nil\n"},
	{"singleflight/singleflight.go", "		if g.m[key] == c {\n", "		if g.m[key] != nil {\n"},
	{
		"singleflight/singleflight_test.go",
		"			if recovered == nil {\n",
		"			if recovered == nil && testing.Short() {\n",
	},
}

// hunks returns the first telling line of each hunk. Agents may write the numbers of a hunk
// in another form.
func hunks(diff []string) (all []string) {
	open := false
	for _, line := range diff {
		switch {
		case strings.HasPrefix(line, "@@ "):
			open = true
		case strings.HasPrefix(line, "diff "):
			open = false
		case open && (line[:min(1, len(line))] == "+" || line[:min(1, len(line))] == "-"):
			if text := strings.TrimSpace(line[1:]); len(text) > 8 {
				all, open = append(all, text), false
			}
		}
	}
	return all
}

// review reads a large change of a repository with some history.
var review = task{
	name:   "review",
	prompt: "Review the changes of this branch against v0.1.0, and say what is wrong with them.",
	prepare: func(ctx context.Context, w *workspace) error {
		if err := w.do(ctx, "git init -q"); err != nil {
			return err
		}
		for i, version := range syncVersions {
			if err := w.copyModule(ctx, "golang.org/x/sync@"+version); err != nil {
				return err
			}
			if i == len(syncVersions)-1 {
				for _, p := range plants {
					if err := w.replace(p.path, p.right, p.wrong); err != nil {
						return err
					}
					w.need("a mistake", strings.Split(p.wrong, "\n")[0])
				}
			}
			subject := "all: update to " + version
			if err := w.do(ctx, "git add -A && git commit -qm '"+subject+"' && git tag "+version); err != nil {
				return err
			}
			w.need("a subject", subject)
		}
		files, err := w.lines(ctx, "git diff --name-only v0.1.0")
		if err != nil {
			return err
		}
		w.need("a file of the diff", files...)
		lines, err := w.lines(ctx, "git diff v0.1.0")
		w.need("a change", hunks(lines)...)
		return err
	},
	steps: []agents.Call{
		command("git status --short && git log --oneline"),
		command("git log --stat -3"),
		command("git diff --stat v0.1.0"),
		command("git diff v0.1.0"),
		read("errgroup/errgroup.go", 0, 0),
		read("singleflight/singleflight.go", 60, 214),
		command("git diff v0.1.0 -- singleflight"),
		search("SetLimit", "."),
		command("go vet ./..."),
		command("go test ./..."),
		command("git diff v0.1.0"),
		read("semaphore/semaphore.go", 0, 0),
		command("git diff v0.1.0 -- semaphore"),
		search("errGoexit", "singleflight"),
		read("singleflight/singleflight_test.go", 1, 180),
		command("git log -p -2 -- errgroup"),
		read("errgroup/errgroup.go", 60, 151),
		edit("errgroup/errgroup.go", "	if n <= 0 {\n", "	if n < 0 {\n"),
		command("go test ./errgroup"),
		command("git diff v0.1.0"),
		command("git log --stat"),
	},
	check: "go test ./errgroup",
}
