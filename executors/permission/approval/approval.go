// Package approval asks the user before parts of a repository may run programs or
// instruct the model. The user approves exactly their text.
//
// A repository can have MCP servers, hooks and skills. Each such part is a [Subject]. A
// session's [Desk] reports whether one may be used: it asks the user once, and the [Store]
// keeps the answer by hash, so that a changed part is asked about again.
// The store also holds other texts that the user once accepted, such as the definitions
// of MCP tools.
//
// It promises that nothing is approved without an answer of the user. Without a user,
// with a damaged file, or without a file of approvals, no subject may run. An approval
// holds for one directory.
package approval

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// FileName is the name of the file of approvals in the data directory.
const FileName = "approvals.json"

// Question is a question to the user.
type Question struct {
	Title string // one line
	Text  string // the part, in JSON; may be empty
	// Before and After are the old and the new form of a changed text; both are empty in
	// a question about a Subject.
	Before, After string
}

// Answer is the user's answer to a Question.
type Answer int

// The answers.
const (
	No     Answer = iota
	Once          // in this session
	Always        // and later
)

// Subject is a part of a repository that runs programs or instructs the model.
type Subject struct {
	Verb string // of the question; empty means "Run"
	Kind string // the noun for several, such as "skills"; empty if each has its own question
	What string // for people, unique in File: "the hooks", "the MCP server db"
	File string // relative to the project: ".mcp.json"; empty if the project has no file of it
	Dir  string // the project's directory, absolute
	Text string // the part as the user reads it, in JSON
	// Covers are further texts that the approval covers, such as hashes of the scripts
	// that the part runs.
	Covers []string
}

// key identifies the subject in the store, regardless of its text.
func (s Subject) key() string { return s.Dir + ": " + s.What + " of " + s.File }

