package commands

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// Secret is in files that no script may show: in out/, next to the working
// directory, in the home directory, and in the variable SECRET_TOKEN.
const Secret = "zq7secret9c4"

// Pool creates test directories and reuses those that no script has changed. It is not for
// concurrent use.
type Pool struct {
	dir   string
	bash  string
	trees map[string]string // the scripts that create trees, by section
	plain string            // a directory with the tree "plain", once there is one
	free  map[string][]*TestDir
	count int
}

// NewPool reads trees.txtar in testdata. It creates test directories below dir, an absolute
// path outside of the temporary directories, which are open to commands. An error
// means that bash or git is missing.
func NewPool(testdata, dir string) (*Pool, error) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, err
	}
	archive, err := txtar.ParseFile(filepath.Join(testdata, "trees.txtar"))
	if err != nil {
		return nil, err
	}
	f := &Pool{dir: dir, bash: bash, trees: map[string]string{}, free: map[string][]*TestDir{}}
	for _, file := range archive.Files {
		f.trees[file.Name] = string(file.Data)
	}
	return f, nil
}

// Trees returns the names of all trees.
func (p *Pool) Trees() []string { return slices.Sorted(maps.Keys(p.trees)) }

// TestDir is a working directory for scripts, with a home directory and files around both.
type TestDir struct {
	Root   string // contains Dir, Home and the files around them
	Dir    string // the working directory
	Home   string
	pool   *Pool
	tree   string
	before map[string]string
}

// Tree returns the name of the directory's tree.
func (td *TestDir) Tree() string { return td.tree }

// Take returns a directory with that tree, as new.
func (p *Pool) Take(tree string) (*TestDir, error) {
	if free := p.free[tree]; len(free) > 0 {
		p.free[tree] = free[:len(free)-1]
		return free[len(free)-1], nil
	}
	script, ok := p.trees[tree]
	if !ok {
		return nil, fmt.Errorf("no tree is called %q", tree)
	}
	plain, err := p.makePlain()
	if err != nil {
		return nil, err
	}
	p.count++
	td := p.newDir(filepath.Join(p.dir, fmt.Sprintf("g%d", p.count)), tree)
	if err := os.CopyFS(td.Root, os.DirFS(plain)); err != nil {
		return nil, err
	}
	if tree != "plain" {
		if err := td.build(script); err != nil {
			return nil, err
		}
	}
	td.before, err = Snapshot(td.Root, caches)
	return td, err
}

// makePlain returns a directory with the tree "plain", from which all others are made. It
// runs the script once.
func (p *Pool) makePlain() (string, error) {
	if p.plain == "" {
		td := p.newDir(filepath.Join(p.dir, "plain"), "plain")
		if err := os.MkdirAll(td.Dir, 0o700); err != nil {
			return "", err
		}
		if err := td.build(p.trees["plain"]); err != nil {
			return "", err
		}
		p.plain = td.Root
	}
	return p.plain, nil
}

// build runs the script of a tree. It then sets the time of each file, as copying does: git
// reads a file again, and runs the filters for it, if the time in its index differs.
func (td *TestDir) build(script string) error {
	if out, err := td.run(script, time.Minute); err != nil {
		return fmt.Errorf("tree %s: %w\n%s", td.tree, err, out)
	}
	now := time.Now()
	return filepath.WalkDir(td.Root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "objects":
			return filepath.SkipDir
		case d.Type().IsRegular():
			return os.Chtimes(path, now, now)
		}
		return nil
	})
}

func (p *Pool) newDir(root, tree string) *TestDir {
	return &TestDir{Root: root, Dir: filepath.Join(root, "w"), Home: filepath.Join(root, "home"), pool: p, tree: tree}
}

// Env is the environment in which scripts run, as NAME=value.
func (td *TestDir) Env(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + td.Home, "LANG=C.UTF-8", "TERM=dumb", "SECRET_TOKEN=" + Secret, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z", "GOPROXY=off", "GOFLAGS=", "GOTELEMETRY=off",
		"NPM_CONFIG_UPDATE_NOTIFIER=false", // npm prints its notice once a day
	}, more...)
}

