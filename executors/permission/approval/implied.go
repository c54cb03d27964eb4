package approval

import (
	"path"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// moduleOption matches an option of Python that names a module, or ends before its name.
var moduleOption = lazyregexp.New(`^-[A-Za-z]*m([A-Za-z_][\w.]*)?$`)

var moduleName = lazyregexp.New(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)

// directoryOptions name the directory in which a program works.
var directoryOptions = []string{"--directory", "--project", "--prefix", "--cwd", "--chdir", "-C", "cd"}

// taskFiles are the files that programs read for the tasks that their operands name.
var taskFiles = map[string]string{
	"npm": "package.json", "npx": "package.json", "pnpm": "package.json", "pnpx": "package.json", "yarn": "package.json", "bun": "package.json bunfig.toml", "bunx": "package.json",
	"make": "GNUmakefile makefile Makefile", "gmake": "GNUmakefile makefile Makefile", "just": "justfile Justfile .justfile", "task": "Taskfile.yml Taskfile.yaml",
	"deno": "deno.json deno.jsonc", "mise": "mise.toml .mise.toml", "rake": "Rakefile rakefile", "cargo": "Cargo.toml build.rs src/main.rs", "go": "go.mod main.go",
}

// maxImplied bounds the names that one command may add.
const maxImplied = 4000

// Implied returns the names of files that the words of a command stand for without being their
// names: "python3 -m srv" runs srv.py, or a file in the directory srv, and "npm start" runs what
// package.json says. bases are further directories in which Python looks for modules. The names are
// relative to the working directory, or as a word is. Most of these files do not exist.
func Implied(words, bases []string) []string {
	dirs := append([]string{""}, bases...)
	for i, w := range words {
		for _, option := range directoryOptions {
			if value, ok := strings.CutPrefix(w, option+"="); ok {
				dirs = append(dirs, value)
			} else if w == option && i+1 < len(words) {
				dirs = append(dirs, words[i+1])
			}
		}
	}
	var out []string
	add := func(names ...string) {
		for _, dir := range dirs {
			for _, name := range names {
				if len(out) < maxImplied {
					out = append(out, path.Join(dir, name))
				}
			}
		}
	}
	runsPython, runsNode := false, false
	for i, w := range words {
		program := strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(w, `\`, "/"))), ".exe")
		add(strings.Fields(taskFiles[program])...)
		runsPython = runsPython || strings.HasPrefix(program, "python") || strings.HasPrefix(program, "pypy") || program == "py"
		runsNode = runsNode || program == "node" || program == "nodejs" || program == "bun" || program == "tsx" || program == "ts-node"
		if m := moduleOption.FindStringSubmatch(w); m != nil {
			module := m[1]
			if module == "" && i+1 < len(words) {
				module = words[i+1]
			}
			if moduleName.MatchString(module) {
				add(moduleFiles(module)...)
			}
			continue
		}
		if strings.HasPrefix(w, "-") {
			continue
		}
		if runsPython {
			add(path.Join(w, "__main__.py"), path.Join(w, "__init__.py"))
		}
		if runsNode {
			add(w+".js", w+".mjs", w+".cjs", w+".ts", path.Join(w, "package.json"), path.Join(w, "index.js"), path.Join(w, "index.ts"))
		}
	}
	return out
}

// moduleFiles returns the files in which Python looks for a module.
func moduleFiles(module string) []string {
	parts := strings.Split(module, ".")
	name := strings.Join(parts, "/")
	out := []string{name + ".py", name + "/__main__.py"}
	for i := range parts {
		out = append(out, strings.Join(parts[:i+1], "/")+"/__init__.py")
	}
	return out
}
