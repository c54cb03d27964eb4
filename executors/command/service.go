package command

import "github.com/zeph-acp/zeph-acp/executors/command/plain"

// AsksService returns the name of the program if the command only asks a daemon or a server, as
// "docker ps" does; "" for any other command. The table of package plain declares its options.
func (c *Command) AsksService() string {
	if len(c.Assigns) > 0 || c.Guess || c.Prefixed() {
		return ""
	}
	words := make([]plain.Word, len(c.Words))
	for i, w := range c.Words {
		if words[i] = plain.Literal(w.Text); !w.Literal || w.Glob {
			words[i] = plain.Computed(w.Text)
		}
	}
	return plain.AsksService(words)
}
