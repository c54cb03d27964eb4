package app

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
)

func TestNewLogger(t *testing.T) {
	for level, want := range map[string]struct{ stderr, file string }{
		"error": {"E", "WE"},
		"warn":  {"WE", "WE"},
		"info":  {"IWE", "IWE"},
		"debug": {"DIWE", "DIWE"},
	} {
		t.Run(level, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "new", "zeph.log")
			var stderr strings.Builder
			log, closeFile, err := NewLogger(config.LogConfig{Level: level, File: file}, os.Getenv, &stderr)
			if err != nil {
				t.Fatal(err)
			}
			log.Debug("D")
			log.Info("I")
			log.Warn("W")
			log.Error("E")
			if err := closeFile(); err != nil {
				t.Fatal(err)
			}
			inFile, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := messages(stderr.String()); got != want.stderr {
				t.Errorf("stderr has %s, want %s", got, want.stderr)
			}
			if got := messages(string(inFile)); got != want.file {
				t.Errorf("the file has %s, want %s", got, want.file)
			}
			if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("the file has the mode %v, %v, want 0600", info.Mode(), err)
			}
		})
	}
	if _, _, err := NewLogger(config.LogConfig{Level: "error", File: t.TempDir()}, os.Getenv, &strings.Builder{}); err == nil || !strings.Contains(err.Error(),
		"log.file") {
		t.Errorf("a directory as the log file: %v", err)
	}
}

// messages joins the messages of a log.
func messages(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		_, msg, _ := strings.Cut(strings.TrimSpace(line), "msg=")
		b.WriteString(msg)
	}
	return b.String()
}
