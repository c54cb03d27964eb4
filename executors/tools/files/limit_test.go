package files

import (
	"context"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// An input that would take unbounded memory or time is refused first.
func TestLimits(t *testing.T) {
	roots, err := workspace.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	disk := Disk{Roots: roots}
	if err := disk.WriteFile(t.Context(), roots.Cwd()+"/y", strings.Repeat("y", 9<<20)); err != nil {
		t.Fatal(err)
	}
	tools := New(disk, roots, setting.Default[Config](), nil)
	for name, tt := range map[string]struct{ tool, input, want string }{
		"an edit that explodes": {"edit", `{"path":"y","old_string":"y","new_string":"` + strings.Repeat("z", 1<<16) + `","replace_all":true}`, "would grow"},
		"a glob of braces":      {"find_path", `{"pattern":"` + strings.Repeat("{a,a}", 40) + `"}`, "too large"},
		"an include of braces":  {"grep", `{"pattern":"x","include":"` + strings.Repeat("{a,a}", 40) + `"}`, "too large"},
		"a huge regex":          {"grep", `{"pattern":"` + strings.Repeat("x", 1<<16) + `"}`, "too large"},
	} {
		_, err := tools.Prepare(t.Context(), &executors.Call{Tool: tt.tool, Input: []byte(tt.input)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// A path that leads elsewhere than when the call was checked is not written.
func TestPathMovedAfterPrepare(t *testing.T) {
	roots, err := workspace.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	disk := Disk{Roots: roots}
	tools := New(disk, roots, setting.Default[Config](), nil)
	call := &executors.Call{Tool: "write", Input: []byte(`{"path":"a","content":"x"}`), Card: executors.Card{Paths: []string{roots.Cwd() + "/other"}}}
	res, err := tools.Execute(t.Context(), call)
	if err != nil || res.Category() != executors.PolicyBlocked {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := disk.ReadFile(context.Background(), roots.Cwd()+"/a"); err == nil {
		t.Error("the file was written")
	}
}
