package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnv(t *testing.T) {
	secrets := []string{
		"API_KEY", "api_key", "MY_APP_KEY", "KEY", "SSH_PRIVATE_KEY", "STRIPE_KEYS", "MYAPIKEY", "GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN",
		"npm_config_//registry.npmjs.org/:_authToken", "npm_config__auth", "CI_JOB_TOKEN", "TOKEN2", "API_KEY_2", "CLIENT_SECRET", "SECRETS",
		"DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "DB_PASS", "SSHPASS", "GPG_PASSPHRASE", "SMTP_PASSWD", "APP_CREDENTIALS",
		"DOCKER_AUTH", "DOCKER_AUTH_CONFIG", "REDISCLI_AUTH", "GITHUB_PAT", "SESSION_COOKIE", "HTTP_AUTHORIZATION", "AccessKeyToken",
		"STORAGE_CONNECTION_STRING",
		"ZEPH_HOME", "AWS_PROFILE", "AZURE_TENANT_ID", "GCP_PROJECT", "GOOGLE_APPLICATION_X", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL",
		"GEMINI_X", "HF_HOME", "HUGGINGFACE_HUB", "GROQ_X", "MISTRAL_X", "OPENROUTER_X", "OLLAMA_HOST", "anthropic_x",
	}
	harmless := []string{
		"PATH", "HOME", "PWD", "OLDPWD", "LANG", "KEYBOARD", "MONKEY", "MONKEY_PATCH", "TURKEY", "KEYMAP", "XAUTHORITY", "SSH_AUTH_SOCK",
		"COLORTERM", "TOKENIZERS_PARALLELISM", "GIT_AUTHOR_NAME", "AUTHOR", "SSH_ASKPASS", "GIT_ASKPASS", "BYPASS", "COMPASS", "PATTERN",
		"PATHEXT", "GOPATH", "HTTPS_PROXY", "XDG_RUNTIME_DIR", "EDITOR", "GOFLAGS", "CORPUS", "_", "AWSOME", "KUBECONFIG",
	}
	var environ []string
	for _, name := range slices.Concat(secrets, harmless, []string{"CORP_ID", "corp_x"}) {
		environ = append(environ, name+"=a=b")
	}
	environ = append(environ, "=C:=C:\\", "broken", "")
	want := []string{}
	for _, name := range harmless {
		want = append(want, name+"=a=b")
	}
	want = append(want, "=C:=C:\\")
	if diff := cmp.Diff(want, Env(environ, []string{"Corp_", ""})); diff != "" {
		t.Errorf("Env (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(append(secrets, "CORP_ID", "corp_x"), Blocked(environ, []string{"CORP_"})); diff != "" {
		t.Errorf("Blocked (-want +got)\n%s", diff)
	}
}

// A read-only command inherits no variable that makes a program load code, such as
// PYTHONPATH for "pip -V".
func TestReadOnlyEnv(t *testing.T) {
	block, extra := Command{ReadOnly: true}.Env(nil, nil)
	got := Env([]string{"BASH_FUNC_ls%%=() { x; }", "PYTHONPATH=.", "PYTHONHOME=.", "LUA_INIT_5_4=@x", "PHPRC=.", "NODE_OPTIONS=-r x", "GIT_DIR=x",
		"PATH=/bin"}, block)
	if len(got) != 1 || got[0] != "PATH=/bin" {
		t.Errorf("it inherits %q", got)
	}
	if !slices.Contains(extra, "PYTHONDONTWRITEBYTECODE=1") {
		t.Errorf("got the variables %q, want PYTHONDONTWRITEBYTECODE=1 among them", extra)
	}
}

func FuzzEnv(f *testing.F) {
	f.Add("API_KEY=x", "CORP_")
	f.Add("=", "")
	f.Add("a", "A")
	f.Fuzz(func(t *testing.T, v, prefix string) {
		environ, block := []string{v, "HOME=/h"}, []string{prefix}
		kept, names := Env(environ, block), Blocked(environ, block)
		for _, k := range kept {
			if !slices.Contains(environ, k) {
				t.Errorf("made up %q", k)
			}
			if name, _, _ := strings.Cut(k, "="); name != "" && slices.Contains(names, name) {
				t.Errorf("%q is both kept and blocked", k)
			}
		}
		if up := strings.ToUpper(v); strings.Contains(up, "SECRET") && !strings.Contains(up[:strings.Index(up, "SECRET")], "=") && slices.Contains(kept, v) {
			t.Errorf("kept %q", v)
		}
	})
}
