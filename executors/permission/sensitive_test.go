package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/workspace/steering"
)

// nestedRoots are roots of which one may be inside of another.
type nestedRoots []string

func (r nestedRoots) Dirs() []string                           { return r }
func (r nestedRoots) Resolve(path string) (string, error)      { return path, nil }
func (r nestedRoots) ResolveEntry(path string) (string, error) { return path, nil }

// A file is checked by its path in the innermost root.
func TestSteeredInRoots(t *testing.T) {
	const project, copied = "/w", "/w/.claude/worktrees/x"
	for file, want := range map[string]bool{
		project + "/main.go":             false,
		project + "/.vscode/tasks.json":  true,
		project + "/.claude/hooks/a.sh":  true,
		project + "/.claude/worktrees/y": true, // not the copy
		copied + "/main.go":              false,
		copied + "/.vscode/tasks.json":   true,
		"/other/.envrc":                  true,
		"/home/u/.unknown/project/a":     false,
	} {
		for _, roots := range []nestedRoots{{project, copied}, {copied, project}} {
			p := permissionCheck{Permission: &Permission{Roots: roots}}
			if got := p.steered(file, false) != steering.Nothing; got != want {
				t.Errorf("%s with the roots %q: %t, want %t", file, roots, got, want)
			}
		}
	}
}

