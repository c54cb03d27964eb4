package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
)

// configuration reports the mistakes that "config check" prints.
func (e *examination) configuration(context.Context) []Finding {
	if e.loadErr != nil {
		if mistakes, ok := errors.AsType[toml.Mistakes](e.loadErr); ok {
			return mistakeFindings(mistakes)
		}
		return []Finding{failure(e.loadErr.Error(), "make the file readable, or name another one with --config")}
	}
	l := e.loaded
	found := l.Check(e.Dir, l.Getenv("ZEPH_MODEL"), catalogue.Known())
	out := mistakeFindings(found.Mistakes)
	for _, w := range slices.Concat(l.Warnings, found.Warnings) {
		out = append(out, warning(w, `"zeph-acp config check" lists all of them`))
	}
	if e.paths.Config != "" {
		store := answers.Store{File: filepath.Join(e.paths.Config, answers.FileName), Read: keys.ReadPrivate}
		if _, err := store.Entries(); err != nil {
			out = append(out, failure(err.Error(), `correct the file: until then no "always" answer of any project counts`))
		}
	}
	if len(out) > 0 {
		return out
	}
	switch {
	case l.Found:
		return []Finding{passed(l.File)}
	case l.File == "":
		return []Finding{passed("no file: the defaults apply")}
	}
	return []Finding{passed(l.File + " does not exist: the defaults apply")}
}

// mistakeFindings returns a failure for each mistake.
func mistakeFindings(mistakes toml.Mistakes) (out []Finding) {
	for _, m := range mistakes {
		fix := "correct the line; docs/configuration.md lists the pages with every key"
		if m.Line == 0 {
			fix = `correct it; "zeph-acp config check" repeats this check`
		}
		out = append(out, failure(m.Error(), fix))
	}
	return out
}

// directories reports whether zeph-acp can keep its files.
func (e *examination) directories(context.Context) []Finding {
	dirs := slices.Compact([]string{e.paths.Config, e.paths.Data, e.paths.State})
	if e.paths.Data == "" {
		return []Finding{failure("there is no home directory, so that no session is kept", "set HOME or ZEPH_HOME")}
	}
	places := slices.Clone(dirs)
	if e.loaded != nil && e.loaded.Config.Log.File != "" {
		places = append(places, filepath.Dir(app.LogFile(e.loaded.Config.Log, e.getenv)))
	}
	var out []Finding
	for _, dir := range places {
		if why := unusable(dir); why != "" {
			out = append(out, failure(why, "make it a directory that you can write, or set ZEPH_HOME to another one"))
		}
	}
	out = slices.Compact(out) // they may share the directory above them
	if len(out) == 0 {
		out = []Finding{passed(strings.Join(dirs, ", "))}
	}
	return out
}

// unusable returns why no file can be written in a directory, which may be missing; ""
// if one can.
func unusable(dir string) string {
	for name := dir; ; name = filepath.Dir(name) {
		info, err := os.Stat(name)
		switch {
		case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) && name != filepath.Dir(name):
			continue // MakeDir would make it, below a directory
		case err != nil:
			return err.Error()
		case !info.IsDir():
			return name + " is not a directory"
		case !writable(name):
			return fmt.Sprintf("%s cannot be written", name)
		}
		return ""
	}
}
