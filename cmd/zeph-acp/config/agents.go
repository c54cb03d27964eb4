package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
)

// AddAgent appends a type of sub-agents to the configuration file, and returns the path of the
// file. It makes the file if there is none.
func AddAgent(o Options, t subagent.Type) (file string, err error) {
	return changeFile(o, func(data []byte) ([]byte, error) { return appendTable(data, agentText(t)), nil })
}

// agentText writes the keys of a type that differ from the defaults.
func agentText(t subagent.Type) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[[agents]]\nname = %s\n", executors.TOMLString(t.Name))
	for _, text := range []struct{ key, value string }{{"description", t.Description}, {"prompt", t.Prompt}, {"model", t.Model}} {
		if text.value != "" {
			fmt.Fprintf(&b, "%s = %s\n", text.key, executors.TOMLString(text.value))
		}
	}
	if t.Tools != nil {
		quoted := make([]string, len(t.Tools))
		for i, name := range slices.Sorted(slices.Values(t.Tools)) {
			quoted[i] = executors.TOMLString(name)
		}
		fmt.Fprintf(&b, "tools = [%s]\n", strings.Join(quoted, ", "))
	}
	if t.Worktree {
		b.WriteString("worktree = true\n")
	}
	return b.String()
}
