package integration

import (
	"os"
	"os/exec"
	"path/filepath"
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
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("1", "load_skill", map[string]string{"name": "deploy"})), fakemodel.Answer(fakemodel.Say("Done.")))
			a := launch(t, start{root: root, env: p.Env()})
			a.initialize()
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
		if q := questions[0].line; !strings.Contains(q, "Use the skill deploy of this project's "+dir+"?") || !strings.Contains(q, "to the moon") || !strings.Contains(q, "run.sh") {
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

// TestHostileSkillFiles opens projects whose skills are no files, lead out of the project
// or are endless. No session waits for them, and the model sees nothing of them, even if
// the user approves everything.
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
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("1", "load_skill", map[string]string{"name": "evil"})), fakemodel.Answer(fakemodel.Say("One.")), fakemodel.Answer(fakemodel.Say("Two.")))
			a := launch(t, start{root: root, env: p.Env()})
			a.initialize()
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
