package permission

import "github.com/zeph-acp/zeph-acp/executors/command"

// serviceKey returns the key and the extent of the "always" for a command that only asks a daemon or
// a server. It covers all such commands of the program, and no other.
func serviceKey(c *command.Command) (key, covers string) {
	name := c.AsksService()
	return "reads " + name, "reading commands of " + quote(name)
}
