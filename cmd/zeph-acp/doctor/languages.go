package doctor

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// languages reports which language servers are installed. It starts no server: some run the
// scripts of a project, so the user approves each there.
func (e *examination) languages(context.Context) []Finding {
	cfg := e.app.Config
	if !cfg.Tools.LSP.Enabled {
		return []Finding{passed("off")}
	}
	var out []Finding
	var installed []string
	for i, s := range cfg.LSP.All() {
		_, err := exec.LookPath(s.Command)
		switch {
		case !s.Enabled:
		case err == nil:
			installed = append(installed, s.Name)
		case i < len(cfg.LSP): // an entry of the user
			out = append(out, warning(fmt.Sprintf("%s: there is no program %s", s.Name, s.Command), "install it, or correct [[lsp]]"))
		}
	}
	if len(installed) > 0 {
		out = append(out, passed("installed: "+strings.Join(installed, ", ")))
	} else if len(out) == 0 {
		out = append(out, passed("none is installed; docs/code.md lists those that help"))
	}
	return out
}
