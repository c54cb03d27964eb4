package integration

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// A task of 120 rounds ends in an editor whose user takes the first choice of each question: the second question is the
// last one.
func TestManyRoundsInEditor(t *testing.T) {
	var replies []fakemodel.Reply
	for i := range 120 {
		word := strings.Repeat(string(rune('a'+i%26)), 1+i/26)
		replies = append(replies, fakemodel.Answer(fakemodel.Call(fmt.Sprintf("toolu_%d", i), "bash", map[string]any{"command": "echo " + word})))
	}
	p := fakemodel.NewAnthropic(t, append(replies, fakemodel.Answer(fakemodel.Say("All done.")))...)
	e := &ide{caps: fakeide.CanAll(), IDE: fakeide.IDE{Permit: func(r sdk.RequestPermissionRequest) sdk.PermissionOptionKind { return r.Options[0].Kind }}}
	e.begin(t, start{env: p.Env()})
	s := e.session()
	e.prompt(s, "do it")
	if got := e.Text(s); !strings.HasSuffix(got, "All done.") || len(p.Requests()) != 121 {
		t.Errorf("%d requests; the turn ends with %q", len(p.Requests()), got[max(0, len(got)-200):])
	}
	var asked []string
	for _, q := range e.Questions() {
		asked = append(asked, *q.ToolCall.Title+" "+q.Options[0].Name)
	}
	want := "Go on for 10 more rounds? Go on\nGo on for 10 more rounds? Go on without asking in this session"
	if got := strings.Join(asked, "\n"); got != want {
		t.Errorf("asked:\n%s", got)
	}
}
