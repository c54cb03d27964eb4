package doctor

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/editors"
)

// editors reports which of the installed editors start zeph-acp.
func (e *examination) editors(context.Context) []Finding {
	p := editors.Places{System: runtime.GOOS, Home: config.HomeDir(e.getenv), Getenv: e.getenv}
	var out []Finding
	for _, editor := range editors.All() {
		if editor.Installed(p) {
			out = append(out, editorFinding(editor, p))
		}
	}
	if len(out) == 0 {
		return []Finding{passed("no known editor is installed here")}
	}
	return out
}

// editorFinding returns the finding about one installed editor.
func editorFinding(e editors.Editor, p editors.Places) Finding {
	setup := fmt.Sprintf("%q shows what it needs", "zeph-acp setup "+e.Name)
	command, err := e.Connected(p)
	switch {
	case err != nil:
		return warning(fmt.Sprintf("the settings of %s cannot be read: %v", e.Title, err), "make the file readable")
	case command == "":
		return passed(fmt.Sprintf("%s: not connected; %s", e.Title, setup))
	case !e.HasFile():
		return passed(fmt.Sprintf("%s: zeph-acp is named in %s", e.Title, command))
	}
	if _, err := exec.LookPath(command); err != nil {
		return warning(fmt.Sprintf("%s: starts %s, which is not a program", e.Title, command), setup)
	}
	return passed(fmt.Sprintf("%s: starts %s (%s)", e.Title, command, e.File(p)))
}
