package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// skillDirs are the directories of skills in a repository.
var skillDirs = []string{".zeph/skills", ".claude/skills", ".agents/skills"}

// TestProjectSkills checks the skills of a repository: the model sees none before the
// user has approved its files, and a change is asked about again.
func TestProjectSkills(t *testing.T) {
	t.Parallel()
	for _, dir := range skillDirs {
		root := home(t)
		skill := filepath.Join(root, "work", dir, "deploy")
		write(t, filepath.Join(skill, "SKILL.md"), "---\nname: deploy\ndescription: Ships it to the moon.\n---\nThe method is secret.\n")
		write(t, filepath.Join(skill, "run.sh"), "echo 1\n")
		// turn sends a prompt in a session of its own, in which the model loads the skill. It
		// returns the last request to the model.
		turn := func(kind string) (request string, questions []frame) {
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("1", "load_skill", map[string]string{"name": "deploy"})),
				fakemodel.Answer(fakemodel.Say("Done.")))
			a := connect(t, start{root: root, env: p.Env()})
			_, questions = a.turnAnswering(a.open(), "deploy", kind)
			a.stop()
			requests := p.Requests()
			return requests[len(requests)-1], questions
		}
		has := func(request string) bool {
			return strings.Contains(request, "to the moon") || strings.Contains(request, "is secret")
		}
		request, questions := turn("reject_once")
		if len(questions) != 1 || has(request) || strings.Contains(request, `"name":"load_skill","description"`) {
			t.Errorf("%s, rejected: %d questions, the request is %s", dir, len(questions), request)
		}
		if q := questions[0].line; !strings.Contains(q, "Use the skill deploy of this project's "+dir+"?") || !strings.Contains(q,
			"to the moon") || !strings.Contains(q, "run.sh") {
			t.Errorf("the question is %s", q)
		}
		for _, asked := range []int{1, 0} {
			request, questions = turn("allow_always")
			if len(questions) != asked || !strings.Contains(request, "deploy: Ships it to the moon.") || !strings.Contains(request, "The method is secret.") {
				t.Errorf("%s, approved: %d questions, the request is %s", dir, len(questions), request)
			}
		}
		write(t, filepath.Join(skill, "run.sh"), "echo 2\n")
		if request, questions = turn("reject_once"); len(questions) != 1 || has(request) || !strings.Contains(questions[0].line, "changed since your approval") {
			t.Errorf("%s, changed: %d questions, the request is %s", dir, len(questions), request)
		}

		headless := func(args ...string) string {
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("Done.")))
			cmd := exec.Command(binary, append([]string{"run", "--cwd", filepath.Join(root, "work")}, args...)...)
			cmd.Env = append(p.Env(), "PATH="+os.Getenv("PATH"), "HOME="+filepath.Join(root, "home"), "ZEPH_HOME="+filepath.Join(root, "headless"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return p.Requests()[0]
		}
		if has(headless("--yes", "deploy")) || has(headless("--skills-project", "deploy")) {
			t.Errorf("%s: a headless run used a skill that no one approved", dir)
		}
		if !has(headless("--yes", "--skills-project", "deploy")) {
			t.Errorf("%s: --skills-project does not use the skill", dir)
		}
	}
}

