package diagnostics

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax" // for Quote; the same package parses the script when it is checked

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// runPlan is the list of programs that a call runs.
type runPlan struct {
	target   string // absolute; only its diagnostics are reported
	steps    []programStep
	warnings warnings // about programs that do not run
	missing  []string // the programs that are not installed
}

// programStep is one program to run.
type programStep struct {
	name  string   // for people and the model: "cargo check"
	dir   string   // absolute
	path  string   // absolute path of the program
	words []string // the command for display: the program's name as seen from dir, and its arguments
	parse func(stdout, stderr string) []Diagnostic
}

// plan determines the programs to run for a target: a directory, or a regular file.
// The error is a failure.
func (t *checker) plan(ctx context.Context, target string, isDir bool, lints string) (runPlan, error) {
	f := &finder{ctx: ctx, roots: t.roots, start: target}
	if !isDir {
		f.start = filepath.Dir(target)
	}
	f.searchUp()
	if isDir {
		f.searchDown()
	} else if fit, ok := byExtension[strings.ToLower(filepath.Ext(target))]; ok {
		f.found = slices.DeleteFunc(f.found, func(p project) bool { return !slices.Contains(fit, p.kind) })
	}
	if len(f.found) == 0 {
		return runPlan{}, executors.Failuref(executors.PermanentFailure, "no project to check in or around %s", t.roots.Rel(target)).
			Hint("The tool looks for Cargo.toml, go.mod, tsconfig.json, an ESLint configuration, and Python projects. Name the directory of one, or run the check in bash.")
	}
	slices.SortStableFunc(f.found, func(a, b project) int { return cmp.Compare(a.kind, b.kind) })
	p := runPlan{target: target}
	if len(f.found) > maxProjects {
		f.more, f.found = true, f.found[:maxProjects]
	}
	for _, found := range f.found {
		t.add(&p, found, lints, !isDir)
	}
	if f.more {
		p.warnings.addf("there are more projects than one call checks; name the directory of another one to check it")
	}
	return p, nil
}

// warnings are different lines, each of bounded length.
type warnings []string

func (w *warnings) addf(format string, args ...any) {
	if line := cut(plainLine(fmt.Sprintf(format, args...))); !slices.Contains(*w, line) {
		*w = append(*w, line)
	}
}

// add plans the programs that check a project.
func (t *checker) add(p *runPlan, found project, lints string, file bool) {
	part := "." // of the project, as an argument that cannot be an option
	if rel, err := filepath.Rel(found.dir, p.target); err == nil && rel != "." && filepath.IsLocal(rel) {
		part = "." + string(filepath.Separator) + rel
	}
	s := programStep{dir: found.dir}
	switch found.kind {
	case rust:
		t.addCargo(p, s, lints)
	case golang:
		t.addGo(p, s, part, file)
	case typeScript:
		args := []string{"--noEmit", "--pretty", "false"}
		if onlyReferences(readMarker(t.roots, s.dir, "tsconfig.json")) {
			args = append([]string{"-b"}, args...)
		}
		s.name, s.parse = "tsc", parseTSC
		t.addStep(p, s, "tsc", nodePrograms, args)
	case esLint:
		s.name, s.parse = "eslint", parseESLint
		t.addStep(p, s, "eslint", nodePrograms, []string{part, "-f", "json", "--no-error-on-unmatched-pattern"})
	case python:
		t.addPython(p, s, part)
	}
}

func (t *checker) addCargo(p *runPlan, s programStep, lints string) {
	if lints == "" {
		lints = "check"
	}
	args := []string{lints, "--message-format=json"}
	if rustWorkspace(readMarker(t.roots, s.dir, "Cargo.toml")) {
		args = append(args, "--workspace")
	}
	s.name, s.parse = "cargo "+lints, parseCargo
	t.addStep(p, s, "cargo", nil, args)
}

// addGo plans two commands: go build reports all mistakes of a package, but go vet
// only the first one; go vet also checks tests.
func (t *checker) addGo(p *runPlan, s programStep, part string, file bool) {
	if file {
		part = filepath.Dir(part)
		if part != "." {
			part = "." + string(filepath.Separator) + part
		}
	} else {
		part += string(filepath.Separator) + "..."
	}
	s.name, s.parse = "go build", parseGo
	t.addStep(p, s, "go", nil, []string{"build", "-o", os.DevNull, part})
	s.name = "go vet"
	t.addStep(p, s, "go", nil, []string{"vet", "-json", part})
}

// mypyArgs override settings that would change the output format.
var mypyArgs = []string{
	"--show-column-numbers", "--show-error-codes", "--hide-error-context", "--no-error-summary", "--no-pretty", "--no-color-output",
}

