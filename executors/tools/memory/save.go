package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// maxText is the longest text of an entry, in bytes.
const maxText = 4096

// Fact is a text to be saved.
type Fact struct {
	Text     string
	Files    []string // files that the fact is about, besides those that its text names
	Global   bool     // for all projects
	Replaces int64    // the entry whose text it replaces; 0 means none
}

// Saved is a saved entry.
type Saved struct {
	Entry
	Existed  bool    // an equal entry existed, and has a new time
	Replaced bool    // it has replaced another text
	Similar  []Entry // those that may say the same, or the opposite
}

// RefusedError means that a fact must not, or cannot, be saved.
type RefusedError struct {
	Reason string // a clause
	Advice string // a sentence
	Never  bool   // no other form of the text would be saved
}

func (e *RefusedError) Error() string { return e.Reason }

func refusedf(advice, format string, args ...any) *RefusedError {
	return &RefusedError{Reason: fmt.Sprintf(format, args...), Advice: advice}
}

// Save saves a fact. It returns a *RefusedError if
//   - the text is empty or too long, or has credentials,
//   - it is an agent's refusal, or an account of its permissions,
//   - a cited file does not exist,
//   - an agent would replace an entry for all projects by one that is not Global, or
//   - there are too many entries.
//
// Any other error is the store's.
func (m *Memory) Save(ctx context.Context, f Fact) (Saved, error) {
	if err := m.check(&f); err != nil {
		return Saved{}, err
	}
	s := Saved{Entry: Entry{ID: f.Replaces, Project: m.Project, Text: f.Text, Session: m.Session}, Replaced: f.Replaces != 0}
	if f.Global {
		s.Project = ""
	}
	if f.Replaces != 0 {
		old, err := m.find(ctx, f.Replaces)
		if errors.Is(err, fs.ErrNotExist) {
			return Saved{}, noEntry(f.Replaces)
		} else if err != nil {
			return Saved{}, err
		}
		if old.Project == "" && !f.Global && m.Session != "" { // its call would look like one for this project
			return Saved{}, refusedf("Save it with global, or without replaces.", "entry %d is for all projects", f.Replaces)
		}
		s.Project = old.Project
	}
	var err error
	if s.Files, err = m.cite(f, s.Project == ""); err != nil {
		return Saved{}, err
	}
	if m.Labels != nil {
		s.Labels = m.Labels()
	}
	if s.ID, s.Existed, err = m.Store.PutMemory(ctx, s.Entry, keyOf(f.Text), m.Config.MaxEntries); err != nil {
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
			return Saved{}, noEntry(f.Replaces)
		case errors.Is(err, ErrFull):
			return Saved{}, refusedf(`Tell the user: "zeph-acp memory delete" makes room, and tools.memory.max_entries sets the limit.`, "the limit of %s is reached", quantity.Count(m.Config.MaxEntries, "entry"))
		}
		return Saved{}, err
	}
	if !s.Existed {
		s.Similar, err = m.similar(ctx, s.Entry)
	}
	return s, err
}

func noEntry(id int64) *RefusedError {
	return refusedf("Search for the entry, or save the text without replaces.", "there is no entry %d", id)
}

// check cleans the text of a fact, and returns a *RefusedError if it must not be saved.
func (m *Memory) check(f *Fact) error {
	f.Text = clean(f.Text)
	switch {
	case f.Text == "":
		return refusedf("Write the fact as a sentence.", "the text is empty")
	case len(f.Text) > maxText:
		return refusedf("Save the facts one by one, each in a sentence.", "the text has %s, and an entry at most %d", quantity.Count(len(f.Text), "byte"), maxText)
	case f.Replaces < 0:
		return noEntry(f.Replaces)
	}
	if m.Secret != nil {
		if found := m.Secret(f.Text); found != "" {
			return &RefusedError{Reason: "the text contains a credential (" + found + "), which memory never stores",
				Advice: "Save where the credential is kept, without its value.", Never: true}
		}
	}
	if m.Session != "" && (isRefusal(f.Text) || m.isToolPolicy(f.Text)) {
		return &RefusedError{Reason: "a refusal or a permission holds for this session alone, and is not a fact about the project",
			Advice: "Do not save it.", Never: true}
	}
	return nil
}

// clean returns a text without control characters, and without those that change the
// direction of text or cannot be seen.
func clean(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), string(utf8.RuneError))
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text))
}

// keyOf returns the text by which equal entries are recognised: without regard to case,
// spaces and final punctuation.
func keyOf(text string) string {
	text = line.Join(strings.ToLower(text))
	return strings.TrimRight(text, ".!;, ")
}

// minSimilarity is the share of common words, weighted by their rarity, from which two
// entries count as similar: they may say the same or the opposite.
const minSimilarity = 0.6

// maxSimilar limits the similar entries that are named.
const maxSimilar = 3

// similar returns the entries that share most of their words with a new one, the newest
// first.
func (m *Memory) similar(ctx context.Context, e Entry) ([]Entry, error) {
	all, err := m.Store.Memories(ctx, slices.Compact([]string{e.Project, ""})...)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(other Entry) bool { return other.ID == e.ID })
	if at < 0 { // deleted meanwhile
		return nil, nil
	}
	var found []Entry
	index := newIndex(all)
	for i, other := range slices.Backward(all) {
		if i != at && len(found) < maxSimilar && index.Similarity(at, i) >= minSimilarity {
			found = append(found, other)
		}
	}
	return found, nil
}
