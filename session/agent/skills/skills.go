// Package skills offers instructions for particular work to the model. Each skill is a
// directory with a SKILL.md in the format of https://agentskills.io/specification. Its
// front matter describes the purpose of the skill, and its text the method. The model
// sees name and description, and loads the text with the tool load_skill.
//
// Start with [New], and call [Set.Ready] before each turn. [Set.Tools] are the tools,
// [Set.Usable] the skills for the system prompt.
//
// Skills are the user's or a repository's. A repository's skill may be used only after the user has
// approved exactly its files; each use compares them again. The tool invoke_skill runs a skill in
// a subturn: with the tools that it declares, and with the secrets that it names. A skill
// grants no permission. A skill that cannot be used does not affect the others. No file is opened
// without limits, and no use blocks on one.
//
// Why is the user not asked when a skill is first loaded? The model selects skills by their
// descriptions, and those are texts of the repository too.
package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/agent/frontmatter"
)

// Limits on the files that are read.
const (
	maxSkills = 50       // in one directory
	maxHead   = 16 << 10 // bytes of a file, for its front matter
	maxItems  = 50       // allowed tools, or secrets
)

// skillFile is the name of the file that describes a skill.
const skillFile = "SKILL.md"

// ProjectDirs are the directories of skills in a repository, in order of precedence.
var ProjectDirs = []string{".zeph/skills", ".claude/skills", ".agents/skills"}

// Source is a directory of skills.
type Source struct {
	Name string // for people: ".claude/skills"
	Path string // of the directory, for messages about it; empty if Name is the path
	FS   fs.FS  // the directory; it need not exist
	// Project means that the directory belongs to the repository. Models then find it
	// by its Name, relative to the session's directory.
	Project bool
	// Prefix begins the names of a plug-in's skills and commands, such as "superpowers:". The user has seen all of a
	// plug-in and approved it, so it is not asked about again.
	Prefix string
	// Note gets the warnings about a plug-in. Nil drops them, since the user saw them when adding it.
	Note func(string)
}

// Noted passes a warning about a plug-in on.
func (s Source) Noted(warning string) {
	if s.Note != nil {
		s.Note(warning)
	}
}

// Problem returns the path of the directory and the cause of an error of reading it.
func (s Source) Problem(err error) (path string, cause error) {
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == "." {
		err = e.Err
	}
	return cmp.Or(s.Path, s.Name), err
}

// Skill is one skill.
type Skill struct {
	Name        string // the name of its directory: lower case letters, digits, "-" and "_"; after the prefix of its source
	Description string // unchanged; may be empty
	// Tools are the tools that the skill may use when it is invoked, in the notation of
	// allowed-tools; nil means all.
	Tools []string
	// Secrets are names of environment variables for its commands when it is invoked.
	Secrets []string

	source Source
}

// dir returns the skill's directory in its source.
func (s Skill) dir() string { return strings.TrimPrefix(s.Name, s.source.Prefix) }

// Options are the surroundings of a session.
type Options struct {
	Config
	// Sources are in order of precedence. Those that are not a Project are read by New.
	Sources []Source
	Dir     string                  // the session's working directory, absolute
	Known   func() []executors.Tool // the tools that files may name
	Desk    *approval.Desk
	// Level returns the level of trust of a skill. SetLevel sets it, and returns a reply to
	// the user.
	Level    func(skill string) string
	SetLevel func(skill, level string) string
	// OnRead is called when a turn reads the text of a skill, before the skill makes calls;
	// may be nil.
	OnRead func(skill string)
	// Secret returns the value of a variable for the commands of an invoked skill, or "".
	Secret func(name string) string
	// System returns the session's system prompt, and the part of it that differs between
	// projects. An invoked skill has the same.
	System func() (system, project string)
	Warn   func(string) // queues a line for the user
}

// Set holds the skills of one session. Its methods may be called concurrently.
type Set struct {
	Warnings []string // about the user's skills that are left out

	options  Options
	registry func() executors.Registry // returns the tools, which it makes at its first call
	reading  sync.Mutex                // held by Ready

	mu      sync.Mutex
	all     []Skill         // by source, then by name; no name occurs twice
	usable  map[string]bool // whether the model may load the skill of that name
	scanned bool            // all contains the repository's skills
	asked   bool            // the user was asked about the repository's skills
}

