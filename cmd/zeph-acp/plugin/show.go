package plugin

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/plugin/bundle"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// show prints a plug-in for the user's decision: its parts, and before them, if contents is set, each file that is used
// or can run.
func (k *keeper) show(p *bundle.Plugin, contents bool) error {
	var b strings.Builder
	if contents {
		for _, name := range p.Tree.Names() {
			if isShown(name, p.Tree[name]) {
				writeFile(&b, name, p.Tree[name])
			}
		}
	}
	newReport(p).write(&b, p)
	_, err := io.WriteString(k.cmd.OutOrStdout(), b.String())
	return err
}

// scripts are the extensions of files that programs run.
var scripts = []string{".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1", ".cmd", ".bat", ".exe"}

// isProgram reports whether a file can be run.
func isProgram(name string, f bundle.File) bool {
	return f.Exec || bytes.HasPrefix(f.Data, []byte("#!")) || slices.Contains(scripts, strings.ToLower(path.Ext(name)))
}

// isShown reports whether a file is shown in full: a program, or a file whose text reaches the model or configures
// the plug-in.
func isShown(name string, f bundle.File) bool {
	return isProgram(name, f) || slices.Contains([]string{".md", ".json", ".toml"}, strings.ToLower(path.Ext(name)))
}

// isText reports whether a file can be shown.
func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// writeFile writes the content of a file.
func writeFile(b *strings.Builder, name string, f bundle.File) {
	fmt.Fprintf(b, "=== %s, %s\n", cli.OneLine(name), quantity.Bytes(int64(len(f.Data))))
	if !isText(f.Data) {
		b.WriteString("    (not text)\n\n")
		return
	}
	b.WriteString(cli.Indent(string(f.Data)) + "\n\n")
}

// write writes what a plug-in brings.
func (r report) write(b *strings.Builder, p *bundle.Plugin) {
	fmt.Fprintf(b, "Plug-in %s\n", strings.TrimSpace(p.Name+" "+p.Version))
	if p.Description != "" {
		fmt.Fprintf(b, "  %s\n", cli.OneLine(p.Description))
	}
	source := p.From.String()
	if p.Commit != "" {
		source += ", commit " + p.Commit
	}
	fmt.Fprintf(b, "  from %s\n  hash %s\n", cli.OneLine(source), p.Tree.Hash())
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(b, "%s\n", title)
		}
		for _, l := range lines {
			fmt.Fprintf(b, "  %s\n", cli.OneLine(l))
		}
	}
	var lines []string
	for _, c := range r.commands {
		lines = append(lines, joined("/"+c.Name, c.Description))
	}
	list("Commands", lines)
	lines = nil
	for _, t := range r.agents {
		lines = append(lines, joined(t.Name, short(t.Description)))
	}
	list("Sub-agents", lines)
	lines = nil
	for _, s := range r.skills {
		line := joined(s.Name, short(s.Description))
		if len(s.Secrets) > 0 {
			line += "; gets the secrets " + strings.Join(s.Secrets, ", ")
		}
		lines = append(lines, line)
	}
	list("Skills", lines)
	lines = nil
	for _, h := range r.hooks {
		lines = append(lines, h.event+" "+cmp.Or(h.matcher, "*")+" "+h.command)
	}
	list("Hooks, which run on this machine without a question", lines)
	list("MCP servers, which start with each session", serverLines(r.servers))
	lines = nil
	for _, name := range p.Tree.Names() {
		if f := p.Tree[name]; isProgram(name, f) {
			lines = append(lines, name+", "+quantity.Bytes(int64(len(f.Data))))
		}
	}
	list("Programs in its folder", lines)
	lines = nil
	for _, name := range p.Tree.Names() {
		if !isShown(name, p.Tree[name]) {
			lines = append(lines, name+", "+quantity.Bytes(int64(len(p.Tree[name].Data))))
		}
	}
	list("Other files", lines)
	list("No counterpart here", p.Unsupported)
	list("Left out", r.leftOut)
}

// joined joins a name and a description.
func joined(name, about string) string {
	if about == "" {
		return name
	}
	return name + ": " + about
}

// short returns the beginning of a description; the whole text is above.
func short(text string) string {
	const longest = 200
	if line := strings.Join(strings.Fields(text), " "); utf8.RuneCountInString(line) > longest {
		return string([]rune(line)[:longest]) + "…"
	} else {
		return line
	}
}

// serverLines describes MCP servers with everything that starts them.
func serverLines(servers []mcp.Server) (lines []string) {
	for _, s := range servers {
		line := s.Name + ": " + s.Target()
		for _, values := range []struct {
			words string
			pairs map[string]string
		}{{"environment", s.Env}, {"headers", s.Headers}} {
			var pairs []string
			for _, key := range slices.Sorted(maps.Keys(values.pairs)) {
				pairs = append(pairs, key+"="+values.pairs[key])
			}
			if len(pairs) > 0 {
				line += "; " + values.words + " " + strings.Join(pairs, ", ")
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// showDifference prints the changes between two versions of a plug-in.
func showDifference(w io.Writer, old, fresh bundle.Tree) error {
	names := slices.Sorted(maps.Keys(maps.Collect(func(yield func(string, bool) bool) {
		for _, t := range []bundle.Tree{old, fresh} {
			for name := range t {
				if !yield(name, true) {
					return
				}
			}
		}
	})))
	var b strings.Builder
	for _, name := range names {
		before, was := old[name]
		after, is := fresh[name]
		shown := cli.OneLine(name)
		switch {
		case was && is && before.Exec != after.Exec:
			fmt.Fprintf(&b, "the mode of %s changes: executable is now %v\n", shown, after.Exec)
			fallthrough
		default:
			if was && is && bytes.Equal(before.Data, after.Data) {
				continue
			}
		}
		if !isText(before.Data) || !isText(after.Data) {
			fmt.Fprintf(&b, "%s differs, and is not text\n", shown)
			continue
		}
		_, hunks, _ := strings.Cut(string(diff.Diff("old/"+shown, before.Data, "new/"+shown, after.Data)), "\n") // "diff A B"
		b.WriteString(headless.Visible(hunks))
		if !was || !is {
			verb := "is new"
			if !is {
				verb = "is removed"
			}
			fmt.Fprintf(&b, "%s %s\n", shown, verb)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
