package policy

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// destructive are programs that delete or overwrite data permanently, so that
// an "always" for one call must not cover the next. An entry with a subcommand
// covers only that one.
var destructive = []string{
	"chgrp", "chmod", "chown", "cp", "dd", "find", "install", "ln", "mv", "patch", "rename", "rimraf",
	"rm", "rmdir", "rsync", "sed", "shred", "tee", "truncate", "unlink", "git bisect", "git checkout",
	"git clean", "git config", "git submodule", "git worktree", "git push", "git rebase", "git reset",
	"git restore", "git rm", "git stash", "git branch", "git tag", "docker rm", "docker rmi",
	"docker system", "kubectl delete", "alias", "exec", "export", "function", "hash", "enable", "unset",
	"declare", "xargs", "parallel", "fd",
}

// subcommandGroups are programs and subcommands whose next word is a subcommand too, or the
// program that runs: "docker volume rm", "npm run deploy".
var subcommandGroups = []string{
	"aws", "az", "bun run", "bun x", "bundle exec", "conda run", "deno run", "docker buildx",
	"docker compose", "docker container", "docker context", "docker exec", "docker image",
	"docker network", "docker run", "docker volume", "gcloud", "gh", "glab", "go install", "go run",
	"go tool", "helm repo", "kubectl config", "kubectl exec", "kubectl rollout", "nix run", "npm exec",
	"npm run", "npm run-script", "pdm run", "php artisan", "pipenv run", "pipx run", "pnpm dlx",
	"pnpm exec", "pnpm run", "podman compose", "podman container", "podman exec", "podman image",
	"podman network", "podman run", "podman volume", "poetry run", "python manage.py",
	"python3 manage.py", "terraform state", "terraform workspace", "uv pip", "uv run", "uv tool",
	"yarn dlx", "yarn exec", "yarn run",
}

// commandExtent returns the words of a command that an "always" covers: its program and first
// operand, and the word after that in a group. ok is false if an option precedes this
// word, so that it cannot be known.
func commandExtent(c *command.Command, first string) (words string, ok bool) {
	words = strings.TrimSpace(c.Words[0].Text + " " + first)
	if !slices.Contains(subcommandGroups, c.Program()) && !slices.Contains(subcommandGroups, c.Program()+" "+first) {
		return words, true
	}
	if len(c.Words) < 3 {
		return words, len(c.Words) < 2 || c.Words[1].Text == first
	}
	next := c.Words[2]
	return words + " " + next.Text, c.Words[1].Text == first && next.Literal && !next.Glob && !strings.HasPrefix(next.Text, "-")
}

// runsElsewhere reports whether a command runs a file by a relative name in another
// directory than that of the script. The same words then name another file.
func runsElsewhere(c *command.Command, src parsedCommand) bool {
	name := c.Words[0].Text
	named := strings.Contains(name, "/") && !filepath.IsAbs(name) || runsText(c)
	return named && (len(c.Dirs) != 1 || filepath.Clean(c.Dirs[0]) != filepath.Clean(src.dir))
}

// alwaysKey returns the key under which an "always" for this command is remembered, and its extent
// in words. The extent is the program and its first operand (see commandExtent), the hosts of a
// download, or the exact text of a command that destroys data or runs a file elsewhere. The key is
// empty if nothing can be remembered.
func alwaysKey(c *command.Command, src parsedCommand) (key, covers string) {
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
	case slices.Contains(destructive, c.Program()), slices.Contains(destructive, c.Program()+" "+first), confirms(c, "") != "":
		return only, exact
	case runsElsewhere(c, src), runsNameWithSpace(c), strings.ContainsAny(first, " \t\n"):
		return only, exact
	case runsText(c) && (first == "" || hasCode(c)):
		return only, exact
	}
	what, ok := commandExtent(c, first)
	if !ok {
		return only, exact
	}
	return "command " + what, quote(what)
}

// hasCode reports whether an interpreter has its program as an operand.
func hasCode(c *command.Command) bool {
	return slices.ContainsFunc(c.Args(), func(w command.Word) bool {
		if !w.Literal || w.Text == "--eval" || w.Text == "--print" {
			return true
		}
		isBundle := len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-'
		return isBundle && strings.ContainsAny(w.Text, "cerEp")
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
