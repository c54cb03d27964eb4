package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// sdkStep2 is a step of testdata/sdk_client_v2.mjs.
type sdkStep2 struct {
	Prompt string `json:"prompt,omitempty"`
	Steer  string `json:"steer,omitempty"`
	Cancel bool   `json:"cancel,omitempty"`
	Stop   bool   `json:"stop,omitempty"`
	Resume bool   `json:"resume,omitempty"`
	Answer string `json:"answer,omitempty"`
}

// checkSDKClient2 plays a whole session of version 2 with a client of an SDK: tools, questions, a second prompt at work, a
// cancel, a sub-agent, a command in the background and a resume. testdata/sdk_client/version2.txt is what a user sees
// with any SDK.
func checkSDKClient2(t *testing.T, env string, argv ...string) {
	t.Helper()
	call := func(tool string, input map[string]any) fakemodel.Reply {
		return fakemodel.Answer(fakemodel.Call("c1", tool, input))
	}
	said := func(text string) fakemodel.Reply { return fakemodel.Answer(fakemodel.Say(text)) }
	p := fakemodel.NewAnthropic(t,
		call("write", map[string]any{"path": "a.txt", "content": "two\n"}), call("bash", map[string]any{"command": "touch b.txt; cat a.txt"}), said("Changed."),
		call("delete_path", map[string]any{"path": "b.txt"}), said("I leave it."),
		call("bash", map[string]any{"command": "until test -e steered; do sleep 0.05; done"}), said("I leave the tests alone."),
		call("bash", map[string]any{"command": "sleep 60"}),
		call("sub_agent", map[string]any{"type": "reader", "task": "Read a.txt."}), call("read", map[string]any{"path": "a.txt"}), said("It says two."), said("Two."),
		call("bash", map[string]any{"command": "sleep 61", "background": true}), said("It runs."),
	)
	root := home(t)
	write(t, filepath.Join(root, "work/a.txt"), "one\n")
	write(t, filepath.Join(root, "zeph/config.toml"), "[[agents]]\nname = \"reader\"\ntools = [\"read\"]\n")
	got := runSDKClient(t, root, p, env, argv, []sdkStep2{
		{Prompt: "change a.txt"},
		{Prompt: "delete b.txt", Answer: "reject_once"},
		{Prompt: "work", Answer: "allow_once", Steer: "Leave the tests alone"},
		{Prompt: "wait", Cancel: true},
		{Prompt: "ask the reader"},
		{Prompt: "start it"},
		{Stop: true},
		{Resume: true},
	})
	want, err := os.ReadFile("testdata/sdk_client/version2.txt")
	if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
		t.Errorf("%v: the client shows (-want +got)\n%s", err, diff)
	}
}

// TestSDKClient2 plays the session with the client of version 2 in the TypeScript SDK.
func TestSDKClient2(t *testing.T) {
	sdk := os.Getenv("ACP_SDK")
	if sdk == "" {
		t.Skip(`needs Node and the network: npm install --prefix DIR @agentclientprotocol/sdk@2.4.0; ACP_SDK=DIR go test -run SDKClient ./integration`)
	}
	checkSDKClient2(t, "ACP_SDK="+sdk, "node", testdata(t, "sdk_client_v2.mjs"))
}

// TestRustSDKClient2 plays the session with the client of version 2 in the Rust SDK, which takes more than a minute to build.
func TestRustSDKClient2(t *testing.T) {
	if !*long {
		t.Skip("builds the Rust SDK and its 140 dependencies, which takes more than a minute: go test -run RustSDKClient ./integration -long")
	}
	if _, err := exec.LookPath("cargo"); err != nil {
		t.Skip("cargo is not in PATH: install Rust to build the client of its SDK")
	}
	dir := filepath.Join(t.TempDir(), "client") // a build writes beside the sources
	if err := os.CopyFS(dir, os.DirFS("testdata/sdk_client_v2")); err != nil {
		t.Fatal(err)
	}
	cargo := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "cargo", args...)
		cmd.Dir = dir
		return cmd.CombinedOutput()
	}
	if out, err := cargo("fetch"); err != nil {
		t.Skipf("cargo cannot download the Rust SDK: %v\n%s", err, out)
	}
	target := os.Getenv("CARGO_TARGET_DIR") // has the dependencies of earlier builds
	if target == "" {
		target = filepath.Join(dir, "target")
	}
	if out, err := cargo("build", "--target-dir", target); err != nil {
		t.Fatalf("cargo build: %v\n%s", err, out)
	}
	checkSDKClient2(t, "", filepath.Join(target, "debug", "sdk_client_v2"))
}
