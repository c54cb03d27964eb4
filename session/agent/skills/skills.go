// Package skills offers the user's instructions to the model. Each directory of
// the user's skills has a SKILL.md. Its front matter describes the purpose of
// the skill, and its text the method. The model sees name and description, and
// loads the text with the tool load_skill when it needs it.
//
// Start with [Load]. It never blocks on a file and reads no more than its
// limits. A skill that cannot be used does not affect the others. Skills are
// the user's: those of a repository are ignored.
package skills

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
)

//go:embed load_skill.md
var loadText string

// Limits on the bytes and files that are read.
const (
	maxSkills = 50
	maxHead   = 16 << 10  // bytes of a file, for its front matter
	maxBody   = 256 << 10 // bytes of a file, for the model
)

// skillFile is the name of the file that describes a skill.
const skillFile = "SKILL.md"

// Skill is one of the user's skills.
type Skill struct {
	Name        string // the name of its directory: lower case letters, digits, "-" and "_"
	Description string // unchanged; may be empty
}

// Set holds the skills of a user. It does not change after Load.
type Set struct {
	Skills []Skill // by name
	dir    string
}

// skillName matches the valid names of skills: a name is in the system prompt,
// and is the name of a directory.
var skillName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`) })

// Load reads the skills in a directory, which need not exist; empty means that
// there is no directory. The warnings name the omitted skills.
func Load(dir string) (*Set, []string) {
	set := &Set{dir: dir}
	if dir == "" {
		return set, nil
	}
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return set, []string{fmt.Sprintf("The skills cannot be read: %v", err)}
	}
	var warnings []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, e.Name(), skillFile)
		data, _, err := readBeginning(path, maxHead)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoDir) {
			continue
		}
		s := Skill{Name: e.Name()}
		if err == nil {
			s.Description, err = describe(string(data), e.Name())
		}
		if err == nil && len(set.Skills) == maxSkills {
			return set, append(warnings, fmt.Sprintf("Of the skills in %s only the first %d are used.", dir, maxSkills))
		}
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("The skill %q is left out: %s: %v", e.Name(), path, err))
			continue
		}
		set.Skills = append(set.Skills, s)
	}
	return set, warnings
}

// describe returns the description of a skill in the directory called name.
func describe(text, name string) (string, error) {
	if !skillName().MatchString(name) {
		return "", errors.New("a skill's directory has a name of lower case letters, digits, - and _")
	}
	head, _, err := split(text)
	if err != nil {
		return "", err
	}
	if own := head["name"]; own != "" && own != name {
		return "", fmt.Errorf("its name is %q, and that of its directory %q; they must be the same", own, name)
	}
	return head["description"], nil
}

var errNoDir = errors.New("not a directory")

// readBeginning returns the beginning of a regular file; more reports that the file is
// longer.
func readBeginning(path string, most int64) (data []byte, more bool, err error) {
	if info, err := os.Stat(filepath.Dir(path)); err == nil && !info.IsDir() {
		return nil, false, errNoDir
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() { // opening a FIFO would wait for a writer
		return nil, false, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && bytes.IndexByte(data, 0) >= 0 {
		err = errors.New("it is not text")
	}
	if int64(len(data)) > most {
		data, more = data[:most], true
	}
	return data, more, err
}

// Tools returns load_skill, or no tool if there are no skills.
func (s *Set) Tools() executors.Registry {
	if len(s.Skills) == 0 {
		return nil
	}
	return s.tools()
}

// Catalogue returns the tools of a session with skills, for listings.
func Catalogue() executors.Registry { return (&Set{}).tools() }

func (s *Set) tools() executors.Registry {
	return executors.Registry{executors.Bind(executors.Tool{
		Name: "load_skill", Description: strings.TrimSpace(loadText),
		Effect: executors.Internal | executors.Idempotent, Kind: executors.KindRead,
	}, s.prepare, s.load)}
}

// loadInput is the input of load_skill.
type loadInput struct {
	Name string `json:"name"`
}

func (s *Set) prepare(_ context.Context, _ *executors.Call, in loadInput) (executors.Card, error) {
	card := executors.Card{Title: "a skill", Kind: executors.KindRead}
	if err := s.find(in.Name); err != nil {
		return card, err
	}
	card.Title = "the skill " + executors.Titled(in.Name)
	return card, nil
}

// find returns nil if a skill has that name, or an error that lists the skills.
func (s *Set) find(name string) error {
	var names []string
	for _, skill := range s.Skills {
		if skill.Name == name {
			return nil
		}
		names = append(names, skill.Name)
	}
	return executors.Failuref(executors.InvalidParameters, "there is no skill %q", name).
		Hint("The skills are: %s.", strings.Join(names, ", "))
}

func (s *Set) load(_ context.Context, _ *executors.Call, in loadInput) (executors.Result, error) {
	if err := s.find(in.Name); err != nil {
		return executors.FailWith(err), nil
	}
	data, more, err := readBeginning(filepath.Join(s.dir, in.Name, skillFile), maxBody)
	if err != nil {
		return executors.Failf(executors.PermanentFailure, "the skill %s cannot be read any more: %v", in.Name, err), nil
	}
	text := strings.ToValidUTF8(string(data), string(utf8.RuneError))
	if _, body, err := split(text); err == nil {
		text = body
	}
	text = strings.TrimSpace(text)
	if more {
		text += fmt.Sprintf("\n[The first %d bytes of the skill; the rest is left out.]", maxBody)
	}
	if text == "" {
		text = "The skill has no text besides its description."
	}
	return executors.Result{Text: text, Raw: map[string]any{"name": in.Name, "truncated": more}}, nil
}
