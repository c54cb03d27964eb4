package programs

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/reference/programs.md")

const page = "../../../docs/reference/programs.md"

// The page of the documentation says what the table says.
func TestPage(t *testing.T) {
	want := pageText()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Errorf("%v: docs/reference/programs.md is not what the table says; run this test with -update (-table +page)\n%s", err, diff)
	}
}

func pageText() string {
	var b strings.Builder
	b.WriteString(`# Programs that zeph-acp knows

This page is generated from [programs.toml](../../executors/command/programs/programs.toml), which also has the options of each command.
[permissions.md](../permissions.md) says what follows from it. An unknown program asks, and its words may be files.

## Only read

These run without a question, with the options that the table declares. Of a program with subcommands, those in the second column.

| program | subcommands |
|---|---|
`)
	var plain, version []string
	for _, words := range Words() {
		f, program := Block(words), strings.Fields(words)[0]
		var subs []string
		for _, under := range Under(program) {
			if under != program && Block(under).Plain != nil {
				subs = append(subs, code(strings.TrimPrefix(under, program+" ")))
			}
		}
		switch {
		case words != program:
		case len(subs) > 0:
			fmt.Fprintf(&b, "| `%s` | %s |\n", program, strings.Join(subs, " "))
		case f.Plain != nil:
			plain = append(plain, code(program))
		}
		if f.Version != "" {
			version = append(version, code(program))
		}
	}
	fmt.Fprintf(&b, "| %s | |\n\nThe version of these programs may be asked for: %s.\n", strings.Join(plain, " "), strings.Join(version, " "))
	b.WriteString(`
## Only ask a service

They ask once. "Always" then covers these commands of the program.

| program | subcommands |
|---|---|
`)
	for _, words := range Words() {
		var subs []string
		for _, under := range Under(words) {
			if Block(under).Asks != nil {
				subs = append(subs, code(strings.TrimPrefix(under, words+" ")))
			}
		}
		if len(subs) > 0 {
			fmt.Fprintf(&b, "| `%s` | %s |\n", words, strings.Join(subs, " "))
		}
	}
	b.WriteString(`
## Ask although a rule allows them

A rule that names the option covers the command: ` + "`git push --force*`, but not `git *`" + `.

| effect | commands |
|---|---|
`)
	effects := map[string][]string{}
	for _, words := range Words() {
		for _, c := range Block(words).Confirm {
			text := code(words)
			if c.Options != "" {
				text += " with " + codes(c.Options)
			}
			effects[c.Effect] = append(effects[c.Effect], text)
		}
	}
	for _, effect := range sortedKeys(effects) {
		fmt.Fprintf(&b, "| %s | %s |\n", effect, strings.Join(effects[effect], "; "))
	}
	section := func(title, text string, is func(*Facts) bool) {
		var names []string
		for _, words := range Words() {
			if is(Block(words)) {
				names = append(names, code(words))
			}
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s.\n", title, text, strings.Join(names, " "))
	}
	section("An \"always\" covers exactly the text", "They delete or overwrite data, so an \"always\" for one call does not cover the next.",
		func(f *Facts) bool { return f.Destructive })
	section("Run another command", "The command that they run is checked on its own.", func(f *Facts) bool { return f.Wraps != nil && !f.Wraps.OutputOnly })
	section("Run code", "The code in their words or their input may do anything.", func(f *Facts) bool { return f.Code || f.Shell || f.RunsText || f.RunsInput })
	section("Exchange data with other machines", "[gates.md](../gates.md) has the labels that follow.", func(f *Facts) bool { return f.Flow == "both" })
	section("Send data", "Likewise.", func(f *Facts) bool { return f.Flow == "sends" })
	b.WriteString("\nOf these programs, some words send data:\n\n| program | words |\n|---|---|\n")
	for _, words := range Words() {
		if f := Block(words); f.Sends+f.SendsBoth != "" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", words, codes(f.Sends+" "+f.SendsBoth))
		}
	}
	return b.String()
}

func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

func codes(list string) string {
	words := strings.Fields(list)
	for i, w := range words {
		words[i] = code(w)
	}
	return strings.Join(words, " ")
}

func sortedKeys(m map[string][]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
