package files

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Each result has the raw output and the locations for its client.
func TestRawAndLocations(t *testing.T) {
	for _, tt := range []struct {
		tool      string
		input     in
		raw       string // with W for the directory
		locations string // path:line, with W for the directory
	}{
		{"read", in{"path": "a.txt", "offset": 1, "limit": 1}, `{"path":"W/a.txt","first_line":2,"lines":1,"total_lines":3,"truncated":true}`, "W/a.txt:2"},
		{"write", in{"path": "new", "content": "x"}, `{"path":"W/new","created":true,"bytes":1}`, "W/new:0"},
		{"edit", in{"path": "a.txt", "old_string": "two", "new_string": "2"}, `{"path":"W/a.txt","created":false,"bytes":12,"line":2}`, "W/a.txt:2"},
		{"find_path", in{"pattern": "**"}, `{"matches":3,"paths":["W/a.txt","W/sub/","W/sub/b.txt"],"truncated":false}`, "W/a.txt:0 W/sub/b.txt:0"},
		{"list_directory", in{}, `{"path":"W","directories":1,"files":1,"symlinks":0,"other":0,"truncated":false}`, "W/a.txt:0"},
		{"grep", in{"pattern": "t[wh]"}, `{"matches":4,"files":2,"places":[{"path":"W/a.txt","line":2},{"path":"W/sub/b.txt","line":3}],"truncated":false}`,
			"W/a.txt:2 W/sub/b.txt:3"},
		{"grep", in{"pattern": "three", "path": "sub/b.txt", "context": 1}, `{"matches":1,"files":1,"places":[{"path":"W/sub/b.txt","line":4}],"truncated":false}`,
			"W/sub/b.txt:4"},
		{"grep", in{"pattern": "none"}, `{"matches":0,"files":0,"places":[],"truncated":false}`, ""},
		{"create_directory", in{"path": "d"}, `{"path":"W/d","created":true}`, ""},
		{"create_directory", in{"path": "sub"}, `{"path":"W/sub","created":false}`, ""},
		{"copy_path", in{"source": "a.txt", "destination": "c.txt"}, `{"source":"W/a.txt","destination":"W/c.txt"}`, "W/c.txt:0"},
		{"move_path", in{"source": "sub", "destination": "moved"}, `{"source":"W/sub","destination":"W/moved"}`, ""},
		{"delete_path", in{"path": "sub"}, `{"path":"W/sub","files":1,"directories":1,"bytes":15}`, ""},
	} {
		b := newBench(t, map[string]string{"a.txt": "one\ntwo\nthree\n", "sub/b.txt": "\none\ntwo\nthree\n"})
		res := b.run(tt.tool, tt.input)
		raw, err := json.Marshal(res.Raw)
		if got := strings.ReplaceAll(string(raw), b.dir, "W"); err != nil || got != tt.raw {
			t.Errorf("%s %v: raw %s, %v\nwant %s", tt.tool, tt.input, got, err, tt.raw)
		}
		var places []string
		for _, l := range res.Locations {
			places = append(places, fmt.Sprintf("%s:%d", strings.ReplaceAll(l.Path, b.dir, "W"), l.Line))
		}
		if diff := cmp.Diff(tt.locations, strings.Join(places, " ")); diff != "" {
			t.Errorf("%s %v: locations (-want +got)\n%s", tt.tool, tt.input, diff)
		}
	}
}

func TestMaxPlaces(t *testing.T) {
	files := map[string]string{}
	for i := range maxPlaces + 7 {
		files[fmt.Sprintf("f%02d", i)] = "x\n"
	}
	b := newBench(t, files)
	for tool, input := range map[string]in{"grep": {"pattern": "x"}, "find_path": {"pattern": "f*"}, "list_directory": {}} {
		res := b.run(tool, input)
		if want := (executors.Location{Path: b.path("f00"), Line: map[string]int{"grep": 1}[tool]}); len(res.Locations) != maxPlaces || res.Locations[0] != want {
			t.Errorf("%s: %d locations, the first %+v", tool, len(res.Locations), res.Locations[0])
		}
	}
	if raw := b.run("grep", in{"pattern": "x"}).Raw.(rawMatches); raw.Files != maxPlaces+7 || len(raw.Places) != maxPlaces {
		t.Errorf("grep: %d files, %d places", raw.Files, len(raw.Places))
	}
}
