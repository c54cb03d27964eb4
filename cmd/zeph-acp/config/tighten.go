package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// WorkspaceFile is the configuration that a repository may bring.
const WorkspaceFile = ".zeph/config.toml"

// maxWarnings limits how many warnings a repository can cause.
const maxWarnings = 20

// Tighten applies the file .zeph/config.toml of a session's working directory
// to the user's configuration. A repository is not trusted: the result never
// allows more than cfg, and a warning names each ignored key. A file that is
// not TOML changes nothing.
func Tighten(cfg Config, workspaceDir string) (Config, []string) {
	file := filepath.Join(workspaceDir, filepath.FromSlash(WorkspaceFile))
	data, err := readWorkspaceFile(workspaceDir)
	if errors.Is(err, fs.ErrNotExist) {
		return cfg, nil
	}
	if err != nil {
		return cfg, []string{fmt.Sprintf("%s is ignored: %v", toml.Printable(file), err)}
	}
	root, mistakes := toml.Parse(data)
	if len(mistakes) > 0 {
		return cfg, []string{mistakes.In(file)[0].Error() + "; the whole file is ignored"}
	}

	repo, d := Defaults(), newDecoder()
	d.File = file
	v := reflect.ValueOf(&repo).Elem()
	d.Decode(root, v, "")
	d.Validate(repo.validate())
	if len(d.Mistakes) >= toml.MaxMistakes { // further mistakes are not recorded, so the remaining keys may be wrong
		return cfg, []string{d.Mistakes.In(file)[0].Error() + "; the whole file is ignored, as it has too many mistakes"}
	}
	// An array loses its wrong elements only, not the others.
	moved := map[string]string{}
	d.Drop(v, "", moved)
	for i := range d.Mistakes {
		d.Mistakes[i].Text = toml.OneLine(d.Mistakes[i].Text) + " (ignored)"
	}
	result, ignored := merge(cfg, repo, d)
	for _, key := range ignored {
		key = cmp.Or(moved[key], key)
		d.Mistakes = append(d.Mistakes, toml.Mistake{
			Line: d.LineOf(key), Key: key, Text: "ignored: a workspace may only tighten the configuration",
		})
	}
	if len(result.validate()) > 0 {
		return cfg, []string{toml.Printable(file) + " is ignored: it makes the configuration invalid"}
	}
	return result, warnings(append(d.Mistakes, d.Warnings...).In(file))
}