// steeringProject makes a project with an editor's settings under another name, and a file of each kind
// to copy.
func steeringProject(t *testing.T) *setup {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{
		"x", "conf/tasks.json", "tree/vscode/a", "tree/.vscode/tasks.json", "dots/.tool/run", "agents/AGENTS.md", "plain/a/b", "env3/pyvenv.cfg",
		"env3/bin/pip", ".unknown/a", ".editorconfig",
		"sub/.cursor/rules/a.mdc",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{".idea": "conf", "innocent": ".unknown"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	s := newSetup()
	s.mode = "auto"
	s.dir = dir
	return s
}

// The operands of commands that a rule allows do not name files that start programs or steer agents.
func TestSteeringOperands(t *testing.T) {
	for outcome, scripts := range map[string][]string{
		"ask": {
			"cp x .envrc", "cp x ./.ENVRC", "cp x .vscode/tasks.json", "cp conf/tasks.json .vscode", "cp -t .vscode x", "cp --target-directory=.vscode x",
			"cp -rt .husky conf", "mv conf .vscode", "mv plain .unknown2",
			"cp -r tree/. .", "cp -r agents/. .", "cp -r dots/. .", "cp -r dots/.tool .", "mv tree/.vscode .", "mv agents/AGENTS.md .",
			"cp agents/AGENTS.md .", "cp x AGENTS.md", "cp x CLAUDE.local.md",
			"ln -s x .vscode", "ln -sf ../x .husky/pre-commit", "ln x .npmrc", "install -m 755 x .git-hooks/pre-push", "install -D x .vscode/a",
			"install -t node_modules/.bin x", "rsync x .envrc", "rsync -a tree/ .", "rsync -a tree/ ./",
			"tee .envrc", "tee -a GEMINI.md", "tee -- .cursorrules", "touch .vscode/a", "sed -i s/a/b/ AGENTS.md", "sed -i s/a/b/ .github/workflows/ci.yml",
			"sed -n 'w .envrc' x", "perl -pi -e s/a/b/ CLAUDE.md", "awk 'BEGIN{print > \".envrc\"}'",
			"python3 -c 'open(\".envrc\",\"w\")'", "python3 gen.py .vscode/tasks.json", "python3 gen.py --out=.vscode/tasks.json", "sort x -o .envrc",
			"split x .vscode/", "truncate -s0 .npmrc", "chmod +x .husky/pre-commit",
			"tar xf t.tar -C .vscode", "tar -xf t.tar -C.vscode", "tar --extract --file t.tar --directory=.husky", "tar xf t.tar", "tar -xzf t.tgz",
			"tar xf t.tar -C .", "tar xf t.tar -C ..", "bsdtar -xf t", "unzip a.zip", "unzip -o a.zip -d .vscode", "unzip a.zip -d .",
			"7z x a.7z", "7z x a.7z -o.vscode", "cpio -idm", "pax -r -f a", "jar xf a.jar", "patch -p1 -i x", "git apply x", "git apply --directory=.vscode x",
			"git am x", "unsquashfs a", "python3 -m zipfile -e a.zip .", "cd .vscode && cp ../x tasks.json",
			"cd .vscode && unzip ../a.zip", "cd sub && cp ../x .cursor/rules/b.mdc", "cd plain && tar xf ../t.tar -C ..",
			"git checkout other -- .vscode/tasks.json", "git mv x .envrc", "git worktree add .vscode", "git clone x .unknown2/y", "git archive -o .envrc HEAD",
			"git config -f .gitconfig a.b c", "go build -o node_modules/.bin/eslint", "go build -o .venv/bin/python", "gcc -o venv/bin/python x.c",
			"cp x env3/bin/pip", "cp x conf/tasks.json", "cp x innocent/a", "cp x .unknown/b", "cp x .cargo/config.toml",
			"cp x .github/workflows/a.yml", "cp x .github/copilot-instructions.md", "cp x .github/prompts/a.prompt.md", "cp x .junie/guidelines.md",
			"cp x .kilocode/rules/a.md", "cp x .windsurfrules", "cp x .clinerules", "cp x .roo/rules/a", "cp x .rules",
			"cp x .hg/hgrc", "cp x .jj/repo/config", "cp x .svn/a", "cp x .bzr/a", "cp x sub/.hg/hgrc", "cp x lefthook.yml", "cp x .pre-commit-config.yaml",
			"cp x .yarnrc.yml", "cp x .pnpmfile.cjs", "cp x mise.toml", "cp x .tool-versions", "cp x .vsc*/a",
			"cp x .idea*", "tee .vs{code,x}/tasks.json", "cp x 'VSCODE~1/tasks.json'", "cp x .g\u200cit/config", "find . -name x -exec cp {} .envrc +",
			"timeout 5 cp x .envrc", "env cp x .envrc", "mkdir -p .vscode", "mkdir .husky",
			"echo a > .envrc", "echo a >> AGENTS.md", "echo a > .unknown/b", "echo a > conf/tasks.json", "echo a > .ide*/tasks.json",
			"echo a > .github/workflows/a.yml", "cp x .envrc && true", "go test -o .unknown/a", "cmake -B .vscode",
		},
		"allow": {
			"cp x y", "cp .editorconfig y", "cp x .editorconfig", "cp x .env.example", "cp x .gitignore", "mv x y", "mv plain other", "cp -r plain other",
			"cp -R tree/* .", "./gradlew test", "cp -r plain/. other", "cp .vscode/tasks.json y", "cp -r .vscode y", "rsync -a plain/ other/", "ln -s x y",
			"tee out.txt", "touch a", "sed -i s/a/b/ main.go", "python3 gen.py out", "tar czf t.tgz plain", "tar xf t.tar -C plain", "tar tf t.tar",
			"unzip -l a.zip", "unzip a.zip -d plain", "7z l a.7z", "git apply --check x", "patch --dry-run -i x",
			"go build -o bin/x", "go test ./...", "make", "npm test", "git add AGENTS.md .vscode/tasks.json", "git commit -m 'add .vscode/tasks.json'",
			"git commit -am x", "shellcheck .husky/pre-commit", "bash .husky/pre-commit", ".venv/bin/pytest -q", ". .venv/bin/activate",
			"cp x .github/ISSUE_TEMPLATE/bug.md", "cp x .github/CONTRIBUTING.md", "cp x .storybook/main.ts", "cp x docs/agents.html", "mkdir -p a/b",
			"make > out.txt", "make > .env.local", "cp x env3/a", "git checkout -b topic", "chmod +x gen.sh",
			"cd sub && cp ../x y", "npx prettier --write src/a.ts", "cargo build --release", "docker build -t a .", "gofmt -w main.go",
			"cp x .github/ISSUE_TEMPLATE/",
		},
	} {
		s := steeringProject(t)
		s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "*", Action: Allow}}}
		s.build()
		for _, script := range scripts {
			call := bashIn(s.dir, "/home/u", script)
			if got := s.outcome(t, call); got != outcome {
				t.Errorf("%-50q %s, want %s (%s)", script, got, outcome, call.Record.Rule())
			}
		}
	}
}

