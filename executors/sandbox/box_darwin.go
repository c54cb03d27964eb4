package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/process"
)

type system struct{}

// boxMissing returns why there is no box, or "". The trial is made once.
var boxMissing = sync.OnceValue(func() string {
	if _, err := os.Stat(sandboxExec); err != nil {
		return err.Error()
	}
	return seatbeltProblem(func(path string, args ...string) error {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if text := strings.TrimSpace(string(out)); err != nil && text != "" {
			return fmt.Errorf("%w: %s", err, text)
		}
		return err
	})
})

func newBox(session Session) *Box {
	if boxMissing() != "" {
		return nil
	}
	return &Box{session: session}
}

func (b *Box) ready() error {
	s, err := newSeatbelt(b.session)
	if err != nil {
		return err
	}
	return s.check()
}

func (b *Box) confined(prog process.Program) (process.Program, error) {
	s, err := newSeatbelt(b.session)
	if err != nil {
		return prog, err
	}
	return s.confined(prog)
}

// rules returns no rules: a terminal's commands run here, so no launcher needs any.
func (b *Box) rules() (json.RawMessage, error) { return nil, errors.ErrUnsupported }

func restriction(json.RawMessage) (process.Restriction, error) { return nil, errors.ErrUnsupported }

func (b *Box) state() string {
	s, err := newSeatbelt(b.session)
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return "Box: commands are asked about for now: " + err.Error()
	}
	return s.describe()
}
