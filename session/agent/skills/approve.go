package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
)

// Waiting reports whether Ready will decide about skills of the repository.
func (s *Set) Waiting() bool {
	s.scanProject()
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.asked && slices.ContainsFunc(s.all, func(skill Skill) bool { return skill.source.Project })
}

// Reset lets the next Ready look for the repository's skills again.
func (s *Set) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.options.Enabled {
		s.all = slices.DeleteFunc(slices.Clone(s.all), func(skill Skill) bool {
			if skill.source.Project {
				delete(s.usable, skill.Name)
			}
			return skill.source.Project
		})
		s.scanned, s.asked = false, false
	}
}

// Ready looks for the skills of the repository, once in a conversation, and asks the user
// about those that are not approved yet.
func (s *Set) Ready(ctx context.Context) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if !s.Waiting() {
		return
	}
	skills, subjects := s.projectSkills()
	allowed := s.options.Desk.AllowedAll(ctx, subjects)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, skill := range skills {
		s.usable[skill.Name] = allowed[i]
	}
	s.asked = ctx.Err() == nil
}

// scanProject adds the repository's skills to all, once in a conversation.
func (s *Set) scanProject() {
	s.mu.Lock()
	var warnings []string
	if !s.scanned && s.options.Project {
		for _, source := range s.options.Sources {
			if source.Project {
				warnings = append(warnings, s.scan(source)...)
			}
		}
	}
	s.scanned = true
	s.mu.Unlock()
	for _, w := range warnings {
		s.options.Warn(w)
	}
}

// maxTotal limits the bytes of all skills of a repository: the first prompt waits for their
// hashes.
const maxTotal = 64 << 20

// projectSkills returns the skills of the repository, each with the subject of its approval.
// A skill whose files cannot be read is left out.
func (s *Set) projectSkills() (skills []Skill, subjects []approval.Subject) {
	s.mu.Lock()
	all := slices.Clone(s.all)
	s.mu.Unlock()
	var total int64
	for _, skill := range all {
		if !skill.source.Project || total > maxTotal {
			continue
		}
		subject, c, err := s.subject(skill, "")
		if total += c.bytes; err == nil && total > maxTotal {
			err = fmt.Errorf("the skills of the project have more than %d MiB", maxTotal>>20)
		}
		if err != nil {
			s.options.Warn(executors.Shown("The skill " + skill.Name + " of " + skill.source.Name + " is left out: " + err.Error()))
			continue
		}
		skills, subjects = append(skills, skill), append(subjects, subject)
	}
	return skills, subjects
}

// subject returns the part of the repository that the user approves: all files of the
// skill as they are now. The content has the text of the file keep.
func (s *Set) subject(skill Skill, keep string) (subject approval.Subject, c content, err error) {
	if c, err = skill.content(keep); err != nil {
		return subject, c, err
	}
	text, err := json.MarshalIndent(struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Tools       []string `json:"allowed-tools,omitzero"`
		Secrets     []string `json:"secrets,omitempty"`
		Files       []string `json:"files"`
	}{skill.Name, skill.Description, skill.Tools, skill.Secrets, c.names}, "", "  ")
	return approval.Subject{
		Verb: "Use", Kind: "skills", What: "the skill " + skill.Name, File: skill.source.Name,
		Dir: s.options.Dir, Text: string(text), Covers: c.hashes,
	}, c, err
}

// readApproved reads a skill again, with the text of one of its files; more reports that the
// file is longer. It asks a user who has not decided about the skill in this form, and returns
// an error unless the user approves it.
func (s *Set) readApproved(ctx context.Context, name, file string) (skill Skill, text []byte, more bool, err error) {
	if skill, err = s.find(name); err != nil {
		return skill, nil, false, err
	}
	if !skill.source.Project {
		text, more, err = ReadFile(skill.source.FS, path.Join(skill.dir(), file), maxBody)
		return skill, text, more, err
	}
	if skill, err = skill.source.skill(name); err != nil {
		return skill, nil, false, err
	}
	subject, c, err := s.subject(skill, file)
	if err != nil {
		return skill, nil, false, err
	}
	allowed := s.options.Desk.Allowed(ctx, subject)
	if ctx.Err() != nil {
		return skill, nil, false, context.Cause(ctx)
	}
	s.mu.Lock()
	s.usable[name] = allowed
	s.mu.Unlock()
	switch {
	case !allowed:
		return skill, nil, false, executors.Failuref(executors.ConfirmationRequired, "the user has not approved the skill %s in its present form", name).
			Hint("Do the work without it, or ask the user to approve it with /skill trust %s.", name)
	case c.kept == nil:
		return skill, nil, false, fs.ErrNotExist
	}
	text, more, err = firstBytes(c.kept, maxBody)
	return skill, text, more, err
}

const usage = "`/skill trust NAME` approves a skill as it is now, `/skill block NAME` blocks one."

// Command carries out the text after "/skill", and returns the reply to the user. Without
// a text it lists the skills.
func (s *Set) Command(rest string) string {
	if !s.options.Enabled {
		return "Skills are switched off: [tools.skills] enabled is false in the configuration."
	}
	s.scanProject()
	words := strings.Fields(rest)
	if len(words) == 0 {
		return s.list()
	}
	if len(words) != 2 || words[0] != "trust" && words[0] != blocking {
		return "Nothing was changed. " + usage
	}
	skill, err := s.find(words[1])
	if err != nil {
		return "Nothing was changed: " + err.Error() + ". `/skills` lists the skills."
	}
	return s.decide(skill, words[0] != blocking)
}

// blocking is the word that blocks a skill.
const blocking = "block"

// decide approves or blocks a skill for the user.
func (s *Set) decide(skill Skill, trusted bool) string {
	if skill.source.Project {
		subject, _, err := s.subject(skill, "")
		if err != nil {
			return "Nothing was changed: " + err.Error() + "."
		}
		if trusted {
			s.options.Desk.Approve(subject)
		} else {
			s.options.Desk.Reject(subject)
		}
		s.mu.Lock()
		s.usable[skill.Name] = trusted
		s.mu.Unlock()
	}
	if trusted {
		return s.options.SetLevel(skill.Name, "trusted")
	}
	return s.options.SetLevel(skill.Name, blocked)
}