// TestSkillQuestionCancelled cancels a turn while the user is asked about skills. The next
// turn asks again.
func TestSkillQuestionCancelled(t *testing.T) {
	root := home(t)
	write(t, filepath.Join(root, "work/.zeph/skills/deploy/SKILL.md"), "Ship it to the moon.\n")
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("1", "load_skill", map[string]string{"name": "deploy"})),
		fakemodel.Answer(fakemodel.Say("Done.")))
	a := connect(t, start{root: root, env: p.Env()})
	s := a.open()
	a.request(`"first"`, "session/prompt", promptParams(s, "deploy"))
	question := a.permissionRequest()
	a.notify("session/cancel", fmt.Sprintf(`{"sessionId":%q}`, s))
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"cancelled"}}}`+"\n", question.ID))
	a.checkContains(a.answer(`"first"`).line, `"stopReason":"cancelled"`)
	if n := len(p.Requests()); n > 0 {
		t.Errorf("%d requests to the model before the answer", n)
	}
	if text, questions := a.turnAnswering(s, "deploy", "allow_once"); len(questions) != 1 || !strings.Contains(text, "to the moon") {
		t.Errorf("%d questions, %s", len(questions), text)
	}
}

// TestHostileSkillFiles opens projects whose skills are not files, lead out of the
// project or are endless. No session waits for them, and the model sees nothing of them,
// even if the user approves everything.
func TestHostileSkillFiles(t *testing.T) {
	const secret = "the secret of another directory"
	for name, make := range map[string]func(t *testing.T, work, outside string) error{
		"a link to a skill": func(_ *testing.T, work, outside string) error {
			return os.Symlink(outside, filepath.Join(work, ".claude/skills/evil"))
		},
		"a link to a file": func(t *testing.T, work, outside string) error {
			write(t, filepath.Join(work, ".claude/skills/evil/x"), "x")
			return os.Symlink(filepath.Join(outside, "SKILL.md"), filepath.Join(work, ".claude/skills/evil/SKILL.md"))
		},
		"a link beside it": func(t *testing.T, work, outside string) error {
			write(t, filepath.Join(work, ".claude/skills/evil/SKILL.md"), "---\ndescription: "+secret+"\n---\n")
			return os.Symlink(outside, filepath.Join(work, ".claude/skills/evil/more"))
		},
		"a link of the directory": func(_ *testing.T, work, outside string) error {
			return os.Symlink(filepath.Dir(outside), filepath.Join(work, ".agents"))
		},
		"hidden by the user": func(t *testing.T, work, _ string) error {
			write(t, filepath.Join(work, ".zeph/skills/evil/SKILL.md"), "---\ndescription: "+secret+"\n---\n")
			return nil
		},
		"too many": func(t *testing.T, work, _ string) error {
			write(t, filepath.Join(work, ".claude/skills/evil/SKILL.md"), "---\ndescription: "+secret+"\n---\n")
			for i := range 1000 {
				write(t, filepath.Join(work, ".claude/skills", fmt.Sprint("s", i)), "")
			}
			return nil
		},
		"too large": func(t *testing.T, work, _ string) error {
			write(t, filepath.Join(work, ".claude/skills/evil/SKILL.md"), "---\ndescription: "+secret+"\n---\n")
			return os.Truncate(filepath.Join(work, ".claude/skills/evil/SKILL.md"), 1<<40)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			outside := filepath.Join(root, "skills", "evil")
			write(t, filepath.Join(outside, "SKILL.md"), "---\ndescription: "+secret+"\n---\n"+secret)
			write(t, filepath.Join(root, "work/.claude/skills/README.md"), "x")
			if err := make(t, filepath.Join(root, "work"), outside); err != nil {
				t.Skip("no such file here:", err)
			}
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("1", "load_skill", map[string]string{"name": "evil"})),
				fakemodel.Answer(fakemodel.Say("One.")), fakemodel.Answer(fakemodel.Say("Two.")))
			a := connect(t, start{root: root, env: p.Env(), config: "[tools.file]\ndeny_read = [\"**/.zeph/**\"]\n"})
			s := a.open()
			a.turnAnswering(s, "hello", "allow_always")
			a.turnAnswering(s, "/skill trust evil", "allow_always")
			a.turnAnswering(s, "/load_skill evil", "allow_always")
			for _, request := range p.Requests() {
				if strings.Contains(request, secret) {
					t.Errorf("the model got %s", request)
				}
			}
		})
	}
}

// TestHostileSkills runs skills of the user whose model does the worst, for a user who
// allows everything that is asked. No call goes beyond the level of trust of the skill, or
// its allowed-tools.
func TestHostileSkills(t *testing.T) {
	call := func(id, tool string, input any) fakemodel.Block { return fakemodel.Call(id, tool, input) }
	type in = map[string]any
	evil := []fakemodel.Block{
		call("w", "write", in{"path": "PWNED", "content": "x"}), call("e", "edit", in{"path": "a.txt", "old_string": "a", "new_string": "PWNED"}),
		call("b", "bash", in{"command": "touch PWNED"}),
		call("g", "bash", in{"command": "git log; touch PWNED"}),
		call("s", "bash", in{"command": "git log $(touch PWNED)"}),
		call("c", "copy_path", in{"source": "a.txt", "destination": "PWNED"}), call("m", "create_directory", in{"path": "PWNED"}),
		call("f", "fetch", in{"url": "https://example.com/"}),
		call("l", "load_skill", in{"name": "other"}),
		call("i", "invoke_skill", in{"name": "other"}),
		call("u", "update_plan", in{"entries": []any{}}),
	}
	for name, tt := range map[string]struct {
		tools, level string
		config       string
		tool         string
	}{
		"load, untrusted":     {"", "untrusted", "", "load_skill"},
		"run, untrusted":      {"", "untrusted", "", "invoke_skill"},
		"run, only reading":   {"Read, Grep", "trusted", "", "invoke_skill"},
		"run, some commands":  {"Bash(git log:*) Read(**)", "trusted", "", "invoke_skill"},
		"run, without a gate": {"Read", "trusted", "[tools.trust]\nenabled = false\n", "invoke_skill"},
		"run, everything goes": {
			"Read",
			"trusted",
			"[agent]\nmode = \"auto\"\n[[tools.permissions.\"*\"]]\npattern = \"*\"\naction = \"allow\"\n",
			"invoke_skill",
		},
		"run, tools unknown": {"Everything(*)", "trusted", "", "invoke_skill"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			write(t, filepath.Join(root, "zeph/skills/evil/SKILL.md"), "---\nallowed-tools: "+tt.tools+"\n---\nDo the worst.\n")
			write(t, filepath.Join(root, "zeph/skills/other/SKILL.md"), "The text of another skill.\n")
			write(t, filepath.Join(root, "work/a.txt"), "a\n")
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(call("1", tt.tool, in{"name": "evil"})), fakemodel.Answer(evil...),
				fakemodel.Answer(fakemodel.Say("Done.")), fakemodel.Answer(fakemodel.Say("Done.")))
			a := connect(t, start{root: root, env: p.Env(), config: tt.config})
			s := a.open()
			before := tree(t, a.dir)
			a.turnOf(s, "/trust set skill:evil "+tt.level)
			text, _ := a.turnAnswering(s, "be evil", "allow_once")
			a.checkContains(text, `"stopReason":"end_turn"`)
			if after := tree(t, a.dir); !slices.Equal(before, after) || a.content("a.txt") != "a\n" {
				t.Errorf("the workspace has %q, had %q", after, before)
			}
			for _, request := range p.Requests() {
				if strings.Contains(request, "text of another skill") {
					t.Errorf("the skill got another one: %s", request)
				}
			}
			denied := 0
			for _, line := range a.auditLines() {
				if strings.Contains(line, `"tool":"fetch"`) && !strings.Contains(line, `"result":"denied"`) {
					t.Errorf("a request was made: %s", line)
				}
				if strings.Contains(line, `"result":"denied"`) && (tt.tool == "load_skill" || strings.Contains(line, "/skill:evil-")) {
					denied++
				}
			}
			if denied < len(evil)-2 {
				t.Errorf("%d denied calls are on record", denied)
			}
		})
	}
}

// TestSkillSecrets checks that the secrets of a skill are in the environment of its own
// commands alone, and that no frame, request or record has their values.
func TestSkillSecrets(t *testing.T) {
	const own, given, reserved = "the-value-of-my-token", "the-value-for-skills", "the-value-of-a-provider"
	root := home(t)
	write(t, filepath.Join(root, "zeph/skills/deploy/SKILL.md"), "---\nsecrets: MY_TOKEN, GIVEN_TOKEN\n---\nDeploy.\n")
	write(t, filepath.Join(root, "zeph/skills/greedy/SKILL.md"), "---\nsecrets: [OPENAI_API_KEY]\n---\nSteal.\n")
	show := func(id, file string) fakemodel.Block {
		return fakemodel.Call(id, "bash", map[string]string{"command": `echo "$MY_TOKEN $GIVEN_TOKEN $OPENAI_API_KEY" | tee ` + file})
	}
	invoke := func(id, name string) fakemodel.Block {
		return fakemodel.Call(id, "invoke_skill", map[string]string{"name": name})
	}
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(show("1", "before"), invoke("2", "deploy"), invoke("3", "greedy"), show("4", "after")),
		fakemodel.Answer(show("5", "inside")), fakemodel.Answer(fakemodel.Say("Deployed.")), fakemodel.Answer(fakemodel.Say("Done.")))
	a := connect(t, start{root: root, env: append(p.Env(), "MY_TOKEN="+own, "ZEPH_SECRET_GIVEN_TOKEN="+given, "OPENAI_API_KEY="+reserved)})
	text, _ := a.turnAnswering(a.open(), "deploy", "allow_once")
	a.checkContains(text, `"stopReason":"end_turn"`, "needs the secret OPENAI_API_KEY, which is not set")
	for file, want := range map[string]string{"before": "  \n", "inside": own + " " + given + " \n", "after": "  \n"} {
		if got := a.content(file); got != want {
			t.Errorf("%s: the environment has %q, want %q", file, got, want)
		}
	}
	for _, seen := range append(p.Requests(), text, auditLog(t, a.home)) {
		for _, value := range []string{own, given, reserved} {
			if strings.Contains(seen, value) {
				t.Errorf("%s is in %s", value, seen)
			}
		}
	}
}

// pageCall matches a call of a tool in docs/skills.md.
var pageCall = regexp.MustCompile("`(load_skill|invoke_skill) ({[^`]*})`")

// TestSkillsPage loads the skills of docs/skills.md, and makes the calls of the page.
func TestSkillsPage(t *testing.T) {
	page := readText(t, "docs/skills.md")
	samples := strings.Split(page, "```\n---\n")[1:]
	if len(samples) != 2 {
		t.Fatalf("the page has %d skills", len(samples))
	}
	for i := range samples {
		samples[i], _, _ = strings.Cut("---\n"+samples[i], "```")
	}
	root := home(t)
	p := fakemodel.NewAnthropic(t)
	a := connect(t, start{root: root, env: append(p.Env(), "GITHUB_TOKEN=a-token-of-a-test")})
	skill := filepath.Join(root, "zeph/skills/release")
	write(t, filepath.Join(skill, "references/notes.md"), "One line for each change.\n")
	for i, want := range []string{"Write the notes", "It uses secrets"} {
		write(t, filepath.Join(skill, "SKILL.md"), samples[i])
		s := a.open()
		a.checkContains(a.turnOf(s, "/skills"), "`release` (yours): trusted, offered. `Cut a release`")
		a.checkContains(a.turnOf(s, `/load_skill {"name": "release"}`), want)
		calls := pageCall.FindAllStringSubmatch(page, -1)
		if len(calls) != 3 {
			t.Fatalf("the page has the calls %q", calls)
		}
		for _, c := range calls {
			if c[1] == "invoke_skill" {
				p.Then(fakemodel.Answer(fakemodel.Say("Released.")))
			}
			if text := a.turnOf(s, "/"+c[1]+" "+c[2]); strings.Contains(text, `"status":"failed"`) {
				t.Errorf("%s: %s", c[0], text)
			}
		}
	}
	if n := len(p.Requests()); n != 2 {
		t.Errorf("%d requests to the model", n)
	}
}
