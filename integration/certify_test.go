package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/certify"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// certifiedClient is a variable: where it is set, this test binary is a client whose only argument is
// the program of its agent.
const certifiedClient = "CERTIFIED_CLIENT"

// runCertifiedClient sends one prompt. SIGINT cancels it.
func runCertifiedClient(agent string) error {
	cmd := exec.Command(agent)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	if err := cmd.Start(); err != nil {
		return err
	}
	ide := &fakeide.IDE{Saves: true}
	ide.Start(nil)
	conn := sdk.NewClientSideConnection(ide, in, out)
	ctx := context.Background()
	if _, err := conn.Initialize(ctx, sdk.InitializeRequest{
		ProtocolVersion: 1, ClientInfo: &sdk.Implementation{Name: "certified", Version: "1"},
		ClientCapabilities: sdk.ClientCapabilities{Fs: sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}},
	}); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	s, err := conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: dir, McpServers: []sdk.McpServer{}})
	if err != nil {
		return err
	}
	go func() {
		<-interrupts
		_ = conn.Cancel(ctx, sdk.CancelNotification{SessionId: s.SessionId}) // the agent may have ended
	}()
	if _, err := conn.Prompt(ctx, sdk.PromptRequest{SessionId: s.SessionId, Prompt: []sdk.ContentBlock{sdk.TextBlock("hi")}}); err != nil {
		return err
	}
	return errors.Join(in.Close(), cmd.Wait())
}

// TestCertify certifies a client of the Go SDK whose buffers ignore the lines that are asked for.
func TestCertify(t *testing.T) {
	t.Parallel()
	if filepath.Separator != '/' {
		t.Skip("certify cancels a turn by sending SIGINT to the client, and Windows has no SIGINT")
	}
	client := certifiedClient + "=1 " + testBinary(t) + " {agent}"
	r, status := certifyWith(t, t.TempDir(), client, "--scenario", "stream,read,write,allow-once,reject-once,cancel,malformed,notices")
	if status != 1 || r.Client.Name != "certified" || r.Protocol != 1 {
		t.Errorf("exit status %d, client %+v, version %d", status, r.Client, r.Protocol)
	}
	if len(r.Broken) != 1 || r.Broken[0].Statement != "file-content" || !strings.Contains(r.Broken[0].Frames[0].Line, `"line":2`) {
		t.Errorf("broken: %+v, want file-content alone", r.Broken)
	}
	results := map[string]string{}
	for _, s := range r.Scenarios {
		results[s.Name] = s.Result
	}
	for name, want := range map[string]string{
		"stream": certify.Passed, "read": certify.Broken, "write": certify.Passed, "allow-once": certify.Passed, "reject-once": certify.NotTried,
		"cancel": certify.Passed, "malformed": certify.Passed, "notices": certify.NotDeclared, "load": certify.NotTried, "diffs": certify.NotTried,
	} {
		if results[name] != want {
			t.Errorf("the scenario %s is %q, want %q", name, results[name], want)
		}
	}
}

// certifyWith runs the command with a client, and returns its report and exit status.
func certifyWith(t *testing.T, dir, client string, args ...string) (*certify.Report, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append([]string{"certify", "--json", "--client", client}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "npm_config_cache="+filepath.Join(machine.Home(t), ".npm"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	r := &certify.Report{}
	if err := json.Unmarshal(stdout.Bytes(), r); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &stdout, &stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "zeph-certify*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return r, cmd.ProcessState.ExitCode()
}

// TestCertifyAcpx certifies the public client acpx.
func TestCertifyAcpx(t *testing.T) {
	t.Parallel()
	acpx := strings.Join(acpxCommand(t), " ") + " --approve-all --agent {agent} exec hi"
	r, status := certifyWith(t, t.TempDir(), acpx, "--scenario", "stream,read,write,allow-once,cancel,malformed,unknown")
	if status != 0 || r.Client.Name != "acpx" || r.Fails() {
		t.Errorf("exit status %d, client %+v, broken %+v", status, r.Client, r.Broken)
	}
}

// TestServeCertify tests a client that starts the agent itself, as an editor does.
func TestServeCertify(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, ext := range []string{".json", ".md", ".txt"} {
		report := filepath.Join(dir, "report"+ext)
		cmd := exec.Command(binary, "serve", "--certify", report)
		cmd.Stdin = strings.NewReader(strings.Join([]string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"by hand","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":` + quote(dir) + `,"mcpServers":[]}}`,
			`{"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{"sessionId":"certify-session-1","modeId":"yolo"}}`, "",
		}, "\n"))
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte(`"id":2,"jsonrpc":"2.0","result":{`)) {
			t.Errorf("%v: %s", err, out)
		}
		if text := read(t, report); !strings.Contains(text, "by hand") || !strings.Contains(text, "offered-values") || !strings.Contains(text, "yolo") {
			t.Errorf("the report %s is\n%s", ext, text)
		}
	}
}
