package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
)

// AddRules appends permission rules to the configuration file, and patterns to
// tools.file.deny_read. It returns the path of the file.
func AddRules(o Options, rules string, denyRead string) (file string, err error) {
	return changeFile(o, func(data []byte) ([]byte, error) {
		if denyRead != "" {
			if data, err = withDenyRead(data, denyRead); err != nil {
				return nil, err
			}
		}
		if rules == "" {
			return data, nil
		}
		return appendTable(data, rules), nil
	})
}

// withDenyRead returns a file with a value for tools.file.deny_read, which must not have
// one yet.
func withDenyRead(data []byte, list string) ([]byte, error) {
	line := "deny_read = " + list + "\n"
	root, _ := toml.Parse(data)
	table := root.Child("tools")
	if table != nil {
		table = table.Child("file")
	}
	if table == nil {
		return appendTable(data, "[tools.file]\n"+line), nil
	}
	if table.Child("deny_read") != nil {
		return nil, errors.New("it has tools.file.deny_read already: add the patterns above to it, and use --without-deny-read")
	}
	lines := strings.SplitAfter(string(data), "\n")
	at := slices.IndexFunc(lines, func(l string) bool {
		header, _, _ := strings.Cut(l, "#")
		return strings.ReplaceAll(strings.TrimSpace(header), " ", "") == "[tools.file]"
	})
	if at < 0 {
		return nil, errors.New("its table tools.file has no header: add the patterns above by hand, and use --without-deny-read")
	}
	if !strings.HasSuffix(lines[at], "\n") {
		lines[at] += "\n"
	}
	return []byte(strings.Join(slices.Insert(lines, at+1, line), "")), nil
}
