package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// noticeFile matches the files with the terms of a module.
var noticeFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-.].*)?$`)

// notices returns the terms of Go and of all modules in a binary, as most of their
// licenses demand. A module without terms is an error.
func notices(ctx context.Context, root string, info *debug.BuildInfo) ([]byte, error) {
	goroot, err := output(ctx, root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := notice(&b, "Go standard library "+info.GoVersion, goroot); err != nil {
		return nil, err
	}
	args := []string{"list", "-m", "-f", "{{.Path}} {{.Version}}\t{{.Dir}}"}
	for _, m := range modules(info) {
		args = append(args, m.Path)
	}
	list, err := output(ctx, root, nil, "go", args...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(list) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if err := notice(&b, name, dir); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// notice writes the terms in one directory.
func notice(b *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("terms of %s: %w", name, err)
	}
	found := false
	for _, entry := range entries {
		if entry.IsDir() || !noticeFile.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		found = true
		text = bytes.ReplaceAll(bytes.TrimSpace(text), []byte("\r\n"), []byte("\n"))
		fmt.Fprintf(b, "== %s: %s\n\n%s\n\n", name, entry.Name(), text)
	}
	if !found {
		return fmt.Errorf("%s has no file with its terms: look at it before it is shipped", name)
	}
	return nil
}
