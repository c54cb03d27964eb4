package ideproxy

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
)

// maxFollowed bounds the locations for a client that opens each of them.
const maxFollowed = 5

// Fit adapts a tool call to the client that is named.
func Fit(client acp.Implementation, call acp.ToolCall) acp.ToolCall {
	q := quirksOf(client)
	if q.plainCommands && call.Kind == string(executors.KindExecute) {
		call.Title = unquoted(call.Title)
	}
	if q.followsLast && len(call.Locations) > 0 {
		call.Locations = slices.Clone(call.Locations[:min(len(call.Locations), maxFollowed)])
		slices.Reverse(call.Locations)
		for i := range call.Locations {
			call.Locations[i].Line = max(call.Locations[i].Line-1, 0) // 0 is left out, which is the first line as well
		}
	}
	return call
}

// TitlesTerminals reports whether the client takes the header of a terminal from the title of the next update.
func TitlesTerminals(client *acp.Client) bool { return quirksOf(client.Info()).titlesTerminals }

// unquoted returns a title whose code span, which [executors.Quoted] has written, is plain text.
func unquoted(title string) string {
	before, rest, ok := strings.Cut(title, "`")
	if !ok {
		return title
	}
	rest = "`" + rest
	fence := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
	inner, after, ok := strings.Cut(rest[len(fence):], fence)
	if !ok {
		return title
	}
	if trimmed, ok := strings.CutPrefix(inner, " "); ok && strings.HasSuffix(trimmed, " ") && strings.Contains(trimmed, "`") {
		inner = strings.TrimSuffix(trimmed, " ")
	}
	return before + inner + after
}
