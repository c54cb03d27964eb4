package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/filter"
)

var (
	block      = regexp.MustCompile("(?ms)^```(\\w*)[^\n]*\n(.*?)^```$")
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
)

// TestDocumentedCommands checks each command line of ours in the documents: the command
// exists, and so do its flags.
func TestDocumentedCommands(t *testing.T) {
	checked := 0
	for page, text := range documents(t) {
		lines := map[string]bool{}
		for _, b := range block.FindAllStringSubmatch(text, -1) {
			if b[1] == "sh" || b[1] == "" || b[1] == "yaml" {
				for line := range strings.Lines(b[2]) {
					lines[strings.TrimPrefix(strings.TrimSpace(line), "$ ")] = true
				}
			}
		}
		for _, code := range inlineCode.FindAllStringSubmatch(block.ReplaceAllString(text, ""), -1) {
			lines[code[1]] = true
		}
		for line := range lines {
			for _, args := range ourCommands(line) {
				checked++
				if problem := problemOf(args); problem != "" {
					t.Errorf("%s: %q: %s", page, line, problem)
				}
			}
		}
	}
	if checked < 120 {
		t.Errorf("only %d commands were found", checked)
	}
}

// documents returns the pages of the repository by name.
func documents(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return fs.SkipDir
		case filepath.Ext(path) != ".md" || d.Name() == "CHANGELOG.md": // it also names what is gone
			return nil
		}
		text, err := os.ReadFile(path)
		pages[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// ourCommands returns the arguments of each call of zeph-acp in a line. A word that is not
// plain text, such as "$ID", is "x". A line that is not shell code has no calls.
func ourCommands(line string) (calls [][]string) {
	if !strings.Contains(line, "zeph-acp") {
		return nil
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return nil
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		var words []string
		for _, w := range call.Args {
			words = append(words, wordText(w))
		}
		switch {
		case len(words) > 1 && words[0] == "zeph-acp":
			calls = append(calls, words[1:])
		case len(words) > 3 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/zeph-acp":
			calls = append(calls, words[3:])
		}
		return true
	})
	return calls
}

func wordText(w *syntax.Word) string {
	text := ""
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text += p.Value
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			text += wordText(&syntax.Word{Parts: p.Parts})
		default:
			text += "x"
		}
	}
	return text
}

// problemOf returns why no command accepts the arguments, or "".
func problemOf(args []string) string {
	for i, a := range args {
		args[i] = strings.TrimRight(a, ",…")
	}
	root := newRoot(nil)
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err.Error()
	}
	if cmd == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return "there is no such command"
	}
	if err := cmd.ParseFlags(rest); err != nil && !strings.Contains(err.Error(), "needs an argument") && !strings.Contains(err.Error(),
		"help requested") && !strings.Contains(err.Error(), "invalid argument") {
		return err.Error()
	}
	if first := cmd.Flags().Args(); cmd.HasSubCommands() && cmd != root && len(first) > 0 && strings.ToLower(first[0]) == first[0] && first[0] != "" {
		return "there is no command " + first[0]
	}
	return ""
}

// TestDocumentedConfiguration loads each sample of TOML in the documents, as the kind of
// file that it shows.
func TestDocumentedConfiguration(t *testing.T) {
	checked := 0
	for page, text := range documents(t) {
		for _, b := range block.FindAllStringSubmatch(text, -1) {
			if b[1] != "toml" {
				continue
			}
			checked++
			if err := loadSample(t, b[2]); err != nil {
				t.Errorf("%s: %v\n%s", page, err, b[2])
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d samples were found", checked)
	}
}

// loadSample loads a configuration, filter rules, or remembered answers.
func loadSample(t *testing.T, sample string) error {
	file := filepath.Join(t.TempDir(), "sample.toml")
	if err := os.WriteFile(file, []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	o := config.Options{File: file, Environ: []string{"HOME=" + t.TempDir()}}
	switch {
	case strings.HasPrefix(sample, "[[rules]]"):
		if _, warnings := filter.New(file); len(warnings) > 0 {
			return errors.New(strings.Join(warnings, "; "))
		}
		return nil
	case strings.Contains(sample, "[[project."):
		_, err := answers.Parse([]byte(sample))
		return err
	case strings.Contains(sample, "[[managed."):
		if runtime.GOOS == "windows" { // its owners have no numbers
			return nil
		}
		o.File, o.Managed = "", config.ManagedFile{Path: file, Owner: strconv.Itoa(os.Getuid())}
	}
	_, err := config.Load(o)
	return err
}
