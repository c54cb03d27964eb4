package memory

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

var (
	//go:embed memory_save.md
	saveText string
	//go:embed memory_search.md
	searchText string
)

// Tools returns the tools as an executor. It has no tools without a store, and
// memory_search only while there is something to find.
func (m *Memory) Tools() executors.Executor {
	return tools{Registry: m.Catalogue(), memory: m}
}

// tools offers the tools that can be used now.
type tools struct {
	executors.Registry
	memory *Memory
}

func (t tools) Tools() []executors.Tool {
	k := t.memory.counts.Load()
	all := t.Registry.Tools()
	switch {
	case t.memory.DryRun && t.memory.Config.Enabled:
		return all
	case k == nil:
		return nil
	case k.project+k.global == 0 && !k.earlierSessions:
		return all[:1]
	}
	return all
}

const gain = 0.8 // of both tools

// Catalogue returns both tools, memory_save first.
func (m *Memory) Catalogue() executors.Registry {
	return executors.Registry{
		executors.Bind(executors.Tool{
			Name: SaveName, Description: strings.TrimSpace(saveText),
			Effect: executors.Internal, Kind: executors.KindOther, Gain: gain,
			Traits: executors.SavesText,
		}, m.prepareSave, m.save),
		executors.Bind(executors.Tool{
			Name: SearchName, Description: strings.TrimSpace(searchText),
			Effect: executors.Reads | executors.Idempotent, Kind: executors.KindSearch, Gain: gain,
			IDs: `(?i)entry[ _:-]?\d+`,
		}, m.prepareSearch, m.search),
	}
}

type saveInput struct {
	Content  string   `json:"content"`
	Files    []string `json:"files,omitempty"`
	Global   bool     `json:"global,omitempty"`
	Replaces int64    `json:"replaces,omitempty"`
}

func (in saveInput) fact() Fact {
	return Fact{Text: in.Content, Files: in.Files, Global: in.Global, Replaces: in.Replaces}
}

func (m *Memory) prepareSave(_ context.Context, call *executors.Call, in *saveInput) (executors.Card, error) {
	card := executors.Card{Title: "Save to memory", Kind: executors.KindOther}
	f := in.fact()
	if err := m.check(&f); err != nil {
		return card, failure(err)
	}
	if in.Global {
		card.Title = "Save to the memory of all projects"
		card.Deferred = call.Origin != executors.User // it instructs the model in other projects
	}
	if in.Replaces != 0 {
		card.Title += fmt.Sprintf(" instead of entry %d", in.Replaces)
	}
	card.Title += ": " + executors.Titled(inTitle(f.Text))
	return card, nil
}

// maxTitle is the part of a text that a title shows, in characters.
const maxTitle = 100

func inTitle(text string) string {
	return line.TruncateRunes(line.Join(text), maxTitle)
}

func (m *Memory) save(ctx context.Context, call *executors.Call, in *saveInput) (executors.Result, error) {
	if call.Record != nil {
		call.Record.ClaimSource = executors.FromMemory
	}
	saved, err := m.Save(ctx, in.fact())
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return executors.FailWith(failure(err)), nil
	}
	m.refreshNow(ctx) // the tools of the next turn
	return executors.Result{Text: saved.forModel(), Raw: map[string]any{"id": saved.ID, "existed": saved.Existed}}, nil
}

// ForUser describes the entry in a sentence.
func (s Saved) ForUser() string {
	where := "this project"
	if s.Project == "" {
		where = "all projects"
	}
	switch {
	case s.Replaced:
		return fmt.Sprintf("Entry %d, for %s, has the new text.", s.ID, where)
	case s.Existed:
		return fmt.Sprintf("Entry %d, for %s, said that already. It has today's date now.", s.ID, where)
	}
	return fmt.Sprintf("Saved as entry %d, for %s.", s.ID, where)
}

// forModel also names similar entries.
func (s Saved) forModel() string {
	text := s.ForUser()
	for _, e := range s.Similar {
		text += fmt.Sprintf("\nSimilar: entry %d: %s", e.ID, inTitle(e.Text))
	}
	if len(s.Similar) > 0 {
		text += "\nIf the new entry corrects a similar one, save it again with replaces."
	}
	return text
}

// failure returns an error of Save for the model.
func failure(err error) error {
	if wrong, ok := errors.AsType[*RefusedError](err); ok {
		category := executors.InvalidParameters
		if wrong.Never {
			category = executors.PermanentFailure
		}
		return executors.Failuref(category, "%s", wrong.Reason).Hint("%s", wrong.Advice)
	}
	return executors.Failuref(executors.ServerError, "the memory cannot be used now: %v", err).Hint("Continue without it.")
}
