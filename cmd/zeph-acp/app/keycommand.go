package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/process/program"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// Limits of a command that prints a key. It may wait until the user has unlocked a password
// manager, or touched a sensor.
const (
	keyCommandTimeout = time.Minute
	keyCommandOutput  = 64 << 10 // bytes
)

// newCredentials returns the credentials of providers, for all sessions. They are masked from their first use on.
func (a *App) newCredentials() *provider.Credentials {
	return &provider.Credentials{
		Run: func(ctx context.Context, command []string) (string, error) {
			return a.runKeyCommand(ctx, keyCommandTimeout, command)
		},
		Learn: func(secrets ...string) {
			for _, s := range secrets {
				a.filters.learn(s)
			}
		},
		Given: func() { a.catalogue.Refresh(a.Config.LLM, a.Getenv) }, // which starts no command itself
	}
}

// runKeyCommand runs a command of the user and returns the key in its first line, . The program is the user's own, and may ask an agent or a server for the key: it has
// the whole environment and runs outside of the box, as no other program of [program.Runner] does.
// Its directory is the user's, so that no file of a project decides anything.
func (a *App) runKeyCommand(ctx context.Context, timeout time.Duration, command []string) (string, error) {
	name := command[0]
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(a.home, rest)
	}
	shown := filepath.Base(name) // the rest may hold a secret
	r := &program.Runner{Env: os.Environ(), Reaper: a.Reaper}
	out, err := r.Run(ctx, program.Command{
		Name: name, Args: command[1:], Dir: cmp.Or(a.home, os.TempDir()), MaxOutput: keyCommandOutput, Timeout: timeout,
	})
	first, _, _ := strings.Cut(string(out), "\n")
	if failed, ok := errors.AsType[*program.ExitError](err); ok {
		return "", fmt.Errorf("%s: %s", shown, a.explainExit(failed, strings.TrimSpace(first)))
	}
	if err != nil {
		return "", err
	}
	key, err := keys.CheckKey(first)
	if err != nil {
		return "", fmt.Errorf("%s: the first line of its output: %w", shown, err)
	}
	return key, nil
}

// explainExit returns how a command failed, with its last message. Printed is the first line of its
// output, which may be the key nevertheless.
func (a *App) explainExit(failed *program.ExitError, printed string) string {
	last := failed.Last
	if printed != "" {
		last = strings.ReplaceAll(last, printed, "[key]")
	}
	if last = a.filters.mask(a.Config.Tools.Filters.Security)(last); last == "" {
		return failed.How()
	}
	return failed.How() + ": " + last
}

// keyFeature says in /status where the key of the session's model comes from, if a command gives it.
func (b *sessionBuilder) keyFeature() Feature {
	return Feature{Name: "key", Status: func() []string {
		command := provider.KeyCommand(b.cfg.LLM, b.session.Model().Name())
		if len(command) == 0 {
			return nil
		}
		return []string{"Key: from the command " + filepath.Base(command[0])}
	}}
}
