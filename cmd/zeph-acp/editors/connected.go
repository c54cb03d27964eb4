package editors

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
)

// Connected returns the command with which an editor starts zeph-acp, as far as its
// settings show; "" if it does not. For an editor that is configured by a program, it
// returns the file that names zeph-acp.
func (e Editor) Connected(p Places) (string, error) {
	if e.File(p) == "" {
		return "", nil
	}
	if !e.HasFile() {
		return fileNaming(e.File(p)), nil
	}
	data, err := readFile(e.File(p))
	if err != nil {
		return "", err
	}
	return e.command(data), nil
}

// command returns the command of the entry that starts zeph-acp; "" if there is no such
// entry or the settings cannot be parsed.
func (e Editor) command(data []byte) string {
	root, err := parse(bytes.TrimPrefix(data, byteOrderMark))
	if err != nil {
		return ""
	}
	settings, ok := root.Value.(*hujson.Object)
	if !ok {
		return ""
	}
	agents, _ := member(settings, e.table)
	if agents == nil {
		return ""
	}
	table, ok := agents.Value.(*hujson.Object)
	if !ok {
		return ""
	}
	known, err := findEntry(table, Entry{Name: DefaultName})
	if err != nil || known == nil {
		return ""
	}
	return commandOf(known)
}

const (
	maxMentionFiles = 200
	maxMentionDepth = 4
)

// fileNaming returns the file below a path whose text has the name zeph-acp; "" if there is
// none. It reads only a few files.
func fileNaming(place string) (found string) {
	left := maxMentionFiles
	_ = filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error { // unreadable entries are skipped
		rel, _ := filepath.Rel(place, path)
		switch {
		case err != nil || left == 0 || found != "":
			return fs.SkipAll
		case d.IsDir() && (strings.Count(filepath.ToSlash(rel), "/") >= maxMentionDepth || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir() || !d.Type().IsRegular() || path != place && filepath.Ext(path) != ".lua" && filepath.Ext(path) != ".vim":
			return nil
		}
		left--
		if data, err := readFile(path); err == nil && bytes.Contains(data, []byte("zeph-acp")) {
			found = path
		}
		return nil
	})
	return found
}
