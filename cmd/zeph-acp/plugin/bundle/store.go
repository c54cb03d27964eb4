package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
)

// RecordsFile is the file in the data directory that lists the plug-ins.
const RecordsFile = "plugins.json"

// The directories of plug-ins in the data directory.
const (
	foldersDir = "plugins"
	dataDir    = "plugin-data"
)

// OpenDirs are the directories in the data directory whose files commands may use: scripts of plug-ins, and what
// they keep. A plug-in that is changed there is switched off.
var OpenDirs = []string{foldersDir, dataDir}

// Store keeps the plug-ins of the user. The approvals hold the hash of each.
type Store struct {
	Dir       string // the data directory, absolute; "" keeps no plug-in
	Approvals *approval.Store
}

// Record is a plug-in that the user has added.
type Record struct {
	Name   string    `json:"name"`
	Source string    `json:"source"`           // as ParseSource reads it
	Listed string    `json:"listed,omitempty"` // its name in the marketplace at Source
	Commit string    `json:"commit,omitempty"`
	Added  time.Time `json:"added"`
}

// records is the content of RecordsFile.
type records struct {
	Plugins []Record `json:"plugins"`
}

func parseRecords(data []byte) (r records, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return r, nil
	}
	if err := Decode(RecordsFile, data, &r); err != nil {
		return r, err
	}
	for _, one := range r.Plugins {
		if err := checkName(one.Name); err != nil {
			return r, fmt.Errorf("%s: %w", RecordsFile, err)
		}
	}
	return r, nil
}

// Records returns the plug-ins, sorted by name. Without plug-ins it examines one file.
func (s *Store) Records() ([]Record, error) {
	if s.Dir == "" {
		return nil, nil
	}
	data, err := keys.ReadPrivate(filepath.Join(s.Dir, RecordsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r records
	if err == nil {
		r, err = parseRecords(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(s.Dir, RecordsFile), err)
	}
	return r.Plugins, nil
}

// edit changes the list of plug-ins.
func (s *Store) edit(change func([]Record) []Record) error {
	if s.Dir == "" {
		return errors.New("there is no data directory: set HOME or ZEPH_HOME")
	}
	return keys.EditFile(filepath.Join(s.Dir, RecordsFile), func(old []byte) ([]byte, error) {
		r, err := parseRecords(old)
		if err != nil {
			return nil, err
		}
		r.Plugins = change(r.Plugins)
		if len(r.Plugins) == 0 {
			return nil, nil
		}
		slices.SortFunc(r.Plugins, func(a, b Record) int { return strings.Compare(a.Name, b.Name) })
		return json.MarshalIndent(r, "", "  ")
	})
}

// Root returns the folder of a plug-in, and Data the directory for its data.
func (s *Store) Root(name string) string { return filepath.Join(s.Dir, foldersDir, name) }

// Data returns the directory for the data of a plug-in's programs.
func (s *Store) Data(name string) string { return filepath.Join(s.Dir, dataDir, name) }

// subject returns the plug-in as the user approves it.
func (s *Store) subject(name, hash string) approval.Subject {
	return approval.Subject{What: "the plug-in " + name, Dir: s.Root(name), Covers: []string{hash}}
}

// ChangedError reports that a plug-in is not as the user approved it, so that no part of it is used.
type ChangedError struct {
	Name string
	Err  error // why it cannot be read; nil if it can
}

func (e *ChangedError) Error() string {
	why := "its files are not the ones that you approved"
	if e.Err != nil {
		why = "its files cannot be read: " + e.Err.Error()
	}
	return fmt.Sprintf("the plug-in %s is off, since %s; `zeph-acp plugin update %s` shows the difference and asks you", e.Name, why, e.Name)
}

// tree reads a stored plug-in.
func (s *Store) tree(name string) (Tree, error) {
	info, err := os.Lstat(s.Root(name))
	if err == nil && !info.IsDir() { // a link could lead to files that change later
		err = errors.New("its folder is not a directory")
	}
	if err != nil {
		return nil, err
	}
	return ReadTree(s.Root(name), ".")
}

// Check returns a *ChangedError if the files of a plug-in are not those that the user approved.
func (s *Store) Check(name string) error {
	_, err := s.approved(name)
	return err
}

// approved reads a plug-in that the user has approved as it is.
func (s *Store) approved(name string) (Tree, error) {
	t, err := s.tree(name)
	if err != nil {
		return nil, &ChangedError{name, err}
	}
	if s.Approvals == nil || s.Approvals.State(s.subject(name, t.Hash())) != approval.Approved {
		return t, &ChangedError{Name: name}
	}
	return t, nil
}

// Load returns a plug-in for a session. The error is a *ChangedError if the user has not approved it as it is.
func (s *Store) Load(name string) (*Plugin, error) {
	t, err := s.approved(name)
	if err != nil {
		return nil, err
	}
	p, err := Parse(t, name)
	if err != nil {
		return nil, fmt.Errorf("the plug-in %s is off: %w", name, err)
	}
	return p.At(s.Root(name), s.Data(name)), nil
}

// IsApproved reports whether the user has approved exactly the files of a plug-in.
func (s *Store) IsApproved(p *Plugin) bool {
	return s.Approvals != nil && s.Approvals.State(s.subject(p.Name, p.Tree.Hash())) == approval.Approved
}

// Files returns the files of a plug-in as they are stored, approved or not.
func (s *Store) Files(name string) (Tree, error) { return s.tree(name) }

// Stored returns a plug-in as it is stored, approved or not.
func (s *Store) Stored(name string) (*Plugin, error) {
	t, err := s.tree(name)
	if err != nil {
		return nil, err
	}
	return Parse(t, name)
}

// Add stores a plug-in that the user has approved, in place of an older one of its name.
func (s *Store) Add(p *Plugin, r Record) error {
	if s.Dir == "" || s.Approvals == nil {
		return errors.New("there is no data directory: set HOME or ZEPH_HOME")
	}
	folders := filepath.Join(s.Dir, foldersDir)
	if err := keys.MakeDir(folders); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(folders, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	fresh := filepath.Join(temp, "new")
	if err := p.Tree.Write(fresh); err != nil {
		return err
	}
	written, err := ReadTree(fresh, ".")
	if err != nil {
		return err
	}
	hash := p.Tree.Hash()
	if written.Hash() != hash {
		return fmt.Errorf("%s cannot store its files as they are: a name or a mode is lost", folders)
	}
	root := s.Root(p.Name)
	if err := os.Rename(root, filepath.Join(temp, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, root); err != nil {
		return err
	}
	subject := s.subject(p.Name, hash)
	(&approval.Desk{Store: s.Approvals}).Approve(subject)
	if s.Approvals.State(subject) != approval.Approved {
		return fmt.Errorf("the approval cannot be stored in %s", filepath.Join(s.Dir, approval.FileName))
	}
	return s.edit(func(all []Record) []Record {
		return append(slices.DeleteFunc(all, func(o Record) bool { return o.Name == r.Name }), r)
	})
}

// Remove removes a plug-in with its approval and its data. It returns false if there is none of that name.
func (s *Store) Remove(name string) (bool, error) {
	all, err := s.Records()
	if err != nil || !slices.ContainsFunc(all, func(r Record) bool { return r.Name == name }) {
		return false, err
	}
	err = s.edit(func(all []Record) []Record {
		return slices.DeleteFunc(all, func(r Record) bool { return r.Name == name })
	})
	return true, errors.Join(err, s.Approvals.Forget(s.subject(name, "")), os.RemoveAll(s.Root(name)), os.RemoveAll(s.Data(name)))
}
