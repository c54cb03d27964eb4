package command

import (
	"maps"
	"slices"
	"strings"
)

// npmCommands are the commands of npm.
const npmCommands = "access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs doctor edit exec " +
	"explain explore find-dupes fund get help help-search hook init install install-ci-test install-test link ll login logout " +
	"ls org outdated owner pack ping pkg prefix profile prune publish query rebuild repo restart root run-script sbom search " +
	"set shrinkwrap star stars start stop team test token trust undeprecate uninstall unpublish unstar update version view whoami"

// npmAliases are other names of npm's commands.
var npmAliases = map[string]string{
	"add": "install", "add-user": "adduser", "author": "owner", "c": "config", "cit": "install-ci-test", "clean-install": "ci",
	"clean-install-test": "install-ci-test", "create": "init", "ddp": "dedupe", "dist-tags": "dist-tag", "find": "search",
	"hlep": "help", "home": "docs", "i": "install", "ic": "ci", "in": "install", "info": "view", "innit": "init",
	"ins": "install", "inst": "install", "insta": "install", "instal": "install", "install-clean": "ci", "isnt": "install",
	"isnta": "install", "isntal": "install", "isntall": "install", "isntall-clean": "ci", "issues": "bugs", "it": "install-test",
	"la": "ll", "list": "ls", "ln": "link", "ogr": "org", "r": "uninstall", "rb": "rebuild", "remove": "uninstall",
	"rm": "uninstall", "rum": "run-script", "run": "run-script", "s": "search", "se": "search", "show": "view", "sit": "install-ci-test",
	"t": "test", "tst": "test", "udpate": "update", "un": "uninstall", "unlink": "uninstall", "up": "update",
	"upgrade": "update", "urn": "run-script", "v": "view", "verison": "version", "why": "explain", "x": "exec",
}

// npmCommand returns the command or alias that a word of npm is short for: npm accepts the
// beginning of a name if no other begins so.
func npmCommand(word string) string {
	found := word
	for _, name := range append(strings.Fields(npmCommands), slices.Collect(maps.Keys(npmAliases))...) {
		switch {
		case name == word:
			return word
		case word == "" || !strings.HasPrefix(name, word):
		case found != word:
			return word
		default:
			found = name
		}
	}
	return found
}
