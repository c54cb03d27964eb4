package target

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// script adds the parts of a shell script: one for each simple command, and one for
// the redirections.
func (t *Targets) script(script *command.Script, s Session) {
	switch {
	case script.Err != nil: // its parts can only lead to a deny
		t.Unknown = "the command cannot be parsed"
	case len(script.Dynamic) > 0:
		t.Unknown = script.Dynamic[0]
	}
	f := finder{home: s.Home, targets: t, trail: follow.Trail{Lstat: new(workspace.StatCache).Lstat}}
	for _, c := range script.Commands {
		t.Parts = append(t.Parts, f.command(c))
	}
	var redirects Part
	for _, r := range script.Redirects {
		if r.Socket() {
			redirects.URLs = append(redirects.URLs, socketURL(r))
			continue
		}
		redirects.Files = f.add(redirects.Files, r.Path(), itself)
	}
	if len(redirects.Files) > 0 || len(redirects.URLs) > 0 || len(t.Parts) == 0 {
		t.Parts = append(t.Parts, redirects)
	}
}

// finder finds the files of one script.
type finder struct {
	home    string
	trail   follow.Trail
	targets *Targets
}

func (f *finder) setUnknown(why string) {
	if f.targets.Unknown == "" {
		f.targets.Unknown = why
	}
}

// command returns the part of a simple command: its texts, the files that it names,
// the directory in which it runs and the addresses among its words.
func (f *finder) command(c *command.Command) Part {
	p := Part{Command: c, Texts: c.Forms(), Computed: slices.ContainsFunc(c.Words, func(w command.Word) bool { return !w.Literal })}
	if c.Program() == "" && !c.Guess {
		f.setUnknown("a program is computed at run time")
	}
	paths := c.Paths()
	for _, path := range paths {
		if len(path.Abs) == 0 && !c.Guess {
			f.setUnknown("the file that " + path.Text + " names is computed at run time")
		}
		p.Files = f.add(p.Files, path, reach(!onlyEnters(c, path.Text)))
	}
	if len(c.Dirs) > 0 && c.Program() != "cd" {
		p.Files = f.add(p.Files, command.Path{Text: c.Dirs[0], Abs: c.Dirs, Sure: true}, reach(searchesHere(c)))
	}
	for _, mention := range c.Mentions() {
		if !slices.ContainsFunc(paths, func(o command.Path) bool { return o.Text == mention.Text }) {
			p.Files = f.mention(p.Files, mention)
		}
	}
	p.URLs = addresses(c)
	return p
}

// reach is how far a command gets from a path that it names.
type reach bool

const (
	itself reach = false
	below  reach = true // if it is a directory, the command may descend into it
)

// add appends the file that a path names.
func (f *finder) add(files []File, p command.Path, r reach) []File {
	var file File
	for _, abs := range p.Abs {
		file.Names = append(file.Names, filepath.Clean(abs))
		if device(abs) { // before links are resolved: /dev/stdin leads to a file of ours
			continue
		}
		found, err := follow.Files(abs, p.Glob, &f.trail)
		if err != nil {
			f.setUnknown("it is unknown where " + p.Text + " leads")
			found = append(found, follow.Unknown)
		}
		file.Places = append(file.Places, found...)
		if p.Glob { // a file that the pattern matches later counts too
			file.Places = append(file.Places, filepath.Dir(abs[:strings.IndexAny(abs+"*", "*?[")]+"x"))
		}
	}
	if len(file.Names) == 0 {
		return files
	}
	file.Below = r == below && slices.ContainsFunc(file.Places, isDir)
	return append(files, file)
}

// mention appends a file whose name is anywhere in the command, if it exists. A
// directory counts only if its name is not a part of a text.
func (f *finder) mention(files []File, p command.Path) []File {
	if rest, ok := strings.CutPrefix(p.Text, "~/"); ok && f.home != "" {
		p.Abs = []string{filepath.Join(f.home, rest)}
	}
	exists := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && (p.Sure || !info.IsDir())
	}
	if p.Text == "" || p.Text == "." || p.Text == "/" || !slices.ContainsFunc(p.Abs, exists) {
		return files
	}
	return f.add(files, p, below)
}

// device reports whether any command may use the device.
func device(abs string) bool {
	return slices.Contains([]string{"/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty",
		"/dev/fd/0", "/dev/fd/1", "/dev/fd/2"}, abs)
}

// onlyEnters reports whether a command only changes to a directory that it names, or
// makes it.
func onlyEnters(c *command.Command, dir string) bool {
	args := c.Args()
	return c.Program() == "cd" || c.Program() == "mkdir" ||
		len(args) > 1 && args[0].Text == c.Facts().Enters && args[1].Text == dir && !searchesHere(c)
}

// searchesHere reports whether a command may descend into its working directory
// without naming it.
func searchesHere(c *command.Command) bool {
	switch c.Program() {
	case "egrep", "fgrep", "grep", "ls":
		return slices.ContainsFunc(c.Args(), func(w command.Word) bool {
			return strings.HasPrefix(w.Text, "--r") || strings.HasPrefix(w.Text, "--dir") ||
				strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.ContainsAny(w.Text, "rRd")
		})
	}
	name, open := c.Subcommand()
	isSearch := func(words string) bool { return programs.Block(words).SearchesHere }
	return c.Facts().SearchesHere || programs.Of(c.Program(), name).SearchesHere || open && slices.ContainsFunc(programs.Under(c.Program()), isSearch)
}

// addresses returns the URLs among the words of a command, and the hosts that curl,
// wget, ssh and the like are told to contact.
func addresses(c *command.Command) []URL {
	var out []URL
	contacts := c.Facts().Contacts
	for _, w := range c.Args() {
		text := w.Text
		if _, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "-") {
			text = value
		}
		if u, ok := parseURL(text); ok {
			out = append(out, u)
			continue
		}
		host, rest, remote := strings.Cut(text, ":") // git@host:path
		switch at := strings.LastIndexByte(host, '@'); {
		case !w.Literal || strings.HasPrefix(text, "-"):
		case remote && at > 0 && !strings.Contains(host, "/"):
			if u, ok := parseURL("ssh://" + host[at+1:] + "/" + strings.TrimPrefix(rest, "/")); ok {
				out = append(out, u)
			}
		case contacts && strings.Contains(text, ".") && !strings.ContainsAny(text, " \t\n"):
			if u, ok := parseURL("http://" + text[strings.LastIndexByte(text, '@')+1:]); ok {
				out = append(out, u)
			}
		}
	}
	return out
}

// socketURL returns the address of a redirection such as /dev/tcp/HOST/PORT.
func socketURL(r command.Redirect) URL {
	parts := strings.Split(strings.TrimPrefix(r.Target.Text, "/dev/"), "/")
	for len(parts) < 3 {
		parts = append(parts, "")
	}
	host := strings.ToLower(parts[1])
	text := parts[0] + "://" + host + ":" + parts[2] + "/"
	return URL{Text: text, Decoded: text, Scheme: parts[0], Host: host, Port: parts[2], Path: "/"}
}