// hash identifies the text of the subject.
func (s Subject) hash() string {
	sum := sha256.New()
	for _, part := range append([]string{s.key(), s.Text}, s.Covers...) {
		one := sha256.Sum256([]byte(part)) // so that no text can pass for two
		sum.Write(one[:])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// State is the state of the approval of a Subject.
type State string

// The states.
const (
	Waiting  State = "waiting" // the user has not approved it
	Approved State = "approved"
	Changed  State = "changed" // the user approved another text of it
	Rejected State = "rejected"
)

// Store keeps the approved subjects and the accepted texts. With a nil Store no subject
// is approved and every text is accepted. It may be used concurrently.
type Store struct {
	Load func() ([]byte, error) // returns the stored text; empty if there is none
	// Change replaces the stored text by the result of edit, while no other process
	// changes it. An error of edit changes nothing.
	Change func(edit func(old []byte) ([]byte, error)) error
	Log    func(error)
}

// content is the content of the file.
type content struct {
	Approved map[string]string            `json:"approved"` // hashes of approved and rejected subjects, by Subject.key
	Texts    map[string]map[string]string `json:"tools"`    // accepted texts, by owner and name
}

func parse(data []byte) (content, error) {
	var c content
	var err error
	if len(data) > 0 {
		err = json.Unmarshal(data, &c)
	}
	if c.Approved == nil {
		c.Approved = map[string]string{}
	}
	if c.Texts == nil {
		c.Texts = map[string]map[string]string{}
	}
	return c, err
}

// change stores the content as edit leaves it. An unreadable file is left alone, so no
// approval is lost. An approval that cannot be stored is asked about again.
func (s *Store) change(edit func(c content)) error {
	err := s.Change(func(old []byte) ([]byte, error) {
		c, err := parse(old)
		if err != nil {
			return nil, err
		}
		edit(c)
		return json.MarshalIndent(c, "", "  ")
	})
	if err != nil {
		s.Log(err)
	}
	return err
}

// State returns whether the user approved or rejected a subject in an earlier session.
func (s *Store) State(subject Subject) State {
	if s == nil {
		return Waiting
	}
	data, err := s.Load()
	var c content
	if err == nil {
		c, err = parse(data)
	}
	if err != nil {
		s.Log(err)
		return Waiting
	}
	switch hash := c.Approved[subject.key()]; {
	case hash == subject.hash():
		return Approved
	case hash == rejected+subject.hash():
		return Rejected
	case hash == "", strings.HasPrefix(hash, rejected):
		return Waiting
	}
	return Changed
}

// approve stores the approval of a subject, and replaces an approval of its earlier text.
func (s *Store) approve(subject Subject) {
	if s != nil {
		_ = s.change(func(c content) { c.Approved[subject.key()] = subject.hash() })
	}
}

// rejected begins the hash of a subject that the user has rejected for good.
const rejected = "rejected "

// reject stores that the user rejected a subject for good. It replaces an approval, even
// of another text.
func (s *Store) reject(subject Subject) {
	if s != nil {
		_ = s.change(func(c content) { c.Approved[subject.key()] = rejected + subject.hash() })
	}
}

// Forget drops the approval of a subject, whatever its text was.
func (s *Store) Forget(subject Subject) error {
	if s == nil {
		return nil
	}
	return s.change(func(c content) { delete(c.Approved, subject.key()) })
}

// Pin stores new texts of an owner. For each text that differs from the one at its first
// use, it returns that first one. An error means that the stored texts cannot be read, so
// that no text could be compared.
func (s *Store) Pin(owner string, texts map[string]string) (changed map[string]string, err error) {
	if s == nil || len(texts) == 0 {
		return nil, nil
	}
	changed = map[string]string{}
	compared := false
	err = s.change(func(c content) {
		compared = true
		known := c.textsOf(owner)
		for name, text := range texts {
			before, ok := known[name]
			switch {
			case !ok:
				known[name] = text
			case before != text:
				changed[name] = before
			}
		}
	})
	if compared { // a failure to store new texts is harmless
		err = nil
	}
	return changed, err
}

// Accept replaces a stored text.
func (s *Store) Accept(owner, name, text string) {
	_ = s.change(func(c content) { c.textsOf(owner)[name] = text })
}

// textsOf returns the texts of an owner.
func (c content) textsOf(owner string) map[string]string {
	if c.Texts[owner] == nil {
		c.Texts[owner] = map[string]string{}
	}
	return c.Texts[owner]
}

// Desk asks the user of one session. It may be used concurrently.
type Desk struct {
	Store *Store
	Ask   func(context.Context, Question) Answer // nil means that there is no user
	// Unasked is called once for each subject that would be asked about if there were a
	// user, with its name for people; nil drops it.
	Unasked func(what string)

	asking  sync.Mutex
	unasked map[string]bool // subjects that Unasked was called for; guarded by asking
	mu      sync.Mutex
	answers map[string]Answer // of this session, by Subject.hash
}

// State returns the state of a subject in this session.
func (d *Desk) State(s Subject) State {
	d.mu.Lock()
	answer, asked := d.answers[s.hash()]
	d.mu.Unlock()
	switch {
	case asked && answer == No:
		return Rejected
	case asked:
		return Approved
	}
	return d.Store.State(s)
}

// Approve approves a subject without a question, for this session and later ones.
func (d *Desk) Approve(s Subject) {
	d.Store.approve(s)
	d.remember(s, Always)
}

// Reject rejects a subject without a question, for this session and later ones.
func (d *Desk) Reject(s Subject) {
	d.Store.reject(s)
	d.remember(s, No)
}

// Allowed reports whether a subject may be used. It asks the user at most once in a
// session.
func (d *Desk) Allowed(ctx context.Context, s Subject) bool {
	return d.AllowedAll(ctx, []Subject{s})[0]
}

// AllowedAll reports for each subject whether it may be used. One question covers the
// subjects of a Kind, as far as it has room for their texts.
func (d *Desk) AllowedAll(ctx context.Context, subjects []Subject) []bool {
	d.asking.Lock()
	defer d.asking.Unlock()
	allowed := make([]bool, len(subjects))
	var open []int
	for i, s := range subjects {
		switch state := d.State(s); {
		case state == Approved:
			allowed[i] = true
		case state == Rejected:
		case d.Ask != nil:
			open = append(open, i)
		default:
			d.reportUnasked(s)
		}
	}
	for len(open) > 0 && ctx.Err() == nil {
		var group []Subject
		for _, i := range open {
			if len(group) > 0 && !fitsQuestion(group, subjects[i]) {
				break
			}
			group = append(group, subjects[i])
		}
		yes := d.ask(ctx, group)
		for _, i := range open[:len(group)] {
			allowed[i] = yes
		}
		open = open[len(group):]
	}
	return allowed
}

// reportUnasked reports a subject that no user can be asked about.
func (d *Desk) reportUnasked(s Subject) {
	if d.Unasked == nil || d.unasked[s.hash()] {
		return
	}
	if d.unasked == nil {
		d.unasked = map[string]bool{}
	}
	d.unasked[s.hash()] = true
	d.Unasked(s.describe())
}

// maxTogether limits the texts in a question about several subjects, in bytes.
const maxTogether = 16 << 10

// fitsQuestion reports whether a question about the group can include s.
func fitsQuestion(group []Subject, s Subject) bool {
	size := len(s.Text)
	for _, other := range group {
		size += len(other.Text)
	}
	return s.Kind != "" && s.Kind == group[0].Kind && size <= maxTogether
}

// ask asks one question about subjects, and reports whether they may be used.
func (d *Desk) ask(ctx context.Context, subjects []Subject) bool {
	changed := 0
	for _, s := range subjects {
		if d.State(s) == Changed {
			changed++
		}
	}
	answer := d.Ask(ctx, question(subjects, changed))
	for _, s := range subjects {
		if answer == Always {
			d.Store.approve(s)
		}
		if ctx.Err() == nil { // else asked again in the next turn
			d.remember(s, answer)
		}
	}
	return answer != No
}

// remember keeps the user's answer for this session.
func (d *Desk) remember(s Subject, answer Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.answers == nil {
		d.answers = map[string]Answer{}
	}
	d.answers[s.hash()] = answer
}

// describe returns the subject for people, with its file.
func (s Subject) describe() string {
	if s.File == "" {
		return s.What + " in this project"
	}
	return s.What + " of this project's " + s.File
}

// question returns the question about subjects. changed is the number of subjects that
// were approved and have changed since.
func question(subjects []Subject, changed int) Question {
	first := subjects[0]
	verb := cmp.Or(first.Verb, "Run")
	if len(subjects) == 1 {
		title := verb + " " + first.describe()
		if changed > 0 {
			title += ", changed since your approval"
		}
		return Question{Title: title + "?", Text: first.Text}
	}
	title := fmt.Sprintf("%s %d %s of this project", verb, len(subjects), first.Kind)
	if changed > 0 {
		title += fmt.Sprintf(", %d of them changed since your approval", changed)
	}
	texts := make([]string, len(subjects))
	for i, s := range subjects {
		texts[i] = s.Text
	}
	return Question{Title: title + "?", Text: "[" + strings.Join(texts, ",\n") + "]"}
}
