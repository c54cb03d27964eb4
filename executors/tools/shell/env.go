package shell

import (
	"os"
	"slices"
	"strings"
)

// Env returns environ without the variables that a command must not see: variables
// named like secrets, providers' variables, and variables whose name starts with a
// prefix in block. It ignores case.
func Env(environ, block []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, ok := variableName(v)
		return !ok || blocked(name, block)
	})
}

// Environ returns the whole environment of a command: the part of this process's own that a command
// may see, and extra. See [Command.Env].
func Environ(block, extra []string) []string {
	return slices.Concat(Env(os.Environ(), block), Quiet(), extra)
}

// Blocked returns the names of the variables that Env removes. A runner that
// cannot remove variables from an environment sets them to "".
func Blocked(environ, block []string) []string {
	var names []string
	for _, v := range environ {
		if name, ok := variableName(v); ok && blocked(name, block) {
			names = append(names, name)
		}
	}
	return names
}

// Quiet returns the variables, as NAME=value, that keep programs from asking or
// paging: a command has no terminal to answer on.
func Quiet() []string {
	return []string{
		"TERM=dumb",
		"PAGER=cat", "GIT_PAGER=cat",
		"GIT_EDITOR=true", // git rebase --continue keeps the message
		"EDITOR=false", "VISUAL=false",
		"GIT_TERMINAL_PROMPT=0",
		"SSH_ASKPASS_REQUIRE=never", // no window
		"DEBIAN_FRONTEND=noninteractive",
	}
}

// variableName splits off the name. Names such as "=C:" are Windows' own.
func variableName(v string) (name string, ok bool) {
	if v == "" {
		return "", false
	}
	i := strings.IndexByte(v[1:], '=')
	if i < 0 {
		return "", false
	}
	return v[:i+1], true
}

func blocked(name string, block []string) bool {
	return Reserved(name, block) || looksSecret(strings.ToUpper(name))
}

// Reserved reports whether a variable belongs to this agent or to a provider, or begins
// with a prefix of block.
func Reserved(name string, block []string) bool {
	name = strings.ToUpper(name)
	starts := func(prefix string) bool {
		return prefix != "" && strings.HasPrefix(name, strings.ToUpper(prefix))
	}
	return slices.ContainsFunc(providerPrefixes, starts) || slices.ContainsFunc(block, starts)
}

// providerPrefixes are prefixes of variables that configure this agent or a provider.
var providerPrefixes = []string{
	"ZEPH_",
	"ANTHROPIC_", "AWS_", "AZURE_", "CLAUDE_", "COHERE_", "DEEPSEEK_", "GCP_", "GEMINI_", "GOOGLE_", "GROQ_",
	"HF_", "HUGGING", "MISTRAL_", "OLLAMA_", "OPENAI_", "OPENROUTER_", "PERPLEXITY_", "REPLICATE_", "TOGETHER_",
	"XAI_",
}

// looksSecret reports whether a name, in upper case, looks like the name of a secret. It compares whole
// parts, so that KEYBOARD, MONKEY_PATCH and COLORTERM stay; SSH_AUTH_SOCK stays because AUTH counts
// only at the end.
func looksSecret(name string) bool {
	switch name {
	case "PWD", "OLDPWD": // directories; MYSQL_PWD is not
		return false
	case "DOCKER_AUTH_CONFIG": // not a path: the credentials themselves
		return true
	}
	if strings.HasSuffix(name, "CONNECTION_STRING") {
		return true
	}
	parts := strings.FieldsFunc(name, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	for i, part := range parts {
		part = strings.TrimRight(part, "0123456789") // TOKEN2
		switch part {
		case "KEY", "KEYS", "PASS", "PWD", "PAT", "JWT", "CRED", "CREDS", "COOKIE", "BEARER", "AUTHORIZATION", "SSHPASS":
			return true
		case "AUTH":
			if i == len(parts)-1 {
				return true
			}
		}
		if slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(part, word) }) ||
			slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(part, end) }) {
			return true
		}
	}
	return false
}

var (
	secretWords = []string{"SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PASSCODE", "CREDENTIAL"}
	secretEnds  = []string{"TOKEN", "TOKENS", "APIKEY", "APIKEYS", "ACCESSKEY", "PRIVATEKEY", "AUTHKEY", "MASTERKEY", "SIGNINGKEY", "ENCRYPTIONKEY"}
)