// A rule that names such a file allows it; the wide rule beside it does not.
func TestSteeringNamedByRule(t *testing.T) {
	for script, want := range map[string]string{
		"cp x .envrc": "allow", "cp x .npmrc": "ask", "tee .vscode/settings.json": "allow", "tee .vscode/settings.json .envrc": "ask",
		"cp x .git/config": "ask", ".venv/bin/pip install -r a": "allow",
	} {
		s := steeringProject(t)
		s.cfg.Permissions = map[string][]Rule{"bash": {
			{Pattern: "cp x .envrc", Action: Allow}, {Pattern: "tee .vscode/*", Action: Allow},
			{Pattern: "cp * .git/config", Action: Allow}, {Pattern: "*", Action: Allow},
		}}
		s.build()
		call := bashIn(s.dir, "/home/u", script)
		if got := s.outcome(t, call); got != want {
			t.Errorf("%q: %s, want %s (%s)", script, got, want, call.Record.Rule())
		}
	}
}

// The mode auto does not edit such files unasked, under any name.
func TestSteeringInAuto(t *testing.T) {
	asks := strings.Fields(`
		AGENTS.md agents.md sub/AGENTS.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md .cursorrules .windsurfrules .clinerules .clinerules/a.md
		.roorules-code .kilocode/rules/a.md .junie/guidelines.md .goosehints .rules .github/copilot-instructions.md .github/instructions/go.instructions.md
		.github/agents/a.agent.md .github/workflows/ci.yml .github/dependabot.yml .gitlab-ci.yml Jenkinsfile .circleci/config.yml .buildkite/pipeline.yml
		.travis.yml .hg/hgrc .jj/repo/config .svn/wc.db .bzr/branch .envrc .mise.toml .mise/config.toml .tool-versions .python-version rust-toolchain.toml
		.cargo/config.toml .venv/bin/python venv/bin/python sub/venv/Scripts/python.exe env3/bin/pip node_modules/.bin/eslint a/node_modules/.bin/tsc
		.npmrc .yarnrc.yml .yarn/releases/yarn.cjs .pnpmfile.cjs bunfig.toml .mvn/jvm.config .mvn/extensions.xml .pre-commit-config.yaml lefthook.yaml
		.lintstagedrc.json .git-hooks/pre-commit .unknown/a .newtool/run .aider.conf.yml .continue/config.yaml .vim/init.vim .nvim.lua .project .replit
		.gitpod.yml .devcontainer/devcontainer.json .devcontainer.json .idea/workspace.xml conf/tasks.json .VSCODE/tasks.json .vscode./tasks.json
		.vscode::$INDEX_ALLOCATION/tasks.json SKILL.md .claude/skills/a/SKILL.md crush.json
		.roomodes .kilocodemodes .merlin .ocamlinit .octaverc .pnp.cjs .pnp.loader.mjs`)
	allows := strings.Fields(`
		main.go README.md .gitignore .gitattributes .editorconfig .env.example .prettierrc .eslintrc.json package.json Makefile build.rs src/.hidden/a
		docs/agents/index.md .github/ISSUE_TEMPLATE/bug.yml .github/PULL_REQUEST_TEMPLATE.md .github/FUNDING.yml .storybook/main.ts .changeset/a.md
		plain/a/b vscode/tasks.json node_modules/a/index.js env3/a bin/x`)
	for want, names := range map[string][]string{"ask": asks, "allow": allows} {
		s := steeringProject(t)
		s.build()
		for _, name := range names {
			call := file("edit", filepath.Join(s.dir, name))
			if got := s.outcome(t, call); got != want {
				t.Errorf("write %s: %s, want %s (%s)", name, got, want, call.Record.Rule())
			}
		}
	}
	for _, tt := range []struct {
		from, to, want string
	}{
		{"conf", ".vscode", "ask"},
		{"plain", ".plain", "ask"},
		{"plain", "other", "allow"},
		{"plain", "other", "allow"},
		{"tree", "other", "allow"},
		{"x", ".envrc", "ask"},
		{"agents", "other", "allow"}, // its instructions are in the project already
		{"dots/.tool", ".tool", "ask"},
		{"plain", "node_modules", "ask"},
		{"sub/.cursor", ".cursor", "ask"},
	} {
		s := steeringProject(t)
		s.build()
		call := file("edit", filepath.Join(s.dir, tt.from), filepath.Join(s.dir, tt.to))
		if got := s.outcome(t, call); got != tt.want {
			t.Errorf("%s to %s: %s, want %s (%s)", tt.from, tt.to, got, tt.want, call.Record.Rule())
		}
	}
}
