package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// TestPythonMCPServer calls a public server that is written in Python. MCP_GIT is the
// path of mcp-server-git.
func TestPythonMCPServer(t *testing.T) {
	t.Parallel()
	server := os.Getenv("MCP_GIT")
	if server == "" {
		t.Skip("needs Python and the network: pip install mcp-server-git==2026.10.19, then MCP_GIT=…/bin/mcp-server-git")
	}
	a := launch(t, start{config: allowMCP})
	if out, err := exec.Command("git", "-C", a.dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	a.initialize()
	s := a.openWith(fmt.Sprintf(`{"name":"git","command":%q,"args":[],"env":[]}`, server))
	a.untilReady(s, "git")
	a.checkContains(a.turnOf(s, `/git__git_status {"repo_path":`+quote(a.dir)+`}`), "Repository status", "No commits yet")
	a.checkContains(a.turnOf(s, `/git__git_status {"repo_path":"/nonexistent"}`), `"status":"failed"`)
}

// TestLaunchedMCPServersEnd ends sessions and agents whose server was started by npx,
// which starts it through a shell.
func TestLaunchedMCPServersEnd(t *testing.T) {
	npx := strings.Fields(os.Getenv("MCP_NPX"))
	if len(npx) == 0 {
		t.Skip(`needs Node and the network: MCP_NPX="npx -y"`)
	}
	for name, end := range sessionEnds {
		t.Run(name, func(t *testing.T) {
			a := connect(t, start{config: allowMCP, env: []string{"npm_config_cache=" + filepath.Join(machine.Home(t), ".npm")}})
			s := a.openWith(fmt.Sprintf(`{"name":"everything","command":%q,"args":["-y","@modelcontextprotocol/server-everything@%s"],"env":[]}`, npx[0],
				everythingVersion))
			a.untilReady(s, "everything")
			pids := slices.DeleteFunc(children([]int{a.cmd.Process.Pid}), func(pid int) bool {
				args, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
				return err != nil || !strings.Contains(string(args), "server-everything")
			})
			if len(pids) < 2 {
				t.Errorf("%d processes, want npx and its child", len(pids))
			}
			end(a, s)
			for _, pid := range pids {
				eventually(t, promptly, "the end of the servers", func() bool { return !alive(pid) })
			}
		})
	}
}
