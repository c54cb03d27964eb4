package llm

import "testing"

func TestMeantTool(t *testing.T) {
	tools := []Tool{
		{Name: "read", Aliases: "Read read_file cat"}, {Name: "web_scrape", Aliases: "WebFetch"}, {Name: "bash", Aliases: "Bash shell"},
		{Name: "grep", Aliases: "Grep search"}, {Name: "search_code", Aliases: "search"}, {Name: "db__query"}, {Name: "db.query"},
	}
	for name, want := range map[string]string{
		"read": "read", "functions.read": "read", "default_api:read": "read", "default_api.read": "read", "Read": "read", " read": "read",
		"read:0": "read", "functions.read:12": "read", "read<|channel|>commentary": "read", "mcp__zeph__read": "read", "mcp__zeph-acp__read": "read",
		"read_file": "read", "readFile": "read", "READ": "read", "cat": "read", "`read`": "read", "\"read\"": "read", "read()": "read",
		"functions.read<|message|>{}": "read", "tools/read": "read", "function::read": "read",
		"webScrape": "web_scrape", "web-scrape": "web_scrape", "functions.web_fetch": "web_scrape", "Bash": "bash", "shell": "bash",
		"Grep": "grep", "db__query": "db__query", "db.query": "db.query", "functions.db__query": "db__query",

		"search": "", "dbQuery": "db__query", "mcp__github__read": "", "other.read": "", "": "", " ": "", "reed": "", "read write": "", "functions.": "",
	} {
		got, ok := MeantTool(tools, name)
		if got.Name != want || ok != (want != "") {
			t.Errorf("MeantTool(%q): got %q, want %q", name, got.Name, want)
		}
	}
	if got, ok := SpelledTool(tools, "cat"); ok {
		t.Errorf("SpelledTool(cat): got %q, want nothing", got.Name)
	}
}
