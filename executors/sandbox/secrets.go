package sandbox

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// secretPaths returns files and directories below the home directory that hold credentials.
func secretPaths(home string) []string {
	if home == "" {
		return nil
	}
	var all []string
	for _, name := range []string{
		".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".config/hub", ".config/glab-cli", ".config/op",
		".password-store", ".local/share/keyrings", ".local/share/kwalletd", ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium",
		".config/git/credentials", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
		".m2/settings-security.xml", ".gradle/gradle.properties", ".terraform.d", ".bundle/config", ".composer/auth.json",
		".npmrc", ".yarnrc", ".yarnrc.yml", ".netrc", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf", ".vault-token", ".dockercfg",
	} {
		all = append(all, filepath.Join(home, name))
	}
	return all
}

// secretFile reports whether a file outside the session's directories must not be read because
// of its name.
func secretFile(name string) bool {
	name = strings.ToLower(name)
	for _, pattern := range secretNames {
		if ok, _ := path.Match(pattern, name); ok {
			return !strings.HasSuffix(name, ".pub")
		}
	}
	return strings.HasPrefix(name, "credentials") && !slices.Contains(sourceExtensions, path.Ext(name))
}

// secretNames are patterns of the names of files with secrets, in lower case. secretFile excludes names
// that end in ".pub", and adds "credentials" with any extension except sourceExtensions.
var secretNames = []string{
	".npmrc", ".yarnrc*", ".netrc", "_netrc", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf", ".htpasswd", ".vault-token", ".dockercfg",
	".env", ".env.*", "id_rsa", "id_dsa", "id_ecdsa*", "id_ed25519*", "*.kdbx", "*.keytab", "shadow", "shadow-", "gshadow", "gshadow-", "sudoers",
	"opasswd", "ssh_host_*_key", "auth.json", "settings-security.xml", "master.passwd",
}

// sourceExtensions are the extensions of sources and documents, which are often named after what they handle.
var sourceExtensions = []string{
	".py", ".pyc", ".pyi", ".go", ".rs", ".js", ".mjs", ".cjs", ".ts", ".map", ".java", ".class", ".c", ".cc", ".h", ".rb", ".lua", ".so", ".html", ".md", ".rst", ".svg",
}

// secretDir reports whether a directory outside the session's directories must not be read
// because of its name. examined is true in the directories whose names are checked.
func secretDir(name string, examined bool) bool {
	return examined && slices.Contains(secretDirNames, strings.ToLower(name))
}

// secretDirNames are the names of directories with secrets.
var secretDirNames = []string{".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", "keyrings", "private", "sudoers.d"}

// holdsSecret reports whether a configuration file seems to hold a password or token.
func holdsSecret(text string) bool { return secretSetting.MatchString(text) }

var secretSetting = lazyregexp.New(`(?im)^[^#;\n=:]*(token|password|passwd|secret|extraheader|api_?key|authorization)[^\n=:]*[=:]\s*\S|://[^/\s@:]*:[^/\s@]+@`)
