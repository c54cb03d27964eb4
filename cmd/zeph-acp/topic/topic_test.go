package topic

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/docs"
)

// questions are questions as people type them, each with the page or section that answers it.
var questions = [][2]string{
	// Start
	{"install", "install.md"},
	{"how do I update to a new version", "install.md#update-to-a-new-version-zeph-acp-update"},
	{"uninstall", "install.md"},
	{"run it in docker", "install.md#a-container"},
	{"checksum of the download", "install.md#check-what-you-downloaded"},
	{"how do I install it", "install.md"},
	{"how do I update zeph-acp", "install.md"},
	{"uninstall", "install.md"},
	{"connect zed", "editors.md#zed"},
	{"intellij goland setup", "editors.md#jetbrains-ides"},
	{"use it in vscode", "editors.md#vs-code"},
	{"neovim codecompanion config", "editors.md#neovim"},
	{"emacs agent-shell", "editors.md#emacs"},
	{"where do I put my api key", "keys.md"},
	{"api key from 1password or another command", "keys.md#keys-from-a-command"},
	{"two accounts of one provider", "keys.md#several-accounts"},
	{"which models can I use", "models.md"},
	{"openrouter or lm studio", "local-models.md#lm-studio-vllm-openrouter-llamacpp-and-others"},
	{"aws bedrock", "clouds.md"},
	{"azure openai deployment", "clouds.md"},
	{"coming from claude code", "coming-from.md"},
	{"import my codex settings", "coming-from.md"},
	{"run with ollama", "local-models.md"},
	{"what happens if the provider is rate limited", "keys.md#when-a-provider-fails-or-a-quota-is-used-up"},
	{"no model answers", "troubleshooting.md#no-model-answers"},
	{"doctor", "troubleshooting.md#examine-an-installation-zeph-acp-doctor"},
	// Use
	{"chat in the terminal", "chat.md"},
	{"keyboard shortcuts", "chat.md#keys"},
	{"say something while it is working", "chat.md#steer-a-running-turn-say-something-while-it-works"},
	{"use it in a script", "run.md"},
	{"exit code", "run.md#exit-codes"},
	{"json output", "run.md#run-for-programs-output-as-json"},
	{"github actions", "ci.md#in-ci"},
	{"review my pull request", "ci.md"},
	{"list of slash commands", "commands.md"},
	{"write my own slash command", "commands.md#your-own-commands-markdown-files"},
	{"agents.md", "instructions.md"},
	{"project instructions", "instructions.md#project-rules"},
	{"remember something for the next session", "instructions.md#memory-facts-to-remember-for-the-next-session"},
	{"undo what the agent did", "undo.md"},
	{"go back to before a turn", "undo.md"},
	{"continue yesterday's session", "sessions.md"},
	{"the conversation is too long", "sessions.md#long-conversations"},
	{"export a session as html", "sessions.md#export-as-a-page-or-as-markdown"},
	{"delete old sessions", "sessions.md"},
	{"work until the tests pass", "goals.md"},
	{"plan before coding", "goals.md#plan-first-then-do"},
	{"run a task every night", "goals.md#scheduled-tasks"},
	{"how much does it cost", "costs.md"},
	{"limit what I spend", "costs.md"},
	{"subagents in git worktrees", "agents.md#worktrees"},
	{"skills", "skills.md"},
	{"jupyter notebook", "files.md#notebooks"},
	{"read a pdf", "files.md#pdf"},
	{"text in shift_jis or another encoding", "files.md#files-that-are-not-utf-8"},
	{"language server errors after an edit", "code.md#errors-after-an-edit"},
	{"command keeps running in the background", "shell.md#in-the-background"},
	{"search the web", "web-search.md"},
	// Configure
	{"where is the config file", "configuration.md#where-the-file-is"},
	{"all settings", "reference/settings.md"},
	{"add an mcp server", "mcp.md"},
	{"hooks", "hooks.md"},
	{"install a plugin", "skills.md#plug-ins"},
	{"why is the output of my command shortened", "filters.md"},
	// Trust
	{"why was I asked", "asked.md"},
	{"stop asking me for permission", "permissions.md"},
	{"allow a command forever", "asked.md#the-answer-always-allow-a-command-forever"},
	{"auto mode", "permissions.md#modes"},
	{"is my code sent anywhere, what does it protect", "security.md"},
	{"are secrets hidden from the model", "security.md#masking-of-credentials-secrets-hidden-from-the-model"},
	{"sandbox", "sandbox.md"},
	{"what did the agent do, audit log", "audit.md"},
	{"settings of an administrator", "audit.md#managed-configuration-settings-of-an-administrator"},
	// Build on it
	{"write an editor extension", "client-authors.md"},
	{"acp version 2", "protocol.md#version-2-of-the-protocol"},
	{"how is it built", "architecture.md"},
	{"crash or full disk", "reliability.md"},
	// Questions of new users
	{"it says 401 invalid api key", "troubleshooting.md#no-model-answers"},
	{"how do I switch to a cheaper model mid conversation", "models.md#choosing-a-model"},
	{"thinking effort reasoning level", "models.md#choosing-a-model"},
	{"offline without internet", "local-models.md"},
	{"use my own openai compatible endpoint", "local-models.md#lm-studio-vllm-openrouter-llamacpp-and-others"},
	{"use my chatgpt subscription", "keys.md#subscriptions"},
	{"how do I log out", "keys.md"},
	{"pycharm plugin", "editors.md"},
	{"ssh remote machine", "editors.md#other-editors-and-other-machines"},
	{"interrupt the agent", "chat.md#while-a-turn-runs"},
	{"vim keybindings", "chat.md#settings"},
	{"CLAUDE.md support", "instructions.md"},
	{"make it answer in german", "instructions.md"},
	{"write a commit message", "run.md"},
	{"pre-commit hook", "ci.md#before-each-commit-a-pre-commit-hook-of-git"},
	{"token usage", "costs.md"},
	{"format code after every edit", "hooks.md"},
	{"find all usages of a function", "code.md"},
	{"give it access to a folder outside the project", "files.md#several-directories-or-repositories"},
	{"it cannot see my file", "files.md#ignored-files"},
	{"list previous chats", "sessions.md"},
	{"branch off a conversation", "sessions.md#forks"},
	{"what happens when two agents edit the same file", "sessions.md#several-agents-at-once"},
	{"loop until build succeeds", "goals.md"},
	{"second opinion from another model", "agents.md"},
	{"run npm test without asking", "permissions.md#rules"},
	{"yolo mode", "permissions.md#modes"},
	{"how can I see the diff before it writes", "asked.md#what-a-question-shows"},
	{"does it send telemetry", "security.md#what-leaves-this-machine-no-telemetry"},
	{"prompt injection", "security.md"},
	{"is it safe to run on an untrusted repository", "security.md"},
	{"restrict internet access of commands", "sandbox.md"},
	{"forbid auto mode for all developers", "audit.md#managed-configuration-settings-of-an-administrator"},
	{"who approved this command", "audit.md"},
	{"migrate from aider", "coming-from.md"},
	{"how does it compare to other agents", "benchmarks.md"},
	{"bash completion tab", "install.md#completion-in-your-shell"},
}

// TestQuestions searches for each question: the answer is one of the first three hits.
func TestQuestions(t *testing.T) {
	library, err := Read(docs.Pages)
	if err != nil {
		t.Fatal(err)
	}
	if len(questions) < 60 {
		t.Fatalf("only %d questions", len(questions))
	}
	for _, q := range questions {
		var names []string
		answered := false
		for _, s := range library.Find(q[0], 3) {
			names = append(names, s.Name())
			// A page answers if any of its sections is found; a section, if it or its page is.
			answered = answered || s.Name() == q[1] || !strings.Contains(q[1], "#") && s.Page == q[1] || s.Name() == strings.Split(q[1], "#")[0]
		}
		if !answered {
			t.Errorf("%q finds %q, not %s", q[0], names, q[1])
		}
		if library.Named(q[1]) == nil {
			t.Errorf("there is no section %s", q[1])
		}
	}
}
