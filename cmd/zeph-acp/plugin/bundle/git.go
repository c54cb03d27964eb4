package bundle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process/program"
)

// Folder is a folder with plug-ins that is read: a directory, or a commit of a git repository.
type Folder struct {
	Source Source
	Commit string // of a git repository

	runner *program.Runner
	repo   string   // the directory of the fetched repository
	list   []object // of the commit
}

// object is a file of a commit.
type object struct {
	mode, id string
	size     int64
	name     string
}

// fetchTime limits the work of git.
const fetchTime = 5 * time.Minute

// Open opens the folder of a source. It fetches a git repository without running anything of it: no
// file is checked out, so that no filter, hook or submodule has a part in it. runner must
// not confine git, which needs the network.
func Open(ctx context.Context, runner *program.Runner, s Source) (*Folder, error) {
	f := &Folder{Source: s, runner: runner}
	if s.Dir != "" {
		return f, nil
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "zeph-acp-plugin-")
	if err != nil {
		return nil, err
	}
	f.repo = dir
	if err := f.fetch(ctx); err != nil {
		f.Close()
		return nil, fmt.Errorf("fetch %s: %w", s.URL, err)
	}
	return f, nil
}

// Close removes the fetched repository.
func (f *Folder) Close() {
	if f.repo != "" {
		os.RemoveAll(f.repo)
	}
}

// git runs a command of git in the fetched repository.
func (f *Folder) git(ctx context.Context, in io.Reader, limit int, args ...string) ([]byte, error) {
	return f.runner.Git(ctx, program.Command{
		Args: args, Dir: f.repo, Stdin: in, MaxOutput: limit, Timeout: fetchTime,
		Env: []string{"GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_LFS_SKIP_SMUDGE=1", "GIT_TEMPLATE_DIR=", "GIT_DIR=" + f.repo},
	}, "protocol."+f.Source.protocol()+".allow=always", "protocol.ext.allow=never", "fetch.recurseSubmodules=false", "transfer.bundleURI=false",
		"fetch.fsckObjects=false", "core.symlinks=false", "init.templateDir=", "remote.origin.promisor=false")
}

// fetch gets one commit with its files, and lists them.
func (f *Folder) fetch(ctx context.Context) error {
	const small, listing = 64 << 10, 16 << 20
	if _, err := f.git(ctx, nil, small, "init", "--bare", "--quiet", "--template="); err != nil {
		return err
	}
	_, err := f.git(ctx, nil, small, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-commit-graph", "--",
		f.Source.URL, cmp.Or(f.Source.Ref, "HEAD"))
	if err != nil {
		return err
	}
	out, err := f.git(ctx, nil, small, "rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}")
	if err != nil {
		return err
	}
	f.Commit = strings.TrimSpace(string(out))
	if out, err = f.git(ctx, nil, listing, "ls-tree", "-r", "-z", "-l", "--full-tree", f.Commit); err != nil {
		return err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		about, name, ok := strings.Cut(line, "\t")
		fields := strings.Fields(about) // mode, type, id, size
		if !ok || len(fields) != 4 {
			continue // an empty commit
		}
		size, _ := strconv.ParseInt(fields[3], 10, 64) // "-" for a submodule
		f.list = append(f.list, object{fields[0], fields[2], size, name})
	}
	return nil
}

// Modes of the objects in a commit.
const (
	modeExec      = "100755"
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// Tree reads the files of a folder in it; "." is all of it.
func (f *Folder) Tree(ctx context.Context, sub string) (Tree, error) {
	sub = path.Join(f.Source.Sub, sub)
	if f.repo == "" {
		tree, err := ReadTree(f.Source.Dir, sub)
		if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("there is no folder %s in %s", sub, f.Source.Dir)
		}
		return tree, err
	}
	var wanted []object
	for _, o := range f.list {
		if sub != "." {
			rest, ok := strings.CutPrefix(o.name, sub+"/")
			if !ok {
				continue
			}
			o.name = rest
		}
		if slices.ContainsFunc(strings.Split(o.name, "/"), isGit) {
			continue
		}
		wanted = append(wanted, o)
	}
	if len(wanted) == 0 {
		return nil, fmt.Errorf("there is no folder %s in %s", sub, f.Source.URL)
	}
	return f.read(ctx, wanted)
}

// read reads objects within the limits of a plug-in.
func (f *Folder) read(ctx context.Context, wanted []object) (Tree, error) {
	b := newBuilder()
	var ids strings.Builder
	for _, o := range wanted { // before anything is read
		if o.mode == modeSubmodule {
			return nil, fmt.Errorf("%s is a submodule, another repository, which is not fetched", executors.OneLine(o.name))
		}
		if err := b.add(o.name, o.size, func() (entry, error) { return entry{File: File{make([]byte, 0), false}}, nil }); err != nil {
			return nil, err
		}
		ids.WriteString(o.id + "\n")
	}
	out, err := f.git(ctx, strings.NewReader(ids.String()), maxBytes+len(wanted)*100, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	for _, o := range wanted {
		head, rest, ok := bytes.Cut(out, []byte("\n"))
		if want := fmt.Sprintf("%s blob %d", o.id, o.size); !ok || string(head) != want || int64(len(rest)) <= o.size {
			return nil, fmt.Errorf("%s cannot be read from the repository", executors.OneLine(o.name))
		}
		e := entry{File: File{bytes.Clone(rest[:o.size]), o.mode == modeExec}}
		if o.mode == modeLink {
			e = entry{link: cmp.Or(string(e.Data), "/")}
		}
		b.entries[o.name] = e
		out = rest[o.size+1:]
	}
	return b.tree()
}

// File reads a file of the folder, of at most limit bytes. It returns nil if there is none.
func (f *Folder) File(ctx context.Context, name string, limit int64) ([]byte, error) {
	name = path.Join(f.Source.Sub, name)
	if f.repo == "" {
		return readBelow(f.Source.Dir, name, limit)
	}
	i := slices.IndexFunc(f.list, func(o object) bool { return o.name == name })
	if i < 0 || f.list[i].mode == modeLink {
		return nil, nil
	}
	if f.list[i].size > limit {
		return nil, fmt.Errorf("%s has more than %d MiB", name, limit>>20)
	}
	return f.git(ctx, nil, int(limit)+1, "cat-file", "blob", f.list[i].id)
}

// readBelow reads a file below a directory; nil if there is none.
func readBelow(dir, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	local := filepath.FromSlash(name)
	info, err := root.Stat(local)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s has more than %d MiB", name, limit>>20)
	}
	return root.ReadFile(local)
}
