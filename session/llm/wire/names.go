package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// maxToolName is the longest name of a tool, in characters.
// https://developers.openai.com/api/reference/resources/chat
const maxToolName = 64

// ToolNames translates the names of tools that an API would refuse.
type ToolNames struct {
	wire    map[string]string // ours -> the API's
	Ours    map[string]string // the API's -> ours
	renamed string
}

// NewToolNames returns names that the API accepts, one for each tool. They are not
// changed afterwards.
func NewToolNames(tools []llm.Tool) ToolNames {
	n := ToolNames{wire: map[string]string{}, Ours: map[string]string{}}
	var renamed []string
	for _, t := range tools {
		wire := shorten(safeToolName(t.Name), maxToolName)
		for i := 2; n.Ours[wire] != ""; i++ {
			end := fmt.Sprintf("_%d", i)
			wire = shorten(safeToolName(t.Name), maxToolName-len(end)) + end
		}
		n.wire[t.Name], n.Ours[wire] = wire, t.Name
		if wire != (ToolNames{}).ToWire(t.Name) {
			renamed = append(renamed, t.Name+" "+wire)
		}
	}
	slices.Sort(renamed)
	n.renamed = strings.Join(renamed, "\n")
	return n
}

// Renamed lists the tools whose names differ from those that ToWire returns for a tool
// that is not offered.
func (n ToolNames) Renamed() string { return n.renamed }

// ToWire returns the API's name of a tool, which need not be offered.
func (n ToolNames) ToWire(name string) string {
	if wire, ok := n.wire[name]; ok {
		return wire
	}
	return shorten(safeToolName(name), maxToolName)
}

// safeToolName returns a name that also begins as Gemini requires: with a letter or "_".
func safeToolName(name string) string {
	name = llm.SafeName(name)
	if first := name[0]; first == '-' || '0' <= first && first <= '9' {
		return "_" + name
	}
	return name
}

// FromWire returns our name of a tool that the model named.
func (n ToolNames) FromWire(wire string) string {
	if name, ok := n.Ours[wire]; ok {
		return name
	}
	return wire
}

func shorten(s string, n int) string { return s[:min(len(s), n)] }
