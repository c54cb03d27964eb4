package update

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
)

// TestFind checks where a program comes from, and that docs/install.md has each line.
func TestFind(t *testing.T) {
	page, err := os.ReadFile("../../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123"}
	released := built("v0.1.0", commit)
	for name, tt := range map[string]struct {
		path   string
		system string
		env    map[string]string
		info   *debug.BuildInfo
		files  []string
		owners map[string]string // of the path, by the program that was asked
		how    string
		update string
		remove string
	}{
		"Homebrew on a Mac": {path: "/opt/homebrew/Cellar/zeph-acp/0.1.0/bin/zeph-acp", how: "installed with Homebrew",
			update: "brew update && brew upgrade zeph-acp", remove: "brew uninstall zeph-acp"},
		"Homebrew on Linux": {path: "/home/linuxbrew/.linuxbrew/Cellar/zeph-acp/0.1.0/bin/zeph-acp", how: "installed with Homebrew"},
		"Scoop": {path: `C:\Users\U\scoop\apps\zeph-acp\current\zeph-acp.exe`, system: "windows",
			how: "installed with Scoop", update: "scoop update zeph-acp"},
		"Scoop, elsewhere": {path: `D:\Tools\Apps\Zeph-ACP\0.1.0\zeph-acp.exe`, system: "windows",
			how: "installed with Scoop", remove: "scoop uninstall zeph-acp"},
		"Nix": {path: "/nix/store/abc-zeph-acp-0.1.0/bin/zeph-acp", how: "installed with Nix", update: "nix profile upgrade zeph-acp"},
		"npm, for all": {path: "/usr/local/lib/node_modules/zeph-acp/node_modules/@zeph-acp/linux-x64/zeph-acp", how: "installed with npm",
			update: "npm install -g zeph-acp@latest", remove: "npm uninstall -g zeph-acp"},
		"npm on Windows": {path: `C:\Users\U\AppData\Roaming\npm\node_modules\zeph-acp\node_modules\@zeph-acp\win32-x64\zeph-acp.exe`, system: "windows",
			how: "installed with npm", update: "npm install -g zeph-acp@latest"},
		"npm, for a project": {path: "/w/node_modules/@zeph-acp/linux-x64/zeph-acp", files: []string{"/w/package.json"},
			how: "installed with npm, or a similar program, for the project /w"},
		"npx": {path: "/home/u/.npm/_npx/ab12/node_modules/@zeph-acp/linux-x64/zeph-acp", files: []string{"/home/u/.npm/_npx/ab12/package.json"},
			how: "fetched by npx"},
		"pnpm": {path: "/home/u/.local/share/pnpm/global/5/.pnpm/@zeph-acp+linux-x64@0.1.0/node_modules/@zeph-acp/linux-x64/zeph-acp",
			how: "installed with pnpm"},
		"Bun":  {path: "/home/u/.bun/install/global/node_modules/@zeph-acp/linux-x64/zeph-acp", how: "installed with Bun"},
		"Yarn": {path: "/home/u/.config/yarn/global/node_modules/@zeph-acp/linux-x64/zeph-acp", how: "installed with Yarn"},
		"deb": {path: "/usr/bin/zeph-acp", owners: map[string]string{"dpkg-query": "zeph-acp: /usr/bin/zeph-acp\n"},
			how:    "installed with the package for Debian",
			update: "sudo apt install ./zeph-acp_VERSION_ARCH.deb", remove: "sudo apt remove zeph-acp"},
		"rpm": {path: "/usr/bin/zeph-acp", owners: map[string]string{"rpm": "zeph-acp"}, how: "installed with the package for RPM",
			update: "sudo rpm -U zeph-acp-VERSION-1.ARCH.rpm", remove: "sudo rpm -e zeph-acp"},
		"another package": {path: "/usr/bin/zeph-acp", owners: map[string]string{"dpkg-query": "other: /usr/bin/zeph-acp\n"},
			how: "installed into a directory of the system"},
		"not asked about home": {path: "/home/u/.local/bin/zeph-acp", owners: map[string]string{"rpm": "zeph-acp"}, how: "installed by install.sh"},
		"image": {path: "/usr/local/bin/zeph-acp", files: []string{"/.dockerenv"}, how: "put into a container image",
			update: "podman build -t zeph-acp -f Containerfile .", remove: "podman image rm zeph-acp"},
		"in a container": {path: "/home/u/.local/bin/zeph-acp", files: []string{"/run/.containerenv"}, how: "installed by install.sh"},
		"go install": {path: "/home/u/go/bin/zeph-acp", info: built("v0.1.0"),
			how: "built by go install", update: goLine, remove: "rm /home/u/go/bin/zeph-acp"},
		"a commit": {path: "/home/u/go/bin/zeph-acp", info: built("v0.1.1-0.20261130032619-efcde4171234"), how: "built by go install"},
		"clone": {path: "/home/u/go/bin/zeph-acp", info: built("v0.1.1-0.20261130032619-efcde4171234", commit),
			how: "built in a clone", update: cloneLine},
		"clone at a tag":   {path: "/home/u/go/bin/zeph-acp", info: released, how: "built in a clone"},
		"clone with GOBIN": {path: "/b/zeph-acp", env: map[string]string{"GOBIN": "/b"}, info: released, how: "built in a clone"},
		"changed clone":    {path: "/c/zeph-acp", info: built("v0.1.0+dirty", commit), how: "built in a clone"},
		"no commit":        {path: "/c/zeph-acp", info: built("(devel)"), how: "built in a clone"},
		"editor": {path: "/e/agents/zeph-acp/zeph-acp", files: []string{"/e/agents/zeph-acp/sbom.cdx.json"},
			how: "unpacked from an archive", remove: "rm -r /e/agents/zeph-acp"},
		"script": {path: "/home/u/.local/bin/zeph-acp", how: "installed by install.sh", update: scriptLine, remove: "rm /home/u/.local/bin/zeph-acp"},
		"script elsewhere": {path: "/home/u/my bin/zeph-acp", how: "installed by install.sh",
			update: "| ZEPH_INSTALL_DIR='/home/u/my bin' sh", remove: "rm '/home/u/my bin/zeph-acp'"},
		"zip": {path: `C:\Tools\zeph-acp.exe`, system: "windows", how: "copied from an archive", remove: `del "C:\Tools\zeph-acp.exe"`},
	} {
		t.Run(name, func(t *testing.T) {
			i := installation{
				path: tt.path, system: tt.system, home: "/home/u", info: tt.info,
				getenv: func(name string) string { return tt.env[name] },
				exists: func(file string) bool { return slices.Contains(tt.files, filepath.ToSlash(file)) },
				run:    func(name string, _ ...string) string { return tt.owners[name] },
			}
			if i.system == "" {
				i.system = "linux"
				if filepath.Separator != '/' {
					t.Skip("the paths of this case are those of another system")
				}
			}
			if i.info == nil {
				i.info = released
			}
			w := i.find()
			if !strings.HasPrefix(w.how, tt.how) || !strings.Contains(strings.Join(w.update, "\n"), tt.update) ||
				!strings.Contains(strings.Join(w.remove, "\n"), tt.remove) {
				t.Errorf("%s was %s\nupdate %q\nremove %q\nwant %q, %q, %q", tt.path, w.how, w.update, w.remove, tt.how, tt.update, tt.remove)
			}
			for _, line := range append(w.update, w.remove...) {
				command, _, _ := strings.Cut(line, "    # ")
				command = strings.TrimSpace(command)
				isSentence := strings.Contains(command, ". ") || strings.HasPrefix(command, "Replace ")
				if hasPath := strings.Contains(command, filepath.Dir(tt.path)) || strings.Contains(command, tt.path); hasPath || isSentence {
					continue
				}
				if !strings.Contains(strings.ReplaceAll(string(page), `\|`, "|"), command) {
					t.Errorf("docs/install.md has no %q", command)
				}
			}
		})
	}
}

