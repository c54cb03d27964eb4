package plain

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// service is a program that asks a daemon or a server: it cannot run in the box. Its subcommands
// here only read, with these options.
type service struct {
	common   string   // options of every subcommand
	commands []string // each is a subcommand, and its options after a colon
}

const (
	dockerList = "-a --all -q --quiet --no-trunc --format= -f= --filter= -n# --last# -l --latest -s --size --digests"
	dockerLogs = "-f --follow -n= --tail= --since= --until= -t --timestamps --details --no-color --no-log-prefix"
	dockerShow = "-f= --format= -s --size --type= -H --human --no-trunc -q --quiet --no-stream -a --all"
	ghLists    = "-L# --limit# -s= --state= -A= --author= -a= --assignee= -l= --label= -B= --base= -H= --head= -S= --search= -b= --branch= -u= --user= -e= --event= --json= --status= -c --comments"
)

// serviceOf returns the table of a program, nil if it has none.
func serviceOf(name string) *service {
	switch name {
	case "docker", "podman":
		return &service{commands: []string{
			"ps:" + dockerList, "images:" + dockerList, "logs:" + dockerLogs, "inspect:" + dockerShow, "version:", "info:", "top:", "port:", "diff:", "history:" + dockerShow, "stats:" + dockerShow,
			"container ls:" + dockerList, "container ps:" + dockerList, "container list:" + dockerList, "container inspect:" + dockerShow, "container logs:" + dockerLogs, "container top:", "container port:",
			"image ls:" + dockerList, "image list:" + dockerList, "image inspect:" + dockerShow, "image history:" + dockerShow, "volume ls:" + dockerList, "volume inspect:" + dockerShow,
			"network ls:" + dockerList, "network inspect:" + dockerShow, "system df:-v --verbose", "context ls:-q --quiet", "compose ps:" + dockerList, "compose ls:" + dockerList, "compose logs:" + dockerLogs,
			"compose images:-q --quiet", "compose top:", "compose version:",
		}}
	case "kubectl":
		return &service{
			common: "-n= --namespace= -A --all-namespaces -l= --selector= --field-selector= -o= --output= --no-headers --request-timeout=",
			commands: []string{
				"get:--sort-by= --show-labels --show-kind -L= --label-columns= -w --watch --ignore-not-found --chunk-size#", "describe:--show-events?", "events:--types= --for=", "top pod:--containers --sort-by=", "top node:--sort-by=", "top pods:--containers --sort-by=", "top nodes:--sort-by=",
				"logs:-f --follow --tail# --since= --since-time= -c= --container= -p --previous --timestamps --all-containers --prefix --limit-bytes# --max-log-requests#", "explain:--recursive --api-version=",
				"api-resources:--namespaced? --verbs= --api-group= --sort-by=", "api-versions:", "version:--client", "cluster-info:", "config current-context:", "config get-contexts:", "auth can-i:--list", "rollout status:--timeout= -w --watch?", "rollout history:--revision#",
			},
		}
	case "gh":
		return &service{common: ghLists, commands: []string{
			"pr list:-d --draft", "pr view:", "pr status:", "pr diff:--name-only --patch --color=", "pr checks:--required", "issue list:", "issue view:", "issue status:", "run list:-w= --workflow=", "run view:--log --log-failed -j= --job= -v --verbose --exit-status",
			"release list:", "release view:", "workflow list:", "workflow view:-y --yaml", "label list:", "repo view:",
		}}
	case "helm":
		return &service{common: "-n= --namespace= -o= --output=", commands: []string{
			"list:-A --all-namespaces -a --all -q --short -f= --filter= -d --date -r --reverse --deployed --failed --pending", "ls:-A --all-namespaces -a --all -q --short", "status:--show-resources --revision#", "history:--max#", "version:--short", "repo list:",
		}}
	case "systemctl":
		return &service{common: "--no-pager --user --system -l --full -q --quiet -a --all -n# --lines# -t= --type= --state= -p= --property= --no-legend --plain --value", commands: []string{
			"status:", "is-active:", "is-enabled:", "is-failed:", "list-units:", "list-unit-files:", "list-timers:", "list-sockets:", "list-dependencies:", "show:", "cat:", "--version:",
		}}
	}
	return nil
}

var (
	// serviceName matches the names of objects of a service, and no option, file or URL.
	serviceName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/:,@=-]*$`)
	// serviceOutput matches the formats that name no file.
	serviceOutput = lazyregexp.New(`^(json|yaml|wide|name|table|(jsonpath|jsonpath-as-json|go-template|custom-columns)=.*)$`)
)

// AsksService returns the name of the program if these are the words of a command that only asks a
// daemon or a server, with options that are declared harmless; "" for any other command.
func AsksService(words []Word) string {
	if len(words) < 2 || slices.ContainsFunc(words, func(w Word) bool { return !w.literal() }) {
		return ""
	}
	name := words[0].text()
	s := serviceOf(name)
	if s == nil {
		return ""
	}
	for _, entry := range s.commands {
		text, options, _ := strings.Cut(entry, ":")
		sub := strings.Fields(text)
		rest := words[1:]
		if len(rest) < len(sub) || !slices.EqualFunc(rest[:len(sub)], sub, func(w Word, text string) bool { return w.text() == text }) {
			continue
		}
		p := program{options: options + " " + s.common, operands: textOperands, ownParser: true, noDoubleDash: true}
		o, _, err := p.parse(&builder{}, rest[len(sub):])
		isBad := func(w Word) bool {
			return !serviceName.MatchString(w.text()) || strings.Contains(strings.ToLower(w.text()), "secret")
		}
		isFile := func(g parsedOption) bool {
			return (g.name == "-o" || g.name == "--output") && !serviceOutput.MatchString(g.value)
		}
		// Docker's names of containers may contain "secret", too; that costs a question.
		if err == nil && !slices.ContainsFunc(o.operands, isBad) && !slices.ContainsFunc(o.options, isFile) {
			return name
		}
	}
	return ""
}
