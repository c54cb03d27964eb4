package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
)

// TestRecordingReplays replays a recording with the same binary in another
// directory, at another time and with another environment.
func TestRecordingReplays(t *testing.T) {
	const answers = `{"tool":"read","input":{"path":"main.go"}}

{"tool":"bash","input":{"command":"make"}}

{"text":"done"}
`
	for name, c := range map[string]struct {
		config  func(model string) string
		prompts []string
		model   string // of the fixture
	}{
		"direct": {func(string) string { return "" }, []string{"/read main.go", "/bash make", "/status"}, ""},
		"script": {func(model string) string {
			return "[[llm.providers]]\ntype = \"script\"\nmodel = '" + model + "'\ncontext_window = 100000\n"
		}, []string{"build it", "/status", "/model"}, answers},
	} {
		t.Run(name, func(t *testing.T) {
			root := home(t)
			model, recording := filepath.Join(root, "model.jsonl"), filepath.Join(root, "recorded.txtar")
			if err := os.WriteFile(model, []byte(answers), 0o600); err != nil {
				t.Fatal(err)
			}
			e := (&ide{caps: fakeide.CanAll()}).begin(t, start{
				root: root, config: c.config(model), args: []string{"--record", recording, "serve"},
				env: []string{"GIT_PAGER=less", "FOO_API_KEY=secret"},
			})
			e.SetBuffer(filepath.Join(e.dir, "main.go"), "package main\n")
			e.script("make", "echo made")
			s := e.session()
			for _, p := range c.prompts {
				e.prompt(s, p)
			}
			if _, err := e.conn.ListSessions(t.Context(), sdk.ListSessionsRequest{}); err != nil {
				t.Fatal(err)
			}
			e.stop()

			data := read(t, recording)
			if strings.Contains(data, root) {
				t.Errorf("the recording has this machine's directories:\n%s", data)
			}
			if c.model != "" {
				data += "-- model.jsonl --\n" + c.model
			}
			write(t, recording, data)
			replay := exec.CommandContext(t.Context(), binary, "replay", recording)
			replay.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
			if out, err := replay.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "ok ") {
				t.Errorf("%v\n%s\n%s", err, out, data)
			}
		})
	}
}
