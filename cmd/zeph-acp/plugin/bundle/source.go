package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Source is the place of a plug-in, or of a marketplace of plug-ins.
type Source struct {
	Dir string // an absolute directory; or a URL
	URL string // of a git repository
	Ref string // a branch, a tag or a commit; "" is the default branch
	Sub string // the path of the folder in it; "." is all of it
}

// String returns the source as ParseSource reads it.
func (s Source) String() string {
	switch {
	case s.Dir != "" && s.Sub != ".":
		return filepath.Join(s.Dir, filepath.FromSlash(s.Sub))
	case s.Dir != "":
		return s.Dir
	}
	text := s.URL
	if s.Ref != "" || s.Sub != "." {
		text += "#" + s.Ref
	}
	if s.Sub != "." {
		text += ":" + s.Sub
	}
	return text
}

var (
	gitRef  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/+@-]{0,199}$`)
	scpLike = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*):([^:#]+)(?::(.+))?$`)
	// shorthand is the notation OWNER/NAME for a repository of GitHub, which names no host.
	shorthand = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)
)

// ParseSource parses the name of a directory, or an address of a git repository: URL, URL#REF,
// URL#REF:FOLDER or URL#:FOLDER.
func ParseSource(text string) (Source, error) {
	shown := executors.OneLine(executors.Shown(text))
	if text == "" || executors.OneLine(text) != text {
		return Source{}, fmt.Errorf("%s is neither a directory nor the address of a git repository", shown)
	}
	if info, err := os.Stat(text); err == nil {
		if !info.IsDir() {
			return Source{}, fmt.Errorf("%s is not a directory; a plug-in is a folder", shown)
		}
		abs, err := filepath.Abs(text)
		return Source{Dir: abs, Sub: "."}, err
	}
	address, fragment, _ := strings.Cut(text, "#")
	s := Source{URL: address, Sub: "."}
	var sub string
	s.Ref, sub, _ = strings.Cut(fragment, ":")
	if sub != "" {
		s.Sub = sub
	}
	switch {
	case strings.HasPrefix(text, "-"):
		return Source{}, fmt.Errorf("%s begins with a dash", shown)
	case strings.Contains(address, "::"):
		return Source{}, fmt.Errorf("%s names a program that speaks for git; only https:// and ssh:// are supported", shown)
	case !strings.Contains(address, "://") && scpLike.MatchString(address):
		return s, s.check()
	case !strings.Contains(address, "://"):
		err := fmt.Errorf("there is no directory %s", shown)
		if shorthand.MatchString(text) {
			err = fmt.Errorf("%w; a repository of GitHub is https://github.com/%s", err, shown)
		}
		return Source{}, err
	}
	return s, s.check()
}

// check returns an error for an address that git must not be called with.
func (s Source) check() error {
	shown := executors.OneLine(s.URL)
	if s.Ref != "" && (!gitRef.MatchString(s.Ref) || strings.Contains(s.Ref, "..") || strings.Contains(s.Ref, "@{")) {
		return fmt.Errorf("%s is not a branch, a tag or a commit", executors.OneLine(s.Ref))
	}
	if _, err := cleanPath(s.Sub); err != nil {
		return err
	}
	if !strings.Contains(s.URL, "://") {
		if !scpLike.MatchString(s.URL) {
			return fmt.Errorf("%s is not an address of a git repository", shown)
		}
		return nil
	}
	u, err := url.Parse(s.URL)
	if err == nil && u.Scheme == "file" {
		return fmt.Errorf("%s: name the directory itself", shown)
	}
	if err != nil || u.Hostname() == "" || strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-") || strings.HasPrefix(u.Path, "/-") {
		return fmt.Errorf("%s is not an address of a git repository", shown)
	}
	if _, has := u.User.Password(); has {
		return errors.New("the address contains a password, which would be stored and shown; leave it to git's credential helper")
	}
	switch u.Scheme {
	case "https", "ssh":
		return nil
	case "http":
		if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
			return nil
		}
		return fmt.Errorf("%s is not encrypted, so anyone on the network path could change the plug-in; use https://", shown)
	}
	return fmt.Errorf("%s: only https:// and ssh:// are supported", shown)
}

// protocol returns the protocol of git for the address.
func (s Source) protocol() string {
	if u, err := url.Parse(s.URL); err == nil && strings.Contains(s.URL, "://") {
		return u.Scheme
	}
	return "ssh"
}

// cleanPath returns a path in a plug-in as the keys of a Tree have it, from the notation of manifests:
// "./commands/a.md". "." is the folder itself.
func cleanPath(name string) (string, error) {
	slashed := strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if slashed == "" {
		slashed = "."
	}
	if path.IsAbs(name) || filepath.IsAbs(name) || strings.Contains(name, `\`) || executors.OneLine(name) != name {
		return "", fmt.Errorf("%s is not a path inside of the plug-in", executors.OneLine(executors.Shown(name)))
	}
	if clean := path.Clean(slashed); fs.ValidPath(clean) {
		return clean, nil
	}
	return "", fmt.Errorf("%s leads out of the plug-in", executors.OneLine(executors.Shown(name)))
}

// baseName returns the last part of the source, which names a plug-in without a manifest.
func (s Source) baseName() string {
	at := s.Sub
	if at == "." {
		at = strings.TrimSuffix(strings.TrimRight(filepath.ToSlash(s.Dir+s.URL), "/"), ".git")
	}
	return at[strings.LastIndexAny(at, "/:")+1:]
}
