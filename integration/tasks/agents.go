package main

import "slices"

// agents are the agents that can do the tasks, ours first.
var agents = slices.Concat([]*agent{
	{
		name: "zeph-acp",
		start: func(base, prompt string) (args, env []string, files map[string]string) {
			return []string{"run", "--yes", prompt}, []string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=" + base}, nil
		},
		tools: map[verb]translation{
			runs: {"bash", func(c call, _ string) any { return object{"command": c.command} }},
			reads: {"read", func(c call, _ string) any {
				if c.to == 0 {
					return object{"path": c.path}
				}
				return object{"path": c.path, "offset": c.from - 1, "limit": c.to - c.from + 1}
			}},
			edits:    {"edit", func(c call, _ string) any { return object{"path": c.path, "old_string": c.old, "new_string": c.new} }},
			searches: {"grep", func(c call, _ string) any { return object{"path": c.path, "pattern": c.pattern} }},
		},
	},
}, peers)
