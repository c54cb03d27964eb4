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
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
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

	repo, d := setting.Default[Config](), newDecoder(root)
	d.File = file
	v := reflect.ValueOf(&repo).Elem()
	d.Decode(root, v, "")
	d.Validate(check(repo))
	if len(d.Mistakes) >= toml.MaxMistakes { // further mistakes are not recorded, so the remaining keys may be wrong
		return cfg, []string{d.Mistakes.In(file)[0].Error() + "; the whole file is ignored, as it has too many mistakes"}
	}
	// An array loses its wrong elements only, not the others.
	moved := map[string]string{}
	d.Drop(v, "", moved)
	for i := range d.Mistakes {
		d.Mistakes[i].Text = toml.OneLine(d.Mistakes[i].Text) + " (ignored)"
	}
	for _, m := range d.Mistakes {
		delete(d.Set, m.Key)
	}
	result, ignored := setting.Tighten(cfg, repo, slices.Collect(maps.Keys(d.Set))...)
	if limit := result.Tools.MaxOutputChars; limit < cfg.Tools.MaxOutputChars {
		result.capOutput(limit)
	}
	for _, key := range ignored {
		key = cmp.Or(moved[key], key)
		d.Mistakes = append(d.Mistakes, toml.Mistake{
			Line: d.LineOf(key), Key: key, Text: "ignored: a workspace may only tighten the configuration",
		})
	}
	if len(check(result)) > 0 {
		return cfg, []string{toml.Printable(file) + " is ignored: it makes the configuration invalid"}
	}
	return result, warnings(append(d.Mistakes, d.Warnings...).In(file))
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