// tighten adopts the values of a repository's file that make c stricter. keys returns
// the keys of the section at a path. Only the user can set a key that the section's
// Tighten does not ask for.
func (c *Config) tighten(repo *Config, keys func(path string) *tighten.Keys) {
	c.Agent.Config = c.Agent.Config.Tighten(repo.Agent.Config, keys("agent"))
	c.Tools.SubAgent = c.Tools.SubAgent.Tighten(repo.Tools.SubAgent, keys("tools.sub_agent"))
	c.Tools.AskUser = c.Tools.AskUser.Tighten(repo.Tools.AskUser, keys("tools.ask_user"))
	c.Tools.Config = c.Tools.Config.Tighten(repo.Tools.Config, keys("tools"))
	c.Tools.Shell.Config = c.Tools.Shell.Config.Tighten(repo.Tools.Shell.Config, keys("tools.shell"))
	c.Tools.Shell.ShellRules = c.Tools.Shell.ShellRules.Tighten(repo.Tools.Shell.ShellRules, keys("tools.shell"))
	c.Tools.File = c.Tools.File.Tighten(repo.Tools.File, keys("tools.file"))
	c.Tools.Scrape = c.Tools.Scrape.Tighten(repo.Tools.Scrape, keys("tools.scrape"))
	limit := c.Tools.MaxOutputChars
	if c.Tools.Offer = c.Tools.Offer.Tighten(repo.Tools.Offer, keys("tools")); c.Tools.MaxOutputChars < limit {
		c.capOutput(c.Tools.MaxOutputChars)
	}
	c.Tools.Limits = c.Tools.Limits.Tighten(repo.Tools.Limits, keys("tools"))
	c.Tools.Diagnostics = c.Tools.Diagnostics.Tighten(repo.Tools.Diagnostics, keys("tools.diagnostics"))
	c.Tools.LSP = c.Tools.LSP.Tighten(repo.Tools.LSP, keys("tools.lsp"))
	c.Tools.Sandbox = c.Tools.Sandbox.Tighten(repo.Tools.Sandbox, keys("tools.sandbox"))
	c.Tools.Policy = c.Tools.Policy.Tighten(repo.Tools.Policy, keys("tools.policy"))
	c.Tools.Authorization = c.Tools.Authorization.Tighten(repo.Tools.Authorization, keys("tools.authorization"))
	c.Tools.Filters = c.Tools.Filters.Tighten(repo.Tools.Filters, keys("tools.filters"))
	c.Tools.Overflow = c.Tools.Overflow.Tighten(repo.Tools.Overflow, keys("tools.overflow"))
	c.Tools.Memory = c.Tools.Memory.Tighten(repo.Tools.Memory, keys("tools.memory"))
	c.Tools.ResultCache = c.Tools.ResultCache.Tighten(repo.Tools.ResultCache, keys("tools.result_cache"))
	c.Tools.Retry = c.Tools.Retry.Tighten(repo.Tools.Retry, keys("tools.retry"))
	c.Tools.Rewind = c.Tools.Rewind.Tighten(repo.Tools.Rewind, keys("tools.rewind"))
	c.Tools.Trust = c.Tools.Trust.Tighten(repo.Tools.Trust, keys("tools.trust"))
	c.Tools.Anomaly = c.Tools.Anomaly.Tighten(repo.Tools.Anomaly, keys("tools.anomaly"))
	c.Tools.Scheduler = c.Tools.Scheduler.Tighten(repo.Tools.Scheduler, keys("tools.scheduler"))
	c.Tools.Skills = c.Tools.Skills.Tighten(repo.Tools.Skills, keys("tools.skills"))
	c.Tools.InformationFlow = c.Tools.InformationFlow.Tighten(repo.Tools.InformationFlow, keys("tools.information_flow"))
	c.ACP = c.ACP.Tighten(repo.ACP, keys("acp"))
}

// merge lets each section adopt its permitted keys among those that d has set
// without mistakes. It returns the keys that no section adopted.
func merge(cfg, repo Config, d *toml.Decoder) (Config, []string) {
	set := slices.Sorted(maps.Keys(d.Set))
	var asked, ignored []string
	paths := map[*tighten.Keys]string{}
	cfg.tighten(&repo, func(path string) *tighten.Keys {
		keys := tighten.New(func(key string) bool {
			key = keyPath(path, key)
			asked = append(asked, key)
			wrong := slices.ContainsFunc(d.Mistakes, func(m toml.Mistake) bool { return m.Key == key })
			return !wrong && slices.ContainsFunc(set, func(below string) bool { return toml.Within(below, key) })
		})
		paths[keys] = path
		return keys
	})
	for keys, path := range paths {
		for _, key := range keys.Ignored() {
			ignored = append(ignored, keyPath(path, key))
		}
	}
	for _, key := range set {
		covered := func(above string) bool { return toml.Within(key, above) }
		if !slices.ContainsFunc(asked, covered) && !slices.ContainsFunc(ignored, covered) {
			ignored = append(ignored, key)
		}
	}
	slices.Sort(ignored)
	return cfg, slices.Compact(ignored)
}

// warnings returns mistakes as lines: at most maxWarnings, and one with the number of the rest.
func warnings(mistakes toml.Mistakes) []string {
	var lines []string
	for i, m := range mistakes {
		if i == maxWarnings {
			return append(lines, fmt.Sprintf("%s: %s ignored", toml.Printable(m.Where), quantity.Count(len(mistakes)-i, "more key")))
		}
		lines = append(lines, m.Error())
	}
	return lines
}

// readWorkspaceFile reads the workspace's file, which is not trusted.
func readWorkspaceFile(dir string) ([]byte, error) {
	f, err := keys.OpenBelow(dir, WorkspaceFile)
	if err != nil {
		return nil, workspace.Cause(err) // the caller adds the path
	}
	defer f.Close()
	return keys.ReadBounded(f)
}