// addPython adds ruff and mypy, if they are installed or the project configures them.
func (t *checker) addPython(p *runPlan, s programStep, part string) {
	read := func(name string) string { return readMarker(t.roots, s.dir, name) }
	mypy := section(read("pyproject.toml"), "[tool.mypy]") + section(read("setup.cfg"), "[mypy]") +
		section(read("mypy.ini"), "[mypy]") + section(read(".mypy.ini"), "[mypy]")
	ruff := section(read("pyproject.toml"), "[tool.ruff]") + read("ruff.toml") + read(".ruff.toml")
	args := slices.Clone(mypyArgs)
	if part != "." || !namesFiles(mypy) {
		args = append(args, part)
	}
	before := len(p.steps)
	for _, c := range []struct {
		name  string
		parse func(stdout, stderr string) []Diagnostic
		args  []string
		wants bool // the project configures it
	}{
		{"ruff", parseRuff, []string{"check", "--no-fix", "--output-format", "json", part}, ruff != ""},
		{"mypy", parseMypy, args, mypy != ""},
	} {
		s.name, s.parse = c.name, c.parse
		if _, _, ok := t.lookup(s.dir, c.name, pythonPrograms); ok || c.wants {
			t.addStep(p, s, c.name, pythonPrograms, c.args)
		}
	}
	if len(p.steps) == before && mypy == "" && ruff == "" {
		p.warnings.addf("neither ruff nor mypy is installed, so Python in %s was not checked", t.roots.Rel(s.dir))
	}
}

// namesFiles reports whether a configuration of mypy lists the files to check.
func namesFiles(config string) bool {
	for line := range strings.Lines(config) {
		key, _, ok := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); ok && (key == "files" || key == "packages" || key == "modules") {
			return true
		}
	}
	return false
}

// addStep adds a step if its program is installed, otherwise a warning.
func (t *checker) addStep(p *runPlan, s programStep, program string, places []string, args []string) {
	path, shown, ok := t.lookup(s.dir, program, places)
	if !ok {
		if !slices.Contains(p.missing, program) {
			p.missing = append(p.missing, program)
		}
		p.warnings.addf("%s is not installed, so %s was not checked with %s", program, t.roots.Rel(s.dir), s.name)
		return
	}
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".cmd" || ext == ".bat" {
		// cmd.exe parses these arguments a second time, by different rules.
		for i, a := range args {
			if strings.HasPrefix(a, `.\`) {
				args[i] = "."
			}
		}
	}
	s.path, s.words = path, append([]string{shown}, args...)
	p.steps = append(p.steps, s)
}

// Directories of a project's own programs.
var (
	nodePrograms   = []string{"node_modules/.bin"}
	pythonPrograms = []string{".venv/bin", "venv/bin", ".venv/Scripts", "venv/Scripts"}
)

// lookup finds a program for a project in dir. It searches the given places in dir
// and in the directories around it, then PATH. shown is the program's name as seen
// from dir.
func (t *checker) lookup(dir, name string, places []string) (path, shown string, ok bool) {
	for at := dir; len(places) > 0 && t.roots.Contains(at); at = filepath.Dir(at) {
		for _, place := range places {
			path, err := exec.LookPath(filepath.Join(at, filepath.FromSlash(place), name))
			if err != nil {
				continue
			}
			if rel, err := filepath.Rel(dir, path); err == nil {
				shown = rel
				if !strings.HasPrefix(rel, "..") {
					shown = "." + string(filepath.Separator) + rel
				}
				return path, shown, true
			}
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	path, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(path) {
		return "", "", false
	}
	return path, name, true
}

// title returns the title of a call: the command, or why there is nothing to run.
func (p runPlan) title(command string) string {
	switch {
	case len(p.steps) > 0:
		return executors.Quoted(command)
	case len(p.missing) == 1:
		return "Nothing to check: " + p.missing[0] + " is not installed"
	case len(p.missing) > 1:
		return "Nothing to check: " + strings.Join(p.missing, " and ") + " are not installed"
	}
	return "Nothing to check: " + strings.Join(p.warnings, "; ")
}

// script returns the plan as an equivalent shell script in one line.
func (t *checker) script(p runPlan) string {
	var parts []string
	for _, s := range p.steps {
		words := make([]string, len(s.words))
		for i, w := range s.words {
			words[i] = quote(w)
		}
		command := strings.Join(words, " ")
		if s.dir != t.roots.Cwd() {
			dir := t.roots.Rel(s.dir)
			if strings.HasPrefix(dir, "-") {
				dir = "./" + dir
			}
			command = "(cd " + quote(dir) + " && " + command + ")"
		}
		parts = append(parts, command)
	}
	if len(parts) == 0 {
		return "# nothing to run: " + strings.Join(p.warnings, "; ")
	}
	return strings.Join(parts, "; ")
}

const optionRunes = "-=abcdefghijklmnopqrstuvwxyz"

// quote quotes a word for bash.
func quote(word string) string {
	if runtime.GOOS == "windows" {
		word = filepath.ToSlash(word)
	}
	if strings.HasPrefix(word, "-") && strings.Trim(word, optionRunes) == "" {
		return word // Quote treats --a=b as an assignment
	}
	q, err := syntax.Quote(word, syntax.LangBash)
	if err != nil { // a NUL, which no path contains
		return "''"
	}
	return q
}

// plainLine joins a text into one line without characters that a terminal or an
// editor interprets.
func plainLine(s string) string {
	s = line.Join(s)
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '\uFFFD'
		}
		return r
	}, s)
}
