//go:build unix

package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// A helper has the whole environment and the user's directory. Only the first line of its output counts, and
// whatever goes wrong, the error shows neither that line nor the arguments.
func TestKeyCommand(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HELPER_TOKEN", "of-the-user")
	l, err := config.Load(config.Options{Environ: []string{"HOME=" + home, "ZEPH_HOME=" + filepath.Join(home, "zeph")}})
	if err != nil {
		t.Fatal(err)
	}
	a := New(l, slog.New(slog.DiscardHandler))
	defer a.Close()
	const key = "sk-printed-Zk3vQ9xT7mN2"
	for name, tt := range map[string]struct {
		script  string
		key     string
		err     string // a part of it
		timeout time.Duration
	}{
		"a key":            {script: "echo " + key, key: key},
		"its first line":   {script: "printf ' " + key + "\\r\\nmore\\n'; echo noise >&2", key: key},
		"environment":      {script: `echo "$HELPER_TOKEN"`, key: "of-the-user"},
		"directory":        {script: "pwd -P", key: mustReal(t, home)},
		"argument":         {script: `echo "$1"`, key: "secret-argument"},
		"nothing":          {script: "true", err: "helper: the first line of its output: the key is empty"},
		"an empty line":    {script: "echo; echo " + key, err: "the key is empty"},
		"no key":           {script: "echo " + key + " and more", err: "helper: the first line of its output: not a key"},
		"too much":         {script: "yes " + key, err: "its output is too long"},
		"exit status":      {script: "exit 3", err: "helper: exit status 3"},
		"its last message": {script: "echo first >&2; echo 'not signed in' >&2; echo >&2; exit 1", err: "helper: exit status 1: not signed in"},
		"key in a message": {script: "echo " + key + "; echo it was " + key + " >&2; exit 1", err: "exit status 1: it was ["},
		"a secret in it":   {script: "echo password=hunter2hunter2 >&2; exit 1", err: "exit status 1: password=["},
		"too slow":         {script: "echo " + key + "; sleep 999", err: "did not end within 100ms", timeout: 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(home, "helper")
			if err := os.WriteFile(file, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			timeout := max(tt.timeout, keyCommandTimeout)
			if tt.timeout > 0 {
				timeout = tt.timeout
			}
			got, err := a.runKeyCommand(t.Context(), timeout, []string{"~/helper", "secret-argument"})
			if got != tt.key || (err == nil) != (tt.err == "") {
				t.Fatalf("got %q, %v, want %q, %q", got, err, tt.key, tt.err)
			}
			if err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got the error %v, want %q in it", err, tt.err)
			}
			if err != nil && (strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "secret-argument") || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
	if err := os.WriteFile(filepath.Join(home, "helper"), []byte("#!/bin/sh\necho "+key+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := provider.Config{Providers: []provider.Provider{{Type: provider.TypeClaude, APIKeyCmd: []string{"~/helper"}}}}
	m, err := provider.Select(cfg, a.Getenv, &a.servers, "")
	if err == nil {
		err = llm.FetchKey(t.Context(), m)
	}
	if err != nil {
		t.Fatal(err)
	}
	if masked := a.filters.mask(l.Config.Tools.Filters.Security)("x " + key + " y"); strings.Contains(masked, key) {
		t.Errorf("the key is not masked: %s", masked)
	}
	why := errors.New("no more")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := a.runKeyCommand(ctx, time.Minute, []string{"sleep", "999"}); !errors.Is(err, why) {
		t.Errorf("cancelled: got %v, want the cause", err)
	}
	if _, err := a.runKeyCommand(t.Context(), time.Minute, []string{"no-such-helper"}); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("not installed: got %v", err)
	}
}

// mustReal returns a path without links.
func mustReal(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}
