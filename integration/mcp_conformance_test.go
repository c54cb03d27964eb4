package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// conformanceBinary is the variable with the path of the built command. Where it is
// set, this test binary is the client that the conformance tests run.
const conformanceBinary = "CONFORMANCE_BINARY"

// TestConformance runs the public conformance tests for clients of MCP, for each
// revision. MCP_CONFORMANCE has their command line; they need Node 22.
func TestConformance(t *testing.T) {
	suite := strings.Fields(os.Getenv("MCP_CONFORMANCE"))
	if len(suite) == 0 {
		t.Skip("needs Node and the network: .ci/run sets MCP_CONFORMANCE to the command of @modelcontextprotocol/conformance")
	}
	known, err := filepath.Abs("testdata/mcp_conformance.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, suite[0],
				append(suite[1:], "client", "--command", testBinary(t), "--requirements", revision, "--expected-failures", known)...)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), conformanceBinary+"="+binary)
			fakeide.OwnGroup(cmd)
			cmd.Cancel = func() error { fakeide.KillGroup(cmd); return nil }
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// conformanceClient runs the built command as one scenario of the conformance tests
// wants it: against the server at url.
func conformanceClient(url string) error {
	home, err := os.MkdirTemp("", "zeph-conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	var given struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		ToolCalls    []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return err
		}
	}
	if given.ClientID == "" {
		given.ClientID = "https://conformance-test.local/client-metadata.json"
	}
	c := &conformanceCommand{home: home, env: append(os.Environ(), append(fakemodel.Alone, "ZEPH_HOME="+home, "OAUTH_SECRET="+given.ClientSecret)...)}
	settings := fmt.Sprintf("[[mcp.servers]]\nname = \"s\"\nurl = %q\noauth_client_id = %q\noauth_secret_from = \"OAUTH_SECRET\"\n", url, given.ClientID)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(settings+allowMCP), 0o600); err != nil {
		return err
	}
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	if strings.HasPrefix(scenario, "auth/") {
		return c.authorized()
	}
	asking := map[string][]string{
		"elicitation-sep1034-client-defaults": {"test_client_elicitation_defaults {}"},
		"sep-2322-client-request-state": {
			"test_mrtr_echo_state {}",
			"test_mrtr_no_state {}",
			"test_mrtr_unrelated {}",
			"test_mrtr_no_result_type {}",
		},
	}[scenario]
	for _, call := range asking {
		if err := c.ask(call); err != nil {
			return err
		}
	}
	if asking != nil {
		return nil
	}
	calls := map[string][]string{
		"tools_call": {`add_numbers {"a": 5, "b": 3}`},
		"sse-retry":  {"test_reconnection {}"},
	}[scenario]
	for _, call := range given.ToolCalls {
		calls = append(calls, call.Name+" "+string(call.Arguments))
	}
	if len(calls) == 0 {
		return c.each()
	}
	for _, call := range calls {
		if err := c.call(call); err != nil {
			fmt.Fprintln(os.Stderr, err) // some calls have to fail
		}
	}
	return nil
}

// conformanceCommand is the built command with its configuration.
type conformanceCommand struct {
	home string
	env  []string
}

func (c *conformanceCommand) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Getenv(conformanceBinary), args...)
	cmd.Env, cmd.Dir, cmd.Stderr = c.env, c.home, os.Stderr
	return cmd
}

// ask calls a tool whose server asks the user, through an editor that fills in forms.
func (c *conformanceCommand) ask(tool string) error {
	cmd := c.command()
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	send := func(frame string, values ...any) { fmt.Fprintf(in, `{"jsonrpc":"2.0",`+frame+"}\n", values...) }
	send(`"id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{},"url":{}}}}`)
	send(`"id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}`, c.home)
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var f struct {
			ID     json.RawMessage
			Method string
			Params struct{ RequestedSchema json.RawMessage }
			Result struct{ SessionID string }
		}
		if err := json.Unmarshal(line, &f); err != nil {
			return err
		}
		switch {
		case f.Method == "elicitation/create":
			send(`"id":%s,"result":{"action":"accept","content":%s}`, f.ID, filledIn(f.Params.RequestedSchema))
		case f.Method != "":
			os.Stderr.Write(line)
		case string(f.ID) == "2":
			send(`"id":3,"method":"session/prompt","params":%s`, promptParams(f.Result.SessionID, "/s__"+tool))
		case string(f.ID) == "3":
			in.Close()
		}
	}
	return cmd.Wait()
}

// filledIn returns values for the fields of a form that have no default.
func filledIn(schema json.RawMessage) []byte {
	var form struct {
		Properties map[string]struct {
			Type    string
			Default any
		}
	}
	_ = json.Unmarshal(schema, &form) // the form of a page is empty
	values := map[string]any{}
	for name, p := range form.Properties {
		if p.Default == nil {
			values[name] = map[string]any{"string": "x", "boolean": true, "integer": 1, "number": 1, "array": []string{}}[p.Type]
		}
	}
	b, _ := json.Marshal(values) // texts and numbers always encode
	return b
}

// call calls a tool, written NAME INPUT.
func (c *conformanceCommand) call(tool string) error {
	cmd := c.command("run", "--yes", "/s__"+tool)
	cmd.Stderr = nil // the reason of a failure is there, as in every pipe
	out, err := cmd.CombinedOutput()
	os.Stderr.Write(out)
	if err == nil && bytes.Contains(out, []byte("zeph-acp mcp login")) {
		err = fmt.Errorf("%s: %s", tool, out)
	}
	return err
}

// each calls every tool that is offered.
func (c *conformanceCommand) each() error {
	out, err := c.command("mcp", "tools", "s", "--json").Output()
	if err != nil {
		return err
	}
	var tools []struct{ Name string }
	if err := json.Unmarshal(out, &tools); err != nil {
		return err
	}
	for _, tool := range tools {
		if err := c.call(strings.TrimPrefix(tool.Name, "s__") + ` {"region": "us-west1"}`); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return nil
}

// authorized logs in and calls a tool. Where the call wants another login, it logs in
// once more.
func (c *conformanceCommand) authorized() error {
	if err := c.login(); err != nil {
		return err
	}
	err := c.call("test-tool {}")
	if err == nil {
		return nil
	}
	fmt.Fprintln(os.Stderr, err)
	if err := c.login(); err != nil {
		return err
	}
	return c.call("test-tool {}")
}

// login logs in, as a user whose browser opens the printed page.
func (c *conformanceCommand) login() error {
	cmd := c.command("mcp", "login", "s")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "http") {
			continue
		}
		res, err := http.Get(lines.Text())
		if err != nil {
			_ = cmd.Process.Kill()
			break
		}
		res.Body.Close()
	}
	return cmd.Wait()
}
