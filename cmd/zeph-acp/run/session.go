package run

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/sessions"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// Open prepares the turn in a new session, or in a stored one.
func (r *Runner) Open(ctx context.Context, f *cli.Flags) error {
	model, err := pickModel(r.App, r.Model)
	if err != nil {
		return err
	}
	if r.Mode != "" {
		if err := r.App.CheckMode(r.Mode); err != nil {
			return cli.Usagef("--mode: %w", err)
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
	r.Turn = &headless.Turn{
		Server: r.App.Server(), Dir: dir, Dirs: dirs, Resume: s.ID, Mode: r.Mode,
		Reaper: r.App.Reaper, Env: f.Environ, Started: r.tally.started, Ended: r.endTurn, Scan: r.App.Scanner(dir),
	}
	if s.ID != "" {
		r.Turn.Model = model
	}
	if r.AnswerSchema != nil {
		r.Turn.Next = r.AnswerSchema.repair(r.tally)
	}
	return nil
}

// session returns the session's cwd, and the session to continue. It keeps its own cwd
// unless another is named.
func (r *Runner) session(ctx context.Context) (dir string, s store.Session, err error) {
	if dir, err = cli.Directory("--cwd", r.Dir); err != nil || r.resume == "" && !r.continueLast {
		return dir, s, err
	}
	all, err := sessions.Stored(ctx, r.Loaded, r.App)
	if err != nil {
		return "", s, err
	}
	if r.continueLast {
		s, err = r.lastSession(ctx, all, dir)
		return dir, s, err
	}
	if r.resume == cli.ListSessions {
		return "", s, listSessions(os.Stderr, all, dir)
	}
	if s, err = sessions.Find(all, r.resume); err != nil {
		return "", s, fmt.Errorf("--resume: %w", err)
	}
	if r.Dir == "" {
		dir = s.CWD
	}
	return dir, s, nil
}

// maxListed is the number of sessions that --resume lists without an id.
const maxListed = 10

// listSessions prints the newest sessions of a directory, for a --resume without an id, and returns the error about that.
func listSessions(out io.Writer, all []store.Session, dir string) error {
	here, err := sessions.InDirectory(all, dir)
	if err != nil {
		return err
	}
	if len(here) == 0 {
		return cli.Usagef("--resume: want the id of a session, but none of %s is stored", cli.OneLine(dir))
	}
	for _, s := range here[:min(len(here), maxListed)] {
		fmt.Fprintf(out, "%s  %s  %s\n", s.ID[:min(len(s.ID), 8)], s.Updated.Local().Format("2006-01-02 15:04"), cli.OneLine(cmp.Or(s.Title, "no title")))
	}
	if more := len(here) - maxListed; more > 0 {
		fmt.Fprintf(out, "and %s: zeph-acp sessions list\n", quantity.Count(more, "older one"))
	}
	return cli.Usagef("--resume: want the id of a session, such as --resume %s", here[0].ID[:min(len(here[0].ID), 8)])
}

// lastSession returns the newest session of a directory that a person began.
func (r *Runner) lastSession(ctx context.Context, all []store.Session, dir string) (store.Session, error) {
	all, err := sessions.InDirectory(all, dir)
	if err != nil {
		return store.Session{}, err
	}
	for _, s := range all {
		_, events, _, err := r.App.Sessions().Stored(ctx, s.ID)
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
func (r *Runner) moreDirs(s store.Session) ([]string, error) {
	dirs := slices.Clone(s.Dirs)
	for _, name := range r.addDirs {
		dir, err := cli.Directory("--add-dir", name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
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
		return "", cli.Usagef("--model: %w", err)
	}
	a.Model = m.Name()
	return a.Model, nil
}

// canAsk reports whether the user can be asked for the prompt.
func canAsk() bool {
	return cli.IsTerminal(os.Stdin) && (cli.IsTerminal(os.Stdout) || cli.IsTerminal(os.Stderr))
}

// askPrompt shows the stored session, and returns a prompt that the user types.
func (r *Runner) askPrompt(ctx context.Context) ([]string, error) {
	screen := os.Stdout
	if !cli.IsTerminal(screen) {
		screen = os.Stderr
	}
	if err := r.ShowSession(ctx, screen); err != nil {
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

// ShowSession shows the turns of the stored session that the chat continues.
func (r *Runner) ShowSession(ctx context.Context, screen *os.File) error {
	s, events, _, err := r.App.Sessions().Stored(ctx, r.Turn.Resume)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := sessions.Show(&b, cli.Screen(&b, screen, r.Getenv), s, events); err != nil {
		return err
	}
	_, err = b.WriteTo(screen)
	return err
}
