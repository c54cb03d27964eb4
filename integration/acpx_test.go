package integration

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestAcpx runs a turn with the public client acpx. ACPX_COMMAND has its command
// line, such as "npx -y acpx@0.19.1".
func TestAcpx(t *testing.T) {
	acpx := strings.Fields(os.Getenv("ACPX_COMMAND"))
	if len(acpx) == 0 {
		t.Skip(`needs Node and the network: ACPX_COMMAND="npx -y acpx@0.19.1" go test -run Acpx ./integration`)
	}
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Say("Looking."), fakemodel.Call("c1", "read", map[string]any{"path": "a.txt"})),
		fakemodel.Answer(fakemodel.Call("c2", "edit", map[string]any{"path": "a.txt", "old_string": "old", "new_string": "new"})),
		fakemodel.Answer(fakemodel.Call("c3", "bash", map[string]any{"command": "./check.sh"})),
		fakemodel.Answer(fakemodel.Say("All of it is done.")),
	)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"a.txt": "old\n", "check.sh": "#!/bin/sh\ncat a.txt; echo checked $0\n"} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, acpx[0], append(acpx[1:], "--approve-all", "--agent", binary, "exec", "work on a.txt")...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), append(p.Env(), "ZEPH_HOME="+t.TempDir(), "ZEPH_MODEL=", "ZEPH_CONFIG=")...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	fakeide.OwnGroup(cmd)
	cmd.Cancel = func() error { fakeide.KillGroup(cmd); return nil }
	if err := cmd.Run(); err != nil {
		t.Fatalf("acpx: %v\n%s\n%s", err, &stdout, &stderr)
	}
	t.Logf("acpx printed:\n%s\nand on stderr:\n%s", &stdout, &stderr)
	for _, want := range []string{"Looking.", "All of it is done.", "checked", "end_turn"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("acpx does not show %q", want)
		}
	}
	if b, err := os.ReadFile(filepath.Join(root, "a.txt")); string(b) != "new\n" {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if n := len(p.Requests()); n != 4 || !strings.Contains(p.Requests()[3], "checked ./check.sh") {
		t.Errorf("the model got %d requests", n)
	}
}
