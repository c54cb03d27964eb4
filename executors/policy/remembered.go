package policy

import (
	"net/url"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// destructive are programs that delete or overwrite data permanently, so that
// an "always" for one call must not cover the next. An entry with a subcommand
// covers only that one.
var destructive = []string{
	"chgrp", "chmod", "chown", "cp", "dd", "find", "install", "ln", "mv", "patch", "rename", "rimraf", "rm", "rmdir", "rsync", "sed", "shred", "tee", "truncate", "unlink",
	"git checkout", "git clean", "git push", "git rebase", "git reset", "git restore", "git rm", "git stash", "git branch", "git tag", "docker rm", "docker rmi", "docker system", "kubectl delete",
	"alias", "exec", "export", "function", "hash", "enable", "unset", "declare", "xargs", "parallel", "fd",
}

// remembered returns the key under which an "always" for this command is
// remembered, and its extent in words. The extent is the program and its first
// operand, the hosts of a download, or the exact text of a destructive command.
// The key is empty if nothing can be remembered.
func remembered(c *command.Command, src parsed) (key, covers string) {
	only, exact := "exactly "+src.text, "exactly "+quote(c.Text())
	first, open := c.Subcommand()
	switch {
	case open:
		return "", ""
	case c.Program() == "" || len(c.Assigns) > 0 || c.Prefixed() || !plainVariables(src.script.Assigns):
		return only, exact
	case slices.Contains(downloaders, c.Program()):
		hosts, ok := hostsOf(c)
		if !ok {
			return only, exact
		}
		return "host " + strings.Join(hosts, " "), c.Program() + " to " + strings.Join(hosts, ", ")
	case slices.Contains(destructive, c.Program()), slices.Contains(destructive, c.Program()+" "+first):
		return only, exact
	case runsText(c) && (first == "" || hasCode(c)):
		return only, exact
	}
	what := strings.TrimSpace(c.Words[0].Text + " " + first)
	return "command " + what, quote(what)
}

// hasCode reports whether an interpreter has its program as an operand.
func hasCode(c *command.Command) bool {
	return slices.ContainsFunc(c.Args(), func(w command.Word) bool {
		return w.Text == "--eval" || w.Text == "--print" || !w.Literal || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.ContainsAny(w.Text, "cerEp")
	})
}

// hostsOf returns the hosts that a download names, sorted. ok is false if one
// is unknown.
func hostsOf(c *command.Command) ([]string, bool) {
	var hosts []string
	for _, w := range c.Args() {
		switch {
		case !w.Literal || w.Glob || strings.ContainsAny(w.Text, "{}[]"):
			return nil, false
		case slices.Contains([]string{"-K", "--config", "-x", "--proxy", "--connect-to", "--resolve", "-i", "--input-file"}, w.Text):
			return nil, false
		case strings.Contains(w.Text, "://"):
			text := w.Text
			if strings.HasPrefix(text, "-") {
				_, text, _ = strings.Cut(text, "=")
			}
			u, err := url.Parse(text)
			if err != nil || u.Hostname() == "" {
				return nil, false
			}
			hosts = append(hosts, strings.ToLower(u.Hostname()))
		}
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	return hosts, len(hosts) > 0
}
