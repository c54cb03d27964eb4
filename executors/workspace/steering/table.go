package steering

import (
	"strings"
	"sync"
)

// All names are in lower case. A new tool gets a line here, and nothing else.

// controlDirs belong to version control or to this agent.
var controlDirs = []string{".git", ".hg", ".jj", ".svn", ".bzr", ".pijul", "_darcs", ".zeph"}

// programDirs are directories of settings from which programs start, at any depth. Those at the top
// whose names begin with a dot need no line.
var programDirs = fields(`
	.agents .amazonq .augment .bundle .cargo .circleci .claude .claude-plugin .cline .codeium .codex .config .continue .crush
	.cursor .devbox .devcontainer .direnv .emacs.d .factory .fleet .gemini .git-hooks .githooks .goose .gradle .helix .husky
	.idea .idx .junie .kilo .kilocode .kiro .mise .mvn .nova .nvim .opencode .openhands .qodo .qwen .roo .run .settings .ssh
	.tabnine .trae .venv .vim .virtualenv .vs .vscode .windsurf .yarn .zed launchagents cron.d`)

// programFiles match the names of files of the same kind. Shells read some of them at each start, and
// others when a person enters the directory; editors and package managers read the rest.
var programFiles = fields(`
	.autoenv .autoenv.zsh .envrc .env.fish .in .bash_aliases .bash_login .bash_logout .bash_profile .*shenv .*shrc .inputrc .login .logout .profile
	.zlogin .zlogout .zprofile .xinitrc .xprofile .xsession .tmux.conf .screenrc
	.gitconfig .gitmodules .mise.toml .mise.*.toml mise.toml mise.*.toml .rtx.toml .tool-versions .sdkmanrc .nvmrc .*-version
	rust-toolchain rust-toolchain.toml devbox.json .flox
	.clangd .ccls .ycm_extra_conf.py .dir-locals.el .dir-locals-2.el .emacs .exrc .gvimrc .vimrc _vimrc _gvimrc .lvimrc .local.vimrc .nvim.lua .nvimrc
	.lazy.lua
	.luarc.json .luarc.jsonc .neoconf.json .vimspector.json session.vim .project *.code-workspace *.sublime-project *.desktop autorun.inf
	.gdbinit .lldbinit .pdbrc .irbrc .pryrc .iex.exs .ghci .merlin .ocamlinit .octaverc .rprofile .renviron .psqlrc .sqliterc .curlrc .wgetrc .pythonrc sitecustomize.py
	usercustomize.py pyvenv.cfg .pnp.cjs .pnp.js .pnp.loader.mjs
	.lefthook.* lefthook.* .lefthook-local.* lefthook-local.* .pre-commit-config.yaml .pre-commit-hooks.yaml .overcommit.yml .huskyrc* husky.config.*
	.lintstagedrc* lint-staged.config.* .simple-git-hooks.* simple-git-hooks.* captainhook.json grumphp.yml
	.npmrc .pnpmfile.* pnpmfile.* .yarnrc .yarnrc.yml .yarnrc.yaml bunfig.toml .bunfig.toml pip.conf .pip.conf pip.ini .pydistutils.cfg .condarc .gemrc
	.bazelrc .bazeliskrc .devcontainer.json devcontainer.json .gitpod.yml .gitpod.dockerfile .replit .stackblitzrc devfile.yaml .devfile.yaml
	.mcp.json .mcp.*.json opencode.json opencode.jsonc crush.json .crush.json .aider.conf.yml .aider.conf.yaml
	.gitlab-ci.yml .travis.yml .drone.yml .cirrus.yml .appveyor.yml appveyor.yml .woodpecker.yml .woodpecker.yaml azure-pipelines.yml
	azure-pipelines.yaml
	bitbucket-pipelines.yml codemagic.yaml cloudbuild.yaml cloudbuild.yml jenkinsfile`)

// programPaths match files of the same kind by several names.
var programPaths = []string{
	"node_modules/.bin", "venv/bin", "venv/scripts", "env/bin", "env/scripts", "virtualenv/bin", ".env/bin", ".env/scripts",
	"gradle/wrapper", "gradle/init.d", "/gradlew", "/gradlew.bat", "/mvnw", "/mvnw.cmd", "/tools/bazel", "/library/launchdaemons",
	".github/workflows", ".github/actions", ".github/hooks", ".gitea/workflows", ".forgejo/workflows",
}

// instructionFiles match files that agents read as instructions, at any depth.
var instructionFiles = fields(`
	agents.md agents.*.md agent.md claude.md claude.*.md gemini.md qwen.md codex.md crush.md jules.md warp.md replit.md skill.md copilot-instructions.md
	.cursorrules .windsurfrules .clinerules .roorules* .roomodes .kilocodemodes .kilocoderules* .goosehints .rules .continuerules .traerules .voidrules .augment-guidelines
	.aider*.md *.instructions.md *.prompt.md *.chatmode.md *.agent.md *.mdc`)

// instructionDirs are directories of such files.
var instructionDirs = []string{".clinerules", ".continuerules"}

// instructionPaths match such files by several names.
var instructionPaths = []string{
	".github/instructions", ".github/prompts", ".github/agents", ".github/chatmodes", ".github/skills", ".github/copilot*",
}

// harmlessDirs are directories at the top whose names begin with a dot and that hold ordinary files
// of a project, or caches.
var harmlessDirs = fields(`
	.cache .changes .changeset .coverage .docs .mypy_cache .next .nuxt .nyc_output .output .parcel-cache .pytest_cache .reuse .ruff_cache
	.storybook .svelte-kit .temp .tmp .turbo .vitepress .vuepress .well-known`)

// harmlessPaths match the ordinary files of a directory that is not harmless.
var harmlessPaths = []string{
	"/.github/*.md", "/.github/issue_template", "/.github/pull_request_template", "/.github/discussion_template", "/.github/funding.yml",
	"/.gitlab/issue_templates", "/.gitlab/merge_request_templates",
}

// fields returns a function that returns the words of a text, which it splits at the first call.
func fields(words string) func() []string {
	return sync.OnceValue(func() []string { return strings.Fields(words) })
}
