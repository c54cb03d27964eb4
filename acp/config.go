package acp

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [acp].
type Config struct {
	// TerminalTimeoutSecs is how long a command may run in a terminal of the
	// client, in seconds. Default 120; 0 means no limit.
	TerminalTimeoutSecs int `toml:"terminal_timeout_secs"`
	// MaxLineBytes is the longest accepted frame, in bytes; a longer line is
	// skipped. Default 64 MiB, from 1 KiB to 1 GiB.
	MaxLineBytes int `toml:"max_line_bytes"`
	// MaxQueueBytes is how many bytes may be queued for writing before session
	// updates wait. Default 4 MiB, from 1 KiB to 1 GiB.
	MaxQueueBytes int `toml:"max_queue_bytes"`
	// MaxPromptTextBytes is the total size of the text blocks of a prompt, in
	// bytes. Default 1 MiB, from 1 KiB to 1 GiB.
	MaxPromptTextBytes int `toml:"max_prompt_text_bytes"`
	// MaxAttachmentBytes is the decoded size of an image, a recording or an
	// embedded resource of a prompt, in bytes. Default 20 MiB, from 1 KiB to 1
	// GiB; max_line_bytes limits the whole prompt.
	MaxAttachmentBytes int `toml:"max_attachment_bytes"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{
		TerminalTimeoutSecs: 120, MaxLineBytes: 64 << 20, MaxQueueBytes: 4 << 20,
		MaxPromptTextBytes: 1 << 20, MaxAttachmentBytes: 20 << 20,
	}
}

// Validate returns a message for each invalid value, by key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	check := func(key string, n, low, high int) {
		if n < low || n > high {
			wrong[key] = fmt.Sprintf("%d is not from %d to %d", n, low, high)
		}
	}
	check("terminal_timeout_secs", c.TerminalTimeoutSecs, 0, 86400)
	check("max_line_bytes", c.MaxLineBytes, 1<<10, 1<<30)
	check("max_queue_bytes", c.MaxQueueBytes, 1<<10, 1<<30)
	check("max_prompt_text_bytes", c.MaxPromptTextBytes, 1<<10, 1<<30)
	check("max_attachment_bytes", c.MaxAttachmentBytes, 1<<10, 1<<30)
	return wrong
}

// Tighten adopts a shorter terminal timeout of the repository's file. The other settings
// apply to the connection, which serves more than one workspace.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	tighten.LowerOptional(keys, "terminal_timeout_secs", &c.TerminalTimeoutSecs, repo.TerminalTimeoutSecs)
	return c
}
