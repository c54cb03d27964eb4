package app

// ShellRules and PolicyConfig stand in for the types of executors/policy, so
// that everything else can be built before it is there.

// ShellRules are the keys of [tools.shell] that decide.
type ShellRules struct {
	AllowNetwork    bool     `toml:"allow_network"`
	BlockedCommands []string `toml:"blocked_commands"`
}

// Validate finds nothing wrong.
func (ShellRules) Validate() map[string]string { return nil }

// Tighten takes over more blocked commands.
func (c ShellRules) Tighten(repo ShellRules, has func(string) bool) (ShellRules, []string) {
	if has("blocked_commands") {
		c.BlockedCommands = append(c.BlockedCommands, repo.BlockedCommands...)
	}
	return c, nil
}

// PolicyConfig holds [[tools.permissions.TOOL]].
type PolicyConfig struct {
	Permissions map[string][]Rule `toml:"permissions"`
}

// Rule is one rule.
type Rule struct {
	Pattern string `toml:"pattern"`
	Action  string `toml:"action"`
}

// Validate finds nothing wrong.
func (PolicyConfig) Validate() map[string]string { return nil }

// Tighten takes nothing over.
func (c PolicyConfig) Tighten(_ PolicyConfig, _ func(string) bool) (PolicyConfig, []string) {
	return c, nil
}