// New returns the skills of a session.
func New(o Options) *Set {
	s := &Set{options: o, usable: map[string]bool{}}
	s.registry = sync.OnceValue(s.bind)
	if !o.Enabled {
		s.scanned, s.asked = true, true
		return s
	}
	for _, source := range o.Sources {
		if source.Project {
			continue
		}
		warnings := s.scan(source)
		if source.Prefix == "" {
			s.Warnings = append(s.Warnings, warnings...)
			continue
		}
		for _, w := range warnings {
			source.Noted(w)
		}
	}
	for _, skill := range s.all {
		s.usable[skill.Name] = true
	}
	return s
}

// scan adds the skills of a source. It returns warnings about those that are left out.
// The caller holds s.mu, or is New.
func (s *Set) scan(source Source) (warnings []string) {
	entries, err := fs.ReadDir(source.FS, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		path, cause := source.Problem(err)
		return []string{executors.Shown(fmt.Sprintf("The skills in %s cannot be read: %v", path, cause))}
	}
	n := 0
	for _, e := range entries { // sorted by name
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		skill, err := source.skill(e.Name())
		switch {
		case errors.Is(err, errNoSkill):
			continue
		case err == nil && s.skill(skill.Name).Name != "": // of an earlier source
			continue
		case err != nil:
			warnings = append(warnings, executors.Shown(fmt.Sprintf("The skill %q of %s is left out: %v", e.Name(), source.Name, err)))
			continue
		}
		if n++; n > maxSkills {
			return append(warnings, fmt.Sprintf("Of the skills in %s only the first %d are used.", source.Name, maxSkills))
		}
		s.all = append(s.all, skill)
	}
	return warnings
}

// skill returns the skill of that name; its name is empty if there is none.
func (s *Set) skill(name string) Skill {
	i := slices.IndexFunc(s.all, func(o Skill) bool { return o.Name == name })
	if i < 0 {
		return Skill{}
	}
	return s.all[i]
}

// errNoSkill means that a directory has no SKILL.md.
var errNoSkill = errors.New("no skill")

// Names of skills and secrets. The name of a skill is in the system prompt, and is the
// name of a directory.
var (
	skillName  = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	secretName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
)

// skill reads the front matter of the skill in the directory called name.
func (source Source) skill(name string) (Skill, error) {
	data, _, err := ReadFile(source.FS, path.Join(name, skillFile), maxHead)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoDir) {
		return Skill{}, errNoSkill
	}
	if err != nil {
		return Skill{}, fmt.Errorf("%s: %w", skillFile, err)
	}
	if !skillName.MatchString(name) {
		return Skill{}, errors.New("a skill's directory has a name of lower case letters, digits, - and _")
	}
	head, _, err := frontmatter.Split(string(data))
	if err != nil {
		return Skill{}, err
	}
	if declared := head["name"].Text(); declared != "" && declared != name && source.Prefix == "" { // a plug-in's skills are named by their directories
		return Skill{}, fmt.Errorf("its name is %q, but its directory is called %q; they must be the same", declared, name)
	}
	skill := Skill{
		Name: source.Prefix + name, Description: head["description"].Text(), Tools: head["allowed-tools"].List(),
		Secrets: cmp.Or(head["secrets"], head["x-requires-secrets"]).List(), source: source,
	}
	if _, narrowed := head["allowed-tools"]; narrowed && skill.Tools == nil {
		skill.Tools = []string{} // no tools, and not all
	}
	return skill, skill.check()
}

// check returns an error for a front matter that cannot be followed.
func (s Skill) check() error {
	if len(s.Tools) > maxItems || len(s.Secrets) > maxItems {
		return fmt.Errorf("more than %d allowed tools or secrets", maxItems)
	}
	for _, name := range s.Secrets {
		if !secretName.MatchString(name) {
			return fmt.Errorf("the secret %q is not the name of an environment variable", name)
		}
	}
	return nil
}

// Usable returns the skills that the model may load and that no level of trust blocks.
func (s *Set) Usable() []Skill {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.all), func(skill Skill) bool {
		return !s.usable[skill.Name] || s.options.level(skill.Name) == blocked
	})
}

// blocked is the level of trust at which no skill is loaded.
const blocked = "blocked"

func (o Options) level(skill string) string {
	if o.Level == nil {
		return ""
	}
	return o.Level(skill)
}

// find returns a skill. Its failure lists the usable ones.
func (s *Set) find(name string) (Skill, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if skill := s.skill(name); skill.Name != "" {
		return skill, nil
	}
	var names []string
	for _, skill := range s.all {
		if s.usable[skill.Name] {
			names = append(names, skill.Name)
		}
	}
	return Skill{}, executors.Failuref(executors.InvalidParameters, "there is no skill %q", name).
		Hint("The skills are: %s.", strings.Join(names, ", "))
}
