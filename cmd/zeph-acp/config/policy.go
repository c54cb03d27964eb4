package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// loadPolicy reads the file that [tools.policy] names, if the table is enabled. A rule that
// is left out would allow more, so every mistake stops the start.
func (l *Loaded) loadPolicy() toml.Mistakes {
	c := &l.Config.Tools.Policy
	if c.Enabled && c.PolicyFile != "" {
		if mistakes := l.loadRules(c); len(mistakes) > 0 {
			return mistakes
		}
	}
	l.Warnings = append(l.Warnings, c.Warnings()...)
	l.Warnings = append(l.Warnings, l.Config.Tools.Authorization.Warnings()...)
	return nil
}

// policyRules is the document of a policy_file.
type policyRules struct {
	Rules []rules.Rule `toml:"rules"`
}

// loadRules reads the policy_file.
func (l *Loaded) loadRules(c *rules.Config) toml.Mistakes {
	const key = "tools.policy.policy_file"
	file, data, err := l.readPolicy(key, c.PolicyFile)
	if err != nil {
		return toml.Mistakes{{Where: l.Origin(key), Key: key, Text: err.Error()}}
	}
	root, mistakes := toml.Parse(data)
	var own policyRules
	d := toml.NewDecoder()
	d.File, d.Partial = file, len(mistakes) > 0
	d.Decode(root, reflect.ValueOf(&own).Elem(), "")
	d.Validate(setting.Check(rules.Authorization{Rules: own.Rules}))
	if mistakes = append(mistakes, d.Mistakes...); len(mistakes) > 0 {
		return mistakes.In(file)
	}
	c.File, c.FileRules = file, own.Rules
	return nil
}

// readPolicy reads a file of rules. A relative path starts at the
// directory of the file that has the key.
func (l *Loaded) readPolicy(key, path string) (file string, data []byte, err error) {
	file = path
	if rest, ok := strings.CutPrefix(filepath.ToSlash(path), "~/"); ok {
		if file = filepath.Join(HomeDir(l.Getenv), rest); !filepath.IsAbs(file) {
			return "", nil, errors.New("there is no home directory")
		}
	}
	if !filepath.IsAbs(file) {
		dir := "."
		if where := l.origins[key]; filepath.IsAbs(where) { // FILE:LINE
			dir = filepath.Dir(where[:max(0, strings.LastIndexByte(where, ':'))])
		}
		if file, err = filepath.Abs(filepath.Join(dir, file)); err != nil {
			return "", nil, err
		}
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return "", nil, withoutOperation(err)
	}
	f, err := os.OpenFile(file, os.O_RDONLY|keys.Nonblock, 0)
	if err != nil {
		return "", nil, withoutOperation(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", nil, fmt.Errorf("%s is not a regular file", toml.Printable(file))
	}
	data, err = io.ReadAll(io.LimitReader(f, rules.MaxFile+1))
	if err == nil && len(data) > rules.MaxFile {
		err = fmt.Errorf("%s is larger than %d KiB", toml.Printable(file), rules.MaxFile>>10)
	}
	return file, data, err
}

// withoutOperation returns a file error without the name of the operation.
func withoutOperation(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", toml.Printable(e.Path), e.Err)
	}
	return err
}