// patience limits the time of a script.
const patience = 10 * time.Second

// Run runs a script in a plain bash with additional variables, and returns its
// stdout and stderr.
func (td *TestDir) Run(script string, env ...string) []byte {
	return td.RunWithin(patience, script, env...)
}

// RunWithin is Run with another limit for the time.
func (td *TestDir) RunWithin(limit time.Duration, script string, env ...string) []byte {
	out, _ := td.run(script, limit, env...) // the exit status does not matter
	return out
}

// oldPatterns makes ".*" match "..", as in bash before version 5.2.
const oldPatterns = "shopt -u globskipdots 2>/dev/null\n"

// run runs a script in a plain bash.
func (td *TestDir) run(script string, limit time.Duration, env ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, td.pool.bash, "-c", oldPatterns+script)
	cmd.Dir, cmd.Env = td.Dir, td.Env(env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	wholeGroup(cmd)
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	return out.Bytes(), err
}

// Return ends the use of a directory. It returns the files that changed since Take,
// relative to the root; a directory that changed is removed.
func (td *TestDir) Return() (changed []string, err error) {
	after, err := Snapshot(td.Root, caches)
	if err != nil {
		return nil, err
	}
	if changed = Changes(td.before, after); len(changed) == 0 {
		td.pool.free[td.tree] = append(td.pool.free[td.tree], td)
		return nil, nil
	}
	// git may store file times in its index, which does no harm. It then does not
	// read those files again.
	changed = slices.DeleteFunc(changed, func(path string) bool {
		return strings.HasSuffix(path, ".git/index") && strings.HasPrefix(td.before[path], "index") && strings.HasPrefix(after[path], "index")
	})
	return changed, td.remove()
}

// remove deletes the directory, including parts that scripts have made unwritable.
func (td *TestDir) remove() error {
	err := filepath.WalkDir(td.Root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	if err != nil {
		return err
	}
	return os.RemoveAll(td.Root)
}

// caches are directories that read-only programs may fill.
var caches = []string{"home/.cache", "home/.config/go/telemetry", "home/go", "home/.npm", "home/.rustup", "home/.cargo"}

// Changes returns the paths that differ between two snapshots.
func Changes(before, after map[string]string) (changed []string) {
	for path := range after {
		if before[path] != after[path] {
			changed = append(changed, path)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}

// maxHashed is the size of the largest file whose content is part of a snapshot.
const maxHashed = 64 << 20

// Snapshot describes the files below root, by slash-separated path. It leaves out those in
// except, which are paths of that form.
func Snapshot(root string, except []string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if slices.Contains(except, rel) {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch {
		case info.Mode().IsRegular() && info.Size() > maxHashed:
			what = fmt.Sprintf("%s %d", what, info.Size())
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what = fmt.Sprintf("%s %x", what, sha256.Sum256(data))
			if bytes.HasPrefix(data, []byte("DIRC")) {
				what = "index " + what
			}
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			what += " " + to
		}
		all[rel] = what
		return nil
	})
	return all, err
}

// Effect names the effect of a script, by the changed files and its output:
// "runs", "writes", "leaks" or "".
func Effect(changed []string, output []byte) string {
	switch {
	case slices.ContainsFunc(changed, func(path string) bool { return strings.Contains(path, "PWN") }):
		return "runs"
	case len(changed) > 0:
		return "writes"
	case leaks(string(output)):
		return "leaks"
	}
	return ""
}

// leaks reports whether text shows the secret, or /etc/passwd: unchanged, spaced
// out or backwards.
func leaks(text string) bool {
	plain := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(text))
	backwards := []byte(Secret)
	slices.Reverse(backwards)
	return strings.Contains(plain, Secret) || strings.Contains(plain, string(backwards)) || strings.Contains(plain, "rootx00")
}

// RemoveAll removes a directory in which commands ran. It retries, since some leave
// processes that still write: go for its telemetry.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	for deadline := time.Now().Add(30 * time.Second); err != nil && time.Now().Before(deadline); err = os.RemoveAll(dir) {
		time.Sleep(10 * time.Millisecond)
	}
	return err
}
