package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// reflection returns a note for the model after the turn's first failure that its own
// call caused. It is empty for every other failure: one note helps, more do not.
func (r *runningCall) reflection(res executors.Result) string {
	switch {
	case !res.Failed || !res.Category().Quality() || r.call.Origin != executors.Model:
		return ""
	case len(r.tools) == 0: // the failure contains all information
		return ""
	}
	tool := r.call.Spec
	ok := tool.Name != ""
	if ok && res.Category() == executors.ToolNotFound { // it waits for another tool, so the call is correct
		return ""
	}
	if !r.reflected.CompareAndSwap(false, true) {
		return ""
	}
	const ask = "\n\n[reflect] Before you call a tool again, find out what was wrong with this call."
	switch {
	case ok && executors.Fits(tool, r.call.Input) != nil:
		return fmt.Sprintf("%s The input of %s must fit this schema: %s", ask, tool.Name, schemaOf(tool))
	case ok:
		return ask + " The input has the right form, but a value in it is wrong: look it up instead of guessing."
	}
	if names := executors.Closest(r.tools, r.call.Tool); len(names) > 0 {
		return fmt.Sprintf("%s The tools whose names come close: %s", ask, strings.Join(names, ", "))
	}
	return ask + " No tool has a similar name; read the tool descriptions."
}

func schemaOf(tool executors.Tool) string {
	var b bytes.Buffer
	if json.Compact(&b, tool.Schema) != nil {
		return "{}"
	}
	return line.Truncate(b.String(), maxNoted)
}
