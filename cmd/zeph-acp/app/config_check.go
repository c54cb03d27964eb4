package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Findings are what Check found.
type Findings struct {
	Mistakes  Mistakes // what does not work
	Warnings  []string // what has no effect, one line each
	Workspace string   // the workspace's file; empty if there is none, or something wrong in it
}

// Check looks for what Load leaves until it is used: the file of the workspace
// dir, the model that the environment names, the files of scripts and of
// saved keys, and the tools that permissions are about. Nothing is connected.
func (l *Loaded) Check(dir, model string) Findings {
	var f Findings
	l.checkWorkspace(&f, dir)
	l.checkTools(&f)
	l.checkScripts(&f)
	f.Warnings = append(f.Warnings, l.checkFilters()...)
	if err := l.Keys().Err(); err != nil {
		where, text, _ := strings.Cut(err.Error(), ": ")
		f.Mistakes = append(f.Mistakes, Mistake{Where: where, Text: text})
	}
	if model != "" {
		if _, err := llm.Select(l.Config.LLM, l.Keys().Getenv, model); err != nil {
			f.Mistakes = append(f.Mistakes, Mistake{Where: "ZEPH_MODEL", Text: err.Error()})
		}
	}
	return f
}

// checkWorkspace warns of what a session would, but a file that nobody can read
// is a mistake here.
func (l *Loaded) checkWorkspace(f *Findings, dir string) {
	file := filepath.Join(dir, filepath.FromSlash(workspaceFile))
	if l.isUsers(file) {
		return
	}
	data, err := readWorkspaceFile(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		if _, mistakes := parse(data); len(mistakes) > 0 {
			f.Mistakes = append(f.Mistakes, mistakes.in(file)...)
			return
		}
	}
	_, warnings := Tighten(l.Config, dir)
	f.Warnings = append(f.Warnings, warnings...)
	if len(warnings) == 0 {
		f.Workspace = file
	}
}

// isUsers reports whether the file is the user's own configuration, as with
// ZEPH_HOME in a project.
func (l *Loaded) isUsers(file string) bool {
	this, err := os.Stat(file)
	if err != nil {
		return false
	}
	return slices.ContainsFunc([]string{l.File, l.Paths.ConfigFile()}, func(own string) bool {
		info, err := os.Stat(own)
		return err == nil && os.SameFile(this, info)
	})
}

// checkTools warns of rules about tools that there are not.
func (l *Loaded) checkTools(f *Findings) {
	var names []string
	for _, t := range Catalogue() {
		names = append(names, t.Name)
	}
	for _, tool := range slices.Sorted(maps.Keys(l.Config.Tools.Permissions)) {
		if slices.Contains(names, tool) || tool == "shell" { // bash in older configurations
			continue
		}
		key, hint := "tools.permissions."+tool, ""
		if near := nearest(tool, names); near != "" {
			hint = fmt.Sprintf(" (did you mean %q?)", near)
		}
		f.Warnings = append(f.Warnings, Mistake{Where: l.whence(key), Key: key, Text: "there is no such tool" + hint}.Error())
	}
}

// checkScripts reads the scripts of all providers.
func (l *Loaded) checkScripts(f *Findings) {
	for i, p := range l.Config.LLM.Providers {
		if p.Type != llm.TypeScript {
			continue
		}
		file, err := filepath.Abs(p.Model) // as it is looked for
		if err == nil {
			_, err = llm.LoadScript(file)
		}
		if err != nil {
			key := fmt.Sprintf("llm.providers[%d].model", i)
			f.Mistakes = append(f.Mistakes, Mistake{Where: l.whence(key), Key: key, Text: err.Error()})
		}
	}
}

// whence is where a key, or the first one below it, was set.
func (l *Loaded) whence(key string) string {
	where := l.origin[key]
	for _, k := range slices.Sorted(maps.Keys(l.origin)) {
		if where == "" && strings.HasPrefix(k, key+"[") {
			where = l.origin[k]
		}
	}
	return cmp.Or(where, l.File)
}
