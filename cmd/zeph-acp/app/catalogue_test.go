package app

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
)

// maxCatalogue is the largest size of the tools that work on the project in
// each request, in bytes.
const maxCatalogue = 6<<10 + 1<<9

// TestCatalogueSize compares the size of the tools in a request, texts and
// schemas, with their limit.
func TestCatalogueSize(t *testing.T) {
	total := 0
	for _, b := range offered(t) {
		t.Logf("%-17s %4d bytes", b.name, len(b.text))
		// update_plan and ask_user work on the session alone, memory_save on the memory, and
		// sub_agent has the other tools do the work.
		if !slices.Contains([]string{"update_plan", "ask_user", "memory_save", "sub_agent"}, b.name) {
			total += len(b.text)
		}
	}
	if t.Logf("%d bytes in all", total); total > maxCatalogue {
		t.Errorf("the catalogue has %d bytes, %d is the limit", total, maxCatalogue)
	}
}

// maxPrompt is the largest size of tools and system prompt in each request of
// an empty workspace, in bytes.
const maxPrompt = 8<<10 + 500

func TestPromptSize(t *testing.T) {
	total := 0
	for _, b := range offered(t) {
		total += len(b.text)
	}
	roots, err := workspace.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &App{Log: slog.New(slog.DiscardHandler), shared: shared{filters: newFilters(&config.Loaded{})}}
	b := &sessionBuilder{app: a, cfg: setting.Default[config.Config](), dirs: sessionDirs{roots: roots, files: roots}}
	system, project := b.systemPrompt(&skills.Set{}, nil).texts()
	system += project
	if t.Logf("system prompt %d bytes, tools %d bytes", len(system), total); total+len(system) > maxPrompt {
		t.Errorf("system prompt and tools have %d bytes, %d is the limit", total+len(system), maxPrompt)
	}
}

// offer is a tool in the form that a provider gets.
type offer struct {
	name, text string
	seldom     bool
}

// onDemand are the tools that few sessions are offered. Skill tools and memory_search need
// something to load or find; the other tools need a prompt or a mode that suggests them.
var onDemand = []string{
	"load_skill", "invoke_skill", "memory_search", "exit_plan", "schedule_periodic", "schedule_deferred", "list_tasks", "cancel_task",
}

// maxOnDemand is the largest size of those tools, in bytes.
const maxOnDemand = 3 << 10

func TestOnDemandSize(t *testing.T) {
	total := 0
	for _, b := range sized(t) {
		if slices.Contains(onDemand, b.name) {
			t.Logf("%-17s %4d bytes", b.name, len(b.text))
			total += len(b.text)
		}
	}
	if total > maxOnDemand {
		t.Errorf("the tools have %d bytes, %d is the limit", total, maxOnDemand)
	}
}

// offered returns the tools of each session, without tool_search, which finds the others.
func offered(t *testing.T) []offer {
	return slices.DeleteFunc(sized(t), func(o offer) bool { return o.seldom || slices.Contains(onDemand, o.name) })
}

func sized(t *testing.T) []offer {
	var all []offer
	for _, tool := range catalogue.Tools() {
		b, err := json.Marshal(struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
		}{tool.Name, tool.Description, tool.Offered()})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, offer{tool.Name, string(b), tool.Is(executors.Seldom)})
	}
	return all
}

// The system prompt is the same in all projects, apart from the part that comes after the tools.
func TestSystemPromptInTwoProjects(t *testing.T) {
	var systems []string
	for _, rules := range []string{"Use tabs.", "Use spaces."} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
		roots, err := workspace.New(dir)
		if err != nil {
			t.Fatal(err)
		}
		a := &App{Log: slog.New(slog.DiscardHandler), shared: shared{filters: newFilters(&config.Loaded{})}}
		b := &sessionBuilder{app: a, cfg: setting.Default[config.Config](), scan: &redact.Scanner{}, dirs: sessionDirs{roots: roots, files: roots}}
		system, project := b.systemPrompt(&skills.Set{}, nil).texts()
		if !strings.Contains(project, rules) || !strings.Contains(project, roots.Cwd()) {
			t.Errorf("%q and the directory are missing in the part about the project:\n%s", rules, project)
		}
		systems = append(systems, system)
	}
	if systems[0] != systems[1] {
		t.Errorf("the system prompts of two projects differ:\n%s\n%s", systems[0], systems[1])
	}
}