// TestNewest asks a server in the place of GitHub.
func TestNewest(t *testing.T) {
	for name, tt := range map[string]struct {
		location string
		status   int
		want     string // of the text or of the error
	}{
		"newer":      {"/zeph-acp/zeph-acp/releases/tag/v99.0.0", http.StatusFound, "Version 99.0.0 is out: https://github.com/"},
		"same":       {"/zeph-acp/zeph-acp/releases/tag/v" + app.Version, http.StatusFound, "This is the newest version."},
		"older":      {"/zeph-acp/zeph-acp/releases/tag/v0.0.1", http.StatusFound, "The newest release is 0.0.1, which is older."},
		"by number":  {"/x/v0.10.0", http.StatusFound, "Version 0.10.0 is out"},
		"none yet":   {"/zeph-acp/zeph-acp/releases", http.StatusFound, "names no version"},
		"not found":  {"", http.StatusNotFound, "answered 404 Not Found, without the address of a release"},
		"no address": {"", http.StatusFound, "without the address of a release"},
		"escapes":    {"/x/v1.0.0%1b%5b2J", http.StatusFound, "names no version"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodHead || r.UserAgent() != "zeph-acp" {
					t.Errorf("got %s by %q, want HEAD by zeph-acp, without a version", r.Method, r.UserAgent())
				}
				if tt.location != "" {
					w.Header().Set("Location", tt.location)
				}
				w.WriteHeader(tt.status)
			}))
			defer server.Close()
			var out strings.Builder
			err := printNewest(t.Context(), &out, server.URL)
			if err != nil {
				out.WriteString(err.Error())
			}
			if !strings.Contains(out.String(), tt.want) || strings.Contains(out.String(), "\x1b") {
				t.Errorf("got %q, want %q", out.String(), tt.want)
			}
		})
	}
	var out strings.Builder
	err := printNewest(t.Context(), &out, "http://127.0.0.1:1")
	if err == nil || !strings.HasPrefix(err.Error(), "asking for the newest version: ") ||
		!strings.HasSuffix(err.Error(), ": without --check no server is asked") {
		t.Errorf("without a network: %v", err)
	}
}
