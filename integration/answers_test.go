package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// turnAnswering sends a prompt, answers each question with an option of that kind, and
// returns the text of the updates and the questions.
func (a *agent) turnAnswering(session, prompt, kind string) (text string, questions []frame) {
	a.t.Helper()
	from := len(a.agentFrames())
	id := fmt.Sprintf(`"turn-%d"`, from)
	a.request(id, "session/prompt", promptParams(session, prompt))
	for {
		n := 0
		f := a.await("a question or the end of the turn", func(f frame) bool {
			n++
			return n > from && (f.Method == "session/request_permission" || f.Method == "" && string(f.ID) == id)
		})
		if f.Method == "" {
			return a.lines(), questions
		}
		questions, from = append(questions, f), n
		a.choose(f, kind)
	}
}

// TestRememberedAnswers checks that an "always" survives the process, holds for its
// project only, and follows edits of permissions.toml.
func TestRememberedAnswers(t *testing.T) {
	t.Parallel()
	root := home(t)
	file := filepath.Join(root, "zeph", "permissions.toml")
	asks := func(a *agent, session, prompt, kind string, want int) {
		t.Helper()
		if _, questions := a.turnAnswering(session, prompt, kind); len(questions) != want {
			t.Errorf("%s: %d permission requests, want %d", prompt, len(questions), want)
		}
	}
	begin := func() (*agent, string) {
		a := connect(t, start{root: root})
		return a, a.open()
	}
	a, s := begin()
	asks(a, s, `/write {"path":"f","content":"1"}`, "allow_always", 1)
	asks(a, s, "/bash touch g", "reject_always", 1)
	other := a.open()
	asks(a, other, `/write {"path":"f","content":"2"}`, "reject_once", 0)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v, want a file that only the user can read", info, err)
	}
	a.stop()

	b, s := begin()
	writes := func(content string) {
		t.Helper()
		asks(b, s, `/write {"path":"f","content":"`+content+`"}`, "reject_once", 0)
		if got := b.content("f"); got != content {
			t.Errorf("the file has %q, want %q", got, content)
		}
	}
	writes("3")
	text, questions := b.turnAnswering(s, "/bash touch g", "allow_once")
	if len(questions) > 0 || !strings.Contains(text, `You chose \"always reject\" for this. To be asked again`) {
		t.Errorf("%d permission requests, want none; the turn:\n%s\nwant the call rejected by the remembered answer", len(questions), text)
	}
	b.request("9", "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, filepath.Join(root, "home")))
	elsewhere, _, _ := strings.Cut(strings.SplitN(b.answer("9").line, `"sessionId":"`, 2)[1], `"`)
	asks(b, elsewhere, `/write {"path":"f","content":"4"}`, "reject_once", 1)

	b.checkContains(b.turnOf(s, "/permissions"), "allow tool `write`, line ", "reject command `touch g`, line ")

	answers := read(t, file)
	write(t, file, strings.ReplaceAll(answers, `tool = "write"`, `tool = "edit"`))
	asks(b, s, `/write {"path":"f","content":"5"}`, "reject_once", 1)
	write(t, file, answers+"[[")
	text, questions = b.turnAnswering(s, `/write {"path":"f","content":"6"}`, "reject_once")
	if len(questions) != 1 || !strings.Contains(questions[0].line, "permissions.toml: line ") || strings.Contains(questions[0].line, "allow_always") {
		t.Errorf("a damaged file: %s", text)
	}
	write(t, file, answers)
	writes("7")
}

// TestAnswerSettlesOpenQuestion answers "always" in one session while another one of the
// project waits for the answer to the same question.
func TestAnswerSettlesOpenQuestion(t *testing.T) {
	t.Parallel()
	a := launch(t, start{})
	a.initialize(`{"_meta":{"cancel_request":true}}`)
	waiting, other := a.open(), a.open()
	a.request("1", "session/prompt", promptParams(waiting, "/bash touch one"))
	a.permissionRequest()
	a.turnAnswering(other, "/bash touch one", "allow_always")
	a.answer("1")
	if !strings.Contains(a.lines(), "$/cancel_request") {
		t.Error("the open question was not withdrawn")
	}
	if n := strings.Count(auditLog(t, a.home), `"result":"success"`); n != 2 {
		t.Errorf("%d calls ran, want 2", n)
	}
}
