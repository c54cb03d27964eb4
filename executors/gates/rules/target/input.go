package target

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/follow"
)

// pathKeys are names of parameters whose value is a file or an address.
var pathKeys = []string{
	"path", "paths", "file", "files", "file_path", "filepath", "filename", "file_name", "directory", "dir", "folder", "cwd", "root", "roots",
	"source", "src", "destination", "dest", "dst", "from", "to", "target", "url", "uri", "urls", "uris", "href",
}

// read collects the texts of the next value, which is valid. Objects may have a member
// twice: both count.
func (v *values) read(d *json.Decoder, key string) {
	token, _ := d.Token()
	switch token := token.(type) {
	case string:
		v.add(key, token)
	case json.Delim:
		seen := map[string]bool{}
		for d.More() {
			if token == '{' {
				name, _ := d.Token()
				key, _ = name.(string)
				if seen[key] {
					v.duplicate = key
				}
				seen[key] = true
				key = strings.ToLower(key)
			}
			v.read(d, key)
		}
		_, _ = d.Token()
	}
}

// add adds the text of one parameter.
func (v *values) add(key, text string) {
	v.texts = append(v.texts, text)
	switch {
	case text == "":
	case slices.Contains(pathKeys, key):
		v.named = append(v.named, text)
	case looksLikePath(text):
		v.pathLike = append(v.pathLike, text)
	}
}

// looksLikePath reports whether a text is the name of a file or an address by its form.
func looksLikePath(text string) bool {
	if len(text) > 4096 || strings.ContainsAny(text, "\n\x00") {
		return false
	}
	return filepath.IsAbs(text) || strings.Contains(text, "://") ||
		slices.ContainsFunc([]string{"~/", "./", "../", "file:"}, func(prefix string) bool {
			return strings.HasPrefix(strings.ToLower(text), prefix)
		})
}

// absolute returns the path that a text names, not cleaned.
func absolute(text string, s Session) string {
	if rest, ok := cutFileURL(text); ok {
		text = rest
	}
	switch rest, ok := strings.CutPrefix(text, "~"); {
	case ok && s.Home != "" && (rest == "" || os.IsPathSeparator(rest[0])):
		return s.Home + rest
	case filepath.IsAbs(text):
		return text
	}
	return s.Cwd + string(filepath.Separator) + text
}

// cutFileURL returns the path of a file URL.
func cutFileURL(text string) (path string, ok bool) {
	if len(text) < 5 || !strings.EqualFold(text[:5], "file:") {
		return "", false
	}
	u, err := url.Parse(text)
	if err != nil || u.Path == "" {
		return text[5:], true
	}
	return filepath.FromSlash(u.Path), true
}

// places returns where a path leads. A path that cannot be followed leads to an
// unknown place.
func places(abs string) []string {
	found, err := follow.Path(abs, &follow.Trail{})
	if err != nil || len(found) == 0 {
		return []string{follow.Unknown}
	}
	return found
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// URL is an address on the network.
type URL struct {
	Text    string // normalised: scheme and host in lower case, no default port
	Decoded string // Text without percent-encoding
	Scheme  string
	Host    string // without port and user
	Port    string // empty: the default of the scheme
	Path    string // with the query, at least "/"
}

// parseURL returns the address that a text is, if it has a scheme and a host.
func parseURL(text string) (URL, bool) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme == "" || u.Hostname() == "" || strings.EqualFold(u.Scheme, "file") {
		return URL{}, false
	}
	u.Scheme, u.User, u.Fragment = strings.ToLower(u.Scheme), nil, ""
	host, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if port == map[string]string{"https": "443", "http": "80", "ssh": "22"}[u.Scheme] {
		port = ""
	}
	u.Host = host
	if strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	if port != "" {
		u.Host += ":" + port
	}
	if u.Path == "" {
		u.Path = "/"
	}
	decoded, err := url.PathUnescape(u.String())
	if err != nil {
		decoded = u.String()
	}
	return URL{Text: u.String(), Decoded: decoded, Scheme: u.Scheme, Host: host, Port: port, Path: u.RequestURI()}, true
}
