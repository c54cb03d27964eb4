package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// open prepares the turn in a new session, or in a stored one.
func (r *runner) open(ctx context.Context, f *flags) error {
	model, err := pickModel(r.app, r.model)
	if err != nil {
		return err
	}
	if r.mode != "" {
		if err := r.app.CheckMode(r.mode); err != nil {
			return usageError("--mode: %w", err)
		}
	}
	dir, s, err := r.session(ctx)
	if err != nil {
		return err
	}
	dirs, err := r.moreDirs(s)
	if err != nil {
		return err
	}
	r.turn = &headless.Turn{
		Server: r.app.Server(), Dir: dir, Dirs: dirs, Resume: s.ID, Mode: r.mode,
		Reaper: r.app.Reaper, Env: f.environ, Started: r.tally.started, Ended: r.tally.ended, Scan: r.app.Scanner(dir),
	}
	if s.ID != "" {
		r.turn.Model = model
	}
	if r.answerSchema != nil {
		r.turn.Next = r.answerSchema.repair(r.tally)
	}
	return nil
}

// session returns the session's cwd, and the session to continue. It keeps its own cwd
// unless another is named.
func (r *runner) session(ctx context.Context) (dir string, s store.Session, err error) {
	if dir, err = directory("--cwd", r.dir); err != nil || r.resume == "" && !r.continueLast {
		return dir, s, err
	}
	all, err := storedSessions(ctx, r.Loaded, r.app)
	if err != nil {
		return "", s, err
	}
	if r.continueLast {
		s, err = r.lastSession(ctx, all, dir)
		return dir, s, err
	}
	if s, err = findSession(all, r.resume); err != nil {
		return "", s, fmt.Errorf("--resume: %w", err)
	}
	if r.dir == "" {
		dir = s.CWD
	}
	return dir, s, nil
}

// lastSession returns the newest session of a directory that a person began.
func (r *runner) lastSession(ctx context.Context, all []store.Session, dir string) (store.Session, error) {
	all, err := inDirectory(all, dir)
	if err != nil {
		return store.Session{}, err
	}
	for _, s := range all {
		_, events, _, err := r.app.Sessions().Stored(ctx, s.ID)
		switch {
		case errors.Is(err, acp.ErrUnknownSession): // deleted since it was listed
		case err != nil:
			return s, err
		case !session.IsUnattended(events):
			return s, nil
		}
	}
	return store.Session{}, fmt.Errorf("--continue: no session of %s is stored", dir)
}

// moreDirs returns the session's additional directories and the --add-dir ones.
func (r *runner) moreDirs(s store.Session) ([]string, error) {
	dirs := slices.Clone(s.Dirs)
	for _, name := range r.addDirs {
		dir, err := directory("--add-dir", name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// directory returns the absolute path of a directory that a flag names.
func directory(flag, name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	switch info, err := os.Stat(abs); {
	case errors.Is(err, fs.ErrNotExist):
		return "", usageError("%s: there is no directory %s", flag, oneLine(abs))
	case err != nil:
		return "", usageError("%s: %w", flag, err)
	case !info.IsDir():
		return "", usageError("%s: %s is not a directory", flag, oneLine(abs))
	}
	return abs, nil
}

// pickModel makes a model the default one and returns its name. The server reports
// a missing key.
func pickModel(a *app.App, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	a.Model = name
	m, err := a.Sessions().Model(name)
	switch {
	case errors.Is(err, acp.ErrAuthRequired):
		return name, nil
	case err != nil:
		return "", usageError("--model: %w", err)
	}
	a.Model = m.Name()
	return a.Model, nil
}

// canAsk reports whether the user can be asked for the prompt.
func canAsk() bool {
	return isTerminal(os.Stdin) && (isTerminal(os.Stdout) || isTerminal(os.Stderr))
}

// askPrompt shows the stored session, and returns a prompt that the user types.
func (r *runner) askPrompt(ctx context.Context) ([]string, error) {
	screen := os.Stdout
	if !isTerminal(screen) {
		screen = os.Stderr
	}
	if err := r.showSession(ctx, screen); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(screen, "\n> "); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the prompt: %w", err)
	}
	return []string{strings.TrimSpace(line)}, nil
}
