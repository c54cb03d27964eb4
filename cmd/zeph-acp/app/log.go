package app

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
)

// NewLogger returns a logger that writes records of cfg.Level and above to
// stderr. If cfg.File is set, the same lines and all warnings are appended to
// that file, which is private to the user; closeFile closes it. Getenv names
// the home directory.
func NewLogger(
	cfg config.LogConfig, getenv func(string) string, stderr io.Writer,
) (logger *slog.Logger, closeFile func() error, err error) {
	level := logLevel(cfg.Level)
	handler := slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})
	if cfg.File == "" {
		return slog.New(handler), func() error { return nil }, nil
	}
	file := LogFile(cfg, getenv)
	err = keys.MakeDir(filepath.Dir(file))
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("opening the log file (log.file): %w", err)
	}
	inFile := slog.NewTextHandler(f, &slog.HandlerOptions{Level: min(level, slog.LevelWarn)})
	return slog.New(slog.NewMultiHandler(handler, inFile)), f.Close, nil
}

// LogFile returns the path of the log file that cfg names.
func LogFile(cfg config.LogConfig, getenv func(string) string) string {
	if rest, ok := strings.CutPrefix(cfg.File, "~/"); ok {
		if home := config.HomeDir(getenv); home != "" {
			return filepath.Join(home, rest)
		}
	}
	return cfg.File
}

func logLevel(name string) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return slog.LevelError
	}
	return level
}
