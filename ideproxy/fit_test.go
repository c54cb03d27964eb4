package ideproxy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
)

func TestFit(t *testing.T) {
	places := func(lines ...int) (all []acp.ToolCallLocation) {
		for _, line := range lines {
			all = append(all, acp.ToolCallLocation{Path: "/a", Line: line})
		}
		return all
	}
	call := func(kind, title string, lines ...int) acp.ToolCall {
		return acp.ToolCall{Kind: kind, Title: title, Locations: places(lines...)}
	}
	zed := acp.Implementation{Name: "zed", Version: "1.2.0"}
	for name, tt := range map[string]struct {
		client     acp.Implementation
		call, want acp.ToolCall
	}{
		"unknown client": {acp.Implementation{Name: "x"}, call("execute", "`ls`", 1, 2, 3, 4, 5, 6), call("execute", "`ls`", 1, 2, 3, 4, 5, 6)},
		"the best last":  {zed, call("search", "x in `a:b`", 10, 20, 30, 40, 50, 60), call("search", "x in `a:b`", 49, 39, 29, 19, 9)},
		"line of a read": {zed, call("read", "a", 1), call("read", "a", 0)},
		"whole file":     {zed, call("read", "a", 0), call("read", "a", 0)},
		"command":        {zed, call("execute", executors.Quoted("go test ./...")), call("execute", "go test ./...")},
		"background":     {zed, call("execute", executors.Quoted("make")+" in the background"), call("execute", "make in the background")},
		"job":            {zed, call("execute", "stop bg1 "+executors.Quoted("echo `date`")), call("execute", "stop bg1 echo `date`")},
		"no command":     {zed, call("execute", "check the project"), call("execute", "check the project")},
	} {
		t.Run(name, func(t *testing.T) {
			before := places(10, 20, 30, 40, 50, 60)
			if diff := cmp.Diff(tt.want, Fit(tt.client, tt.call)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if name == "the best last" && !cmp.Equal(before, tt.call.Locations) {
				t.Error("the locations of the call were changed")
			}
		})
	}
}
