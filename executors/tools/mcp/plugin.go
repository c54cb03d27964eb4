package mcp

import (
	"errors"
	"fmt"
	"maps"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// Plugin is a plug-in of the user that has servers.
type Plugin struct {
	Name      string
	Variables map[string]string // replace ${NAME} in the entries, and are set for the programs
	// Verify returns an error if the plug-in has changed since the user approved it. It is called before each start.
	Verify func() error
}

// ParsePlugin returns the servers of a plug-in, from a file of the usual format. Their names begin with the plug-in's name,
// so that no rule for a server of the user applies to them. getenv and reserved are as for ParseProject: a plug-in
// must not send the keys of providers anywhere either.
func ParsePlugin(p Plugin, data []byte, getenv func(string) string, reserved func(name string) bool) ([]Server, error) {
	entries, wrong := ParseFile(data)
	var servers []Server
	for _, e := range entries {
		err := e.expandFor(getenv, reserved, p.Variables)
		if err == nil {
			err = firstOf(setting.Check(e))
		}
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", e.Name, err))
			continue
		}
		e.Name = PluginServer(p.Name, e.Name)
		if e.Command != "" {
			env := maps.Clone(p.Variables)
			maps.Copy(env, e.Env)
			e.Env = env
		}
		e.Guarded, e.verify = true, p.Verify
		servers = append(servers, e)
	}
	return servers, wrong
}

// PluginServer returns the name of a plug-in's server, which is also its name in rules.
func PluginServer(plugin, server string) string { return "plugin_" + plugin + "_" + server }

// expandFor replaces the variables in an entry of a file that is not the user's own, and checks it. own are more variables, which
// come first.
func (s *Server) expandFor(getenv func(string) string, reserved func(name string) bool, own map[string]string) error {
	var refused error
	err := s.expand(func(name string) string {
		if value, ok := own[name]; ok {
			return value
		}
		if reserved(name) {
			refused = fmt.Errorf("${%s} belongs to a model provider or to zeph-acp, and no file of a project or a plug-in may use it; the user's own config.toml may", name)
			return ""
		}
		return getenv(name)
	})
	if refused != nil {
		return refused
	}
	return err
}
