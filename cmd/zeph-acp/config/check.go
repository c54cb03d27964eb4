package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/hooks"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
	"github.com/zeph-acp/zeph-acp/session/agent/toolset"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// Findings are the results of [Loaded.Check].
type Findings struct {
	Mistakes  toml.Mistakes // errors in the configuration
	Warnings  []string      // settings without effect, one line each
	Workspace string        // the workspace's file; empty if there is no such file, or it has mistakes
}

// Check finds the mistakes that Load defers until a value is used. It checks the
// workspace's file in dir, models, script files, hooks, saved keys, and directories. It
// also checks the tools in permission rules and of sub-agents, and keys that have no
// effect without others. It opens no connection.
func (l *Loaded) Check(dir, model string, tools []executors.Tool) Findings {
	var f Findings
	l.checkManaged(&f)
	l.checkWorkspace(&f, dir)
	l.checkTools(&f, tools)
	l.checkAgents(&f, tools)
	l.checkScripts(&f)
	l.checkHooks(&f)
	l.checkKeys(&f)
	l.checkToolset(&f, tools)
	l.checkAllowedPaths(&f)
	l.checkPolicyFiles(&f)
	f.Warnings = append(f.Warnings, l.checkFilters()...)
	if err := l.Keys().Err(); err != nil {
		where, text, _ := strings.Cut(err.Error(), ": ")
		f.Mistakes = append(f.Mistakes, toml.Mistake{Where: where, Text: text})
	}
	if model != "" {
		if _, err := provider.Select(l.Config.LLM, l.Keys().Getenv, nil, model); err != nil {
			f.Mistakes = append(f.Mistakes, toml.Mistake{Where: "ZEPH_MODEL", Text: err.Error()})
		}
	}
	return f
}

// checkWorkspace adds the warnings that a session would show. A file that cannot
// be parsed is a mistake here.
func (l *Loaded) checkWorkspace(f *Findings, dir string) {
	file := filepath.Join(dir, filepath.FromSlash(WorkspaceFile))
	if l.isUserConfig(file) {
		return
	}
	data, err := readWorkspaceFile(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		if _, mistakes := toml.Parse(data); len(mistakes) > 0 {
			f.Mistakes = append(f.Mistakes, mistakes.In(file)...)
			return
		}
	}
	_, warnings := Tighten(l.Config, dir)
	f.Warnings = append(f.Warnings, warnings...)
	if len(warnings) == 0 {
		f.Workspace = file
	}
}

// isUserConfig reports whether the file is the user's own configuration, as with
// ZEPH_HOME in a project.
func (l *Loaded) isUserConfig(file string) bool {
	this, err := os.Stat(file)
	if err != nil {
		return false
	}
	return slices.ContainsFunc([]string{l.File, l.Paths.configFile()}, func(own string) bool {
		info, err := os.Stat(own)
		return err == nil && os.SameFile(this, info)
	})
}

// checkTools warns of rules about tools that do not exist.
func (l *Loaded) checkTools(f *Findings, tools []executors.Tool) {
	names := namesOf(tools)
	for _, tool := range slices.Sorted(maps.Keys(l.Config.Tools.Permissions)) {
		if slices.Contains(names, tool) || strings.Contains(tool, "__") { // tools of an MCP server are unknown until it runs
			continue
		}
		if re, err := wildcard.Compile(tool); err == nil && strings.Contains(tool, "*") && slices.ContainsFunc(names, re.MatchString) {
			continue
		}
		key := "tools.permissions." + tool
		if now := slices.IndexFunc(renames, func(r toml.Rename) bool { return r.Old == key }); now >= 0 {
			l.warn(f, key, strings.TrimPrefix(renameHint(renames[now]), ": "))
			continue
		}
		l.warn(f, key, "there is no such tool"+nearHint(tool, names))
	}
}

// checkAgents warns of tools of the user's types of sub-agents that do not exist.
func (l *Loaded) checkAgents(f *Findings, tools []executors.Tool) {
	names := namesOf(tools)
	for i, agent := range l.Config.Agents {
		for _, tool := range agent.Tools {
			if !slices.Contains(names, tool) && !strings.Contains(tool, "__") && !strings.ContainsAny(tool, "*?[") {
				l.warn(f, fmt.Sprintf("agents[%d].tools", i), fmt.Sprintf("there is no tool %q%s", tool, nearHint(tool, names)))
			}
		}
	}
}

