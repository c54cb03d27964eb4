package main

import (
	"context"
	"regexp"

	"github.com/zeph-acp/zeph-acp/integration/agents"
)

// failing repairs a bug that makes 112 tests of a module fail.
var failing = task{
	name:   "failing-test",
	prompt: "Most tests of this module fail. Find out why, and fix it.",
	prepare: func(ctx context.Context, w *workspace) error {
		if err := w.copyModule(ctx, "github.com/spf13/cobra@v1.10.2"); err != nil {
			return err
		}
		if err := w.replace("command.go", "	i := strings.Index(name, \" \")\n", "	i := strings.Index(name, \"-\")\n"); err != nil {
			return err
		}
		if err := w.do(ctx, "go mod tidy", "rm -rf site assets && git init -q && git add . && git commit -qm 'import cobra'"); err != nil {
			return err
		}
		lines, err := w.lines(ctx, goTestV)
		if err != nil {
			return err
		}
		failed, place := regexp.MustCompile(`--- FAIL: (\S+)`), regexp.MustCompile(`^\s+(\w+_test\.go:\d+): `)
		for i, line := range lines {
			if m := failed.FindStringSubmatch(line); m != nil {
				w.need("failing test", m[1])
				continue
			}
			if m := place.FindStringSubmatch(line); m != nil && i > 0 && runLine.MatchString(lines[i-1]) {
				w.need("place of a failure", m[1])
			}
		}
		w.need("the bug", `i := strings.Index(name, "-")`)
		return nil
	},
	steps: []agents.Call{
		command("git status --short && ls"),
		command("go test -skip TestFailGen ./..."),
		command(goTestV),
		search("commandNameMatches", "."),
		read("command.go", 740, 840),
		read("command_test.go", 20, 180),
		command("go test -v -run 'TestRootExecuteUnknownCommand|TestSubcommandExecuteC' ."),
		read("command.go", 1920, 1945),
		edit("command.go", "	if EnableCaseInsensitive {\n		return strings.EqualFold(s, t)\n	}\n",
			"	if EnableCaseInsensitive || strings.EqualFold(s, t) {\n		return strings.EqualFold(s, t)\n	}\n"),
		command(goTestV),
		command("git diff"),
		search(`Name()`, "command.go"),
		read("command.go", 1530, 1575),
		edit("command.go", "	i := strings.Index(name, \"-\")\n", "	i := strings.Index(name, \" \")\n"),
		edit("command.go", "	if EnableCaseInsensitive || strings.EqualFold(s, t) {\n", "	if EnableCaseInsensitive {\n"),
		command("go vet ."),
		command(goTestV),
		read("command.go", 1530, 1575),
		command("git diff"),
		command("go test -skip TestFailGen ./..."),
	},
	check: "go test -skip TestFailGen .",
}

// goTestV runs all tests but two that fail for root.
const goTestV = "go test -v -skip TestFailGen ."

var runLine = regexp.MustCompile(`^=== (RUN|CONT)`)

// rename renames a type and repairs what did not compile.
var rename = task{
	name:   "rename",
	prompt: "Rename the type NormalizedName to CanonicalName in the whole module, and make sure that all tests pass.",
	prepare: func(ctx context.Context, w *workspace) error {
		if err := w.copyModule(ctx, "github.com/spf13/pflag@v1.0.9"); err != nil {
			return err
		}
		if err := w.do(ctx, "git init -q && git add . && git commit -qm 'import pflag'"); err != nil {
			return err
		}
		lines, err := w.lines(ctx, "grep -h NormalizedName *.go")
		if err != nil {
			return err
		}
		w.need("a use", lines...)
		tests, err := w.lines(ctx, "grep -l NormalizedName *.go")
		if err != nil {
			return err
		}
		w.need("a file", tests...)
		return nil
	},
	steps: []agents.Call{
		command("git log --oneline -3 && git status --short && ls"),
		search("NormalizedName", "."),
		read("flag.go", 120, 300),
		edit("flag.go", "// NormalizedName is a flag name that has been normalized according to rules\n",
			"// CanonicalName is a flag name that has been normalized according to rules\n"),
		edit("flag.go", "type NormalizedName string\n", "type CanonicalName string\n"),
		command("go build ./..."),
		command("grep -n NormalizedName *.go"),
		read("flag.go", 150, 300),
		edit("flag.go", "func (f *FlagSet) SetNormalizeFunc(n func(f *FlagSet, name string) NormalizedName) {\n",
			"func (f *FlagSet) SetNormalizeFunc(n func(f *FlagSet, name string) CanonicalName) {\n"),
		command("sed -i 's/NormalizedName/CanonicalName/g' flag.go"),
		command("go build ./... && go vet ./..."),
		search("NormalizedName", "."),
		read("flag_test.go", 430, 560),
		command("sed -i 's/NormalizedName/CanonicalName/g' *_test.go golangflag.go README.md"),
		command("go vet ./... && go test -v ./..."),
		command("git diff"),
		search("Normalized", "flag.go"),
		read("flag.go", 860, 1000),
		command("go test -v -run 'Normaliz' ./..."),
		command("git diff --stat && git diff"),
	},
	check: "go test ./... && ! grep -rn NormalizedName .",
}
