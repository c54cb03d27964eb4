package acp

// Config is the table [acp]. All but the first key are about the connection, which serves
// more than one workspace.
type Config struct {
	Protocol            string `toml:"protocol" default:"v1" oneof:"v1,auto,v2" doc:"versions of the protocol: auto also serves version 2 to clients that ask for it, v2 nothing else"`
	TerminalTimeoutSecs int    `toml:"terminal_timeout_secs" default:"120" range:"0..86400" zero:"no limit" tighten:"limit" unit:"seconds" doc:"for a command in a terminal of the editor"`
	MaxLineBytes        int    `toml:"max_line_bytes" default:"64MiB" range:"1KiB..1GiB" unit:"bytes" doc:"of the longest frame that is read; a longer one is skipped, and its call fails"`
	MaxPromptTextBytes  int    `toml:"max_prompt_text_bytes" default:"1MiB" range:"1KiB..1GiB" unit:"bytes" doc:"of all text blocks of a prompt together"`
	MaxAttachmentBytes  int    `toml:"max_attachment_bytes" default:"20MiB" range:"1KiB..1GiB" unit:"bytes" doc:"of an image or an embedded file of a prompt, decoded"`
}