func namesOf(tools []executors.Tool) (names []string) {
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

// nearHint returns the hint for an unknown name: the most similar known one; "" if no name is
// similar.
func nearHint(name string, known []string) string {
	if near := toml.Nearest(name, known); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// checkScripts reads the scripts of all providers.
func (l *Loaded) checkScripts(f *Findings) {
	for i, p := range l.Config.LLM.Providers {
		if p.Type != provider.TypeScript {
			continue
		}
		file, err := filepath.Abs(p.Model) // the path that the provider opens
		if err == nil {
			_, err = local.LoadScript(file)
		}
		if err != nil {
			key := fmt.Sprintf("llm.providers[%d].model", i)
			f.Mistakes = append(f.Mistakes, toml.Mistake{Where: l.Origin(key), Key: key, Text: err.Error()})
		}
	}
}

// checkHooks reads the user's file of hooks.
func (l *Loaded) checkHooks(f *Findings) {
	if !l.Config.Tools.Hooks.Enabled || l.Paths.Config == "" {
		return
	}
	file := filepath.Join(l.Paths.Config, hooks.FileName)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		f.Mistakes = append(f.Mistakes, toml.Mistake{Where: file, Text: workspace.Cause(err).Error()})
		return
	}
	mistakes, warnings := hooks.Check(data, l.Config.Tools.Hooks)
	for _, text := range mistakes {
		f.Mistakes = append(f.Mistakes, toml.Mistake{Where: file, Text: text})
	}
	for _, text := range warnings {
		f.Warnings = append(f.Warnings, file+": "+text)
	}
}

// checkKeys checks the models for work outside the conversation, and warns of keys that have no
// effect without other keys.
func (l *Loaded) checkKeys(f *Findings) {
	values, defaults := valuesOf(l.Config), valuesOf(setting.Default[Config]())
	setting.Walk(reflect.ValueOf(l.Config), "", func(path string, key setting.Field, v reflect.Value) {
		table := strings.TrimSuffix(path, key.Key)
		needs, met := key.Needs(func(name string) bool { return fmt.Sprint(values[table+name]) == "true" })
		if _, set := l.origins[path]; set && !met && !reflect.DeepEqual(v.Interface(), defaults[path]) {
			l.warn(f, path, "has no effect without "+needs)
		}
		if !met || key.Tag.Get("format") != setting.FormatModel || v.String() == "" {
			return
		}
		if _, err := provider.Select(l.Config.LLM, l.Keys().Getenv, nil, v.String()); err != nil {
			f.Mistakes = append(f.Mistakes, toml.Mistake{Where: l.Origin(path), Key: path, Text: err.Error()})
		}
	})
}

// valuesOf returns the values of a configuration, by path.
func valuesOf(c Config) map[string]any {
	values := map[string]any{}
	setting.Walk(reflect.ValueOf(c), "", func(path string, _ setting.Field, v reflect.Value) { values[path] = v.Interface() })
	return values
}

// checkToolset adds the warnings that a session would show: about tools that do
// not exist, and values that are replaced.
func (l *Loaded) checkToolset(f *Findings, known []executors.Tool) {
	tools, filter := l.Config.Tools, l.Config.Agent.ToolFilter
	if len(tools.Dependencies.Rules) > 0 && !tools.Dependencies.Enabled {
		f.Warnings = append(f.Warnings, l.File+": tools.dependencies.rules has no effect without tools.dependencies.enabled = true")
	}
	set := toolset.New(toolset.Config{TAFC: tools.TAFC, Filter: filter, Dependencies: tools.Dependencies}, nil, slog.New(slog.DiscardHandler))
	for _, w := range set.Warnings(func() []executors.Tool { return known }) {
		f.Warnings = append(f.Warnings, l.File+": "+w)
	}
}

// checkAllowedPaths warns of directories that do not exist.
func (l *Loaded) checkAllowedPaths(f *Findings) {
	home := HomeDir(l.Getenv)
	for _, list := range []struct {
		key  string
		dirs []string
	}{
		{"tools.file.allowed_paths", l.Config.Tools.File.AllowedPaths},
		{"tools.shell.allowed_paths", l.Config.Tools.Shell.AllowedPaths},
	} {
		for _, dir := range list.dirs {
			abs := dir
			if rest, ok := strings.CutPrefix(dir, "~"); ok {
				abs = filepath.Join(home, rest)
			}
			if why := unusableDir(abs); why != "" {
				l.warn(f, list.key, fmt.Sprintf("%q has no effect: %s", dir, why))
			}
		}
	}
}

// checkPolicyFiles warns of files of policies that cannot be read. Their gates deny every
// call, or did not start.
func (l *Loaded) checkPolicyFiles(f *Findings) {
	home := HomeDir(l.Getenv)
	if c := l.Config.Tools.Adversarial; c.Enabled && c.PolicyFile != "" {
		if _, err := c.Load(home); err != nil {
			l.warn(f, "tools.adversarial_policy.policy_file", "every call that the gate judges is denied: "+withoutOperation(err).Error())
		}
	}
	if c := l.Config.Tools.Policy; !c.Enabled && c.PolicyFile != "" {
		if _, _, err := l.readPolicy("tools.policy.policy_file", c.PolicyFile); err != nil {
			l.warn(f, "tools.policy.policy_file", "has no effect without enabled = true, and cannot be read: "+err.Error())
		}
	}
}

// unusableDir returns the reason why a path cannot be used as a directory; "" if it is one.
func unusableDir(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist"
	case err != nil:
		return "it cannot be read"
	case !info.IsDir():
		return "it is not a directory"
	}
	return ""
}

// warn adds a warning about a key, with the place where the key was set.
func (l *Loaded) warn(f *Findings, key, text string) {
	f.Warnings = append(f.Warnings, toml.Mistake{Where: l.Origin(key), Key: key, Text: text}.Error())
}

// Origin returns the place where a key, or the first element of its list, was set; the file
// for a key that was not set.
func (l *Loaded) Origin(key string) string {
	where := l.origins[key]
	for _, k := range slices.Sorted(maps.Keys(l.origins)) {
		if where == "" && strings.HasPrefix(k, key+"[") {
			where = l.origins[k]
		}
	}
	return cmp.Or(where, l.File)
}
