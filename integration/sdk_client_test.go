package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// sdkStep is a step of testdata/sdk_client.mjs.
type sdkStep struct {
	Prompt   string `json:"prompt,omitempty"`
	Steer    string `json:"steer,omitempty"`
	Mode     string `json:"mode,omitempty"`
	Answer   string `json:"answer,omitempty"`
	Rewind   int    `json:"rewind,omitempty"`
	Fork     bool   `json:"fork,omitempty"`
	Commands bool   `json:"commands,omitempty"`
}

// TestSDKClient uses rewind, steering, forks, plan approval and commands of files with a
// client of the TypeScript SDK, by their methods and as text. ACP_SDK has the directory in
// which the SDK is installed. The SDK checks each frame by its own schema, and
// testdata/sdk_client/NAME.txt is what a user sees.
func TestSDKClient(t *testing.T) {
	sdk := os.Getenv("ACP_SDK")
	if sdk == "" {
		t.Skip(`needs Node and the network: npm install --prefix DIR @agentclientprotocol/sdk@2.4.0; ACP_SDK=DIR go test -run SDKClient ./integration`)
	}
	change := fakemodel.Answer(fakemodel.Call("c1", "write", map[string]any{"path": "a.txt", "content": "two\n"}))
	wait := fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": "until test -e steered; do sleep 0.05; done"}))
	plan := fakemodel.Answer(fakemodel.Call("c1", "exit_plan", map[string]any{"plan": "1. Move the parser.\n2. Test it."}))
	said := func(text string) fakemodel.Reply { return fakemodel.Answer(fakemodel.Say(text)) }
	for name, tt := range map[string]struct {
		model []fakemodel.Reply
		steps []sdkStep
		want  []string // the texts in the last request to the model
	}{
		"rewind": {
			[]fakemodel.Reply{change, said("Done."), said("Again.")},
			[]sdkStep{
				{Prompt: "change a.txt"},
				{Prompt: "/rewind"},
				{Prompt: "/rewind 1"},
				{Prompt: "/rewind"},
				{Prompt: "/rewind redo"},
				{Answer: "reject_once", Prompt: "/rewind 1 files"},
				{Rewind: 1},
				{Prompt: "next"},
			},
			[]string{"next"},
		},
		"steering": {
			[]fakemodel.Reply{wait, said("I leave them alone.")},
			[]sdkStep{{Prompt: "work", Steer: "Leave the tests alone"}},
			[]string{"work", "Leave the tests alone"},
		},
		"forks": {
			[]fakemodel.Reply{said("One."), said("Two."), said("Three.")},
			[]sdkStep{{Prompt: "first"}, {Prompt: "/fork"}, {Prompt: "second"}, {Fork: true}, {Prompt: "third"}, {Prompt: "/sessions"}},
			[]string{"first", "One.", "second", "Two.", "third"},
		},
		"plans": {
			[]fakemodel.Reply{plan, said("I keep planning."), plan, said("I begin.")},
			[]sdkStep{{Mode: "architect"}, {Answer: "reject_once", Prompt: "plan it"}, {Answer: "allow_once", Prompt: "again"}},
			[]string{"plan it", "I keep planning.", "again"},
		},
		"commands": {
			[]fakemodel.Reply{change, said("I may not.")},
			[]sdkStep{{Prompt: "/help:explain a.txt"}, {Commands: true}},
			[]string{"Explain a.txt:\n\n@a.txt"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			write(t, filepath.Join(root, "work/a.txt"), "one\n")
			write(t, filepath.Join(root, "work/.claude/commands/help/explain.md"), "---\ndescription: Explain a file\nallowed-tools: Read\n---\nExplain $1:\n\n@$1\n")
			p := fakemodel.NewAnthropic(t, tt.model...)
			got := runSDKClient(t, root, p, "ACP_SDK="+sdk, []string{"node", testdata(t, "sdk_client.mjs")}, tt.steps)
			want, err := os.ReadFile(filepath.Join("testdata/sdk_client", name+".txt"))
			if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
				t.Errorf("%v: the client shows (-want +got)\n%s", err, diff)
			}
			if said := lastTexts(p); !slices.Equal(said, tt.want) {
				t.Errorf("the last request has %q, want %q", said, tt.want)
			}
		})
	}
}

// varying matches the parts of the output that differ from run to run.
var varying = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|20\d\d-\d\d-\d\d \d\d:\d\d \w+`)

// runSDKClient plays steps with a client, and returns what it prints. argv is followed by the binary, the directory and
// the steps.
func runSDKClient(t *testing.T, root string, p *fakemodel.Anthropic, env string, argv []string, steps any) string {
	t.Helper()
	list, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := append(slices.Clone(argv), binary, filepath.Join(root, "work"), string(list))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), append(p.Env(), env, "ZEPH_HOME="+filepath.Join(root, "zeph"), "ZEPH_MODEL=", "ZEPH_CONFIG=")...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	fakeide.OwnGroup(cmd)
	cmd.Cancel = func() error { fakeide.KillGroup(cmd); return nil }
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("the client: %v\n%s\n%s", err, &stdout, &stderr)
	}
	return varying.ReplaceAllString(strings.ReplaceAll(stdout.String(), root, ""), "…")
}

// testdata returns the absolute path of a file in testdata.
func testdata(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// lastTexts returns the texts of the conversation in the last request.
func lastTexts(p *fakemodel.Anthropic) (texts []string) {
	for _, m := range p.Request(len(p.Requests()) - 1).Messages {
		for _, b := range m.Content {
			if b.Type == "text" && !strings.HasPrefix(b.Text, "[") {
				texts = append(texts, b.Text)
			}
		}
	}
	return texts
}
