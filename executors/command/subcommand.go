package command

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
)

// globalOptions maps programs that take options before their subcommand to the options
// whose value is the next word.
var globalOptions = map[string]string{
	"aws":            "--profile --region --output --endpoint-url --color --query --ca-bundle --cli-read-timeout --cli-connect-timeout",
	"brew":           "",
	"bundle":         "",
	"bun":            "--cwd",
	"cargo":          "-Z -C --config --color",
	"composer":       "-d --working-dir",
	"deno":           "",
	"docker":         "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey",
	"docker-compose": "-f --file -p --project-name",
	"dotnet":         "",
	"gem":            "",
	"gh":             "-R --repo",
	"git":            "-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source",
	"go":             "-C",
	"helm": "-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-as-group --kube-as-user --kube-ca-file --kube-token " +
		"--registry-config --repository-cache --repository-config",
	"loginctl": "-H --host -M --machine -n -o",
	"kubectl": "-n --namespace --context --kubeconfig --cluster --user -s --server --token --as --as-group --as-uid --cache-dir " +
		"--certificate-authority --client-certificate --client-key --password --request-timeout --tls-server-name --username -v --v",
	"npm": "--prefix -C --loglevel -w --workspace --registry --userconfig --cache --access --auth-type --before --cafile --call " +
		"--depth --globalconfig --https-proxy --include --install-strategy --location --noproxy --omit --otp --pack-destination " +
		"--package --proxy --scope --script-shell --tag --node-options",
	"pip":       "--python --proxy --log --cache-dir --timeout --retries --cert",
	"pip3":      "--python --proxy --log --cache-dir --timeout --retries --cert",
	"pnpm":      "-C --dir -F --filter --loglevel --reporter",
	"podman":    "-c --connection --identity --log-level --root --runroot --runtime --storage-driver --tmpdir --url",
	"poetry":    "-C --directory -P --project",
	"rustup":    "",
	"svn":       "--username --password --config-dir",
	"systemctl": "-H --host -M --machine -t --type -p",
	"terraform": "",
	"uv":        "--directory --project --config-file",
	"yarn":      "--cwd",
}

// Forms returns the texts that a rule against the command is matched with: as
// written, with the program's plain name, and without the options between
// program and subcommand.
func (c *Command) Forms() []string {
	forms := []string{c.Text()}
	program := c.Program()
	if program == "" {
		return forms
	}
	forms = append(forms, strings.TrimSpace(program+" "+join(c.Args())))
	rest, ok := c.fromSubcommand()
	if ok {
		forms = append(forms, strings.TrimSpace(program+" "+join(rest)))
	}
	if program == "npm" && len(rest) > 0 && npmAliases[rest[0].Text] != "" {
		forms = append(forms, strings.TrimSpace("npm "+npmAliases[rest[0].Text]+" "+join(rest[1:])))
	}
	return slices.Compact(forms)
}

// fromSubcommand returns the words from the subcommand on; false if the program is
// not known to have any.
func (c *Command) fromSubcommand() ([]Word, bool) {
	valued, ok := globalOptions[c.Program()]
	if !ok {
		return nil, false
	}
	rest := afterOptions(c.Args(), valued)
	if c.Program() == "npm" && len(rest) > 0 && rest[0].Literal {
		rest = slices.Clone(rest)
		rest[0].Text = npmCommand(rest[0].Text)
	}
	return rest, true
}

// afterOptions returns the words after leading options. valued are those whose value
// is the next word, separated by spaces.
func afterOptions(args []Word, valued string) []Word {
	for len(args) > 0 && args[0].Literal && strings.ContainsAny(args[0].Text[:min(1, len(args[0].Text))], "-+") {
		n := 1
		if slices.Contains(strings.Fields(valued), args[0].Text) {
			n = 2
			if len(args) > 1 && args[1].Split {
				return args[1:] // its value may be more than one word
			}
		}
		args = args[min(n, len(args)):]
	}
	return args
}

// Operands are the words after the options that are before the subcommand.
func (c *Command) Operands() []Word {
	if rest, ok := c.fromSubcommand(); ok {
		return rest
	}
	return c.Args()
}

// Subcommand returns the program's first operand. open reports that this operand or a
// word before it is computed, so that the subcommand may be another one.
func (c *Command) Subcommand() (name string, open bool) {
	args, ok := c.fromSubcommand()
	if !ok {
		args = c.Args()
	}
	for _, a := range args {
		switch {
		case a.number:
		case !a.Literal || a.Glob:
			_, files := fileCommands()[c.Program()]
			return "", !files && !plain.PrintsOnly(c.Program()) // has no subcommands
		case !strings.HasPrefix(a.Text, "-"):
			return a.Text, false
		}
	}
	return "", false
}

// Prefixed reports whether the command has options between program and
// subcommand.
func (c *Command) Prefixed() bool {
	rest, ok := c.fromSubcommand()
	return ok && len(rest) < len(c.Args()) && len(rest) > 0
}
