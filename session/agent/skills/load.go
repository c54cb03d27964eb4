package skills

import (
	"cmp"
	"context"
	_ "embed" // texts for models
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/agent/frontmatter"
)

var (
	//go:embed load_skill.md
	loadText string
	//go:embed invoke_skill.md
	invokeText string
	//go:embed task.md
	taskText string
)

// Limits on the text for the model.
const (
	maxBody   = 256 << 10 // bytes of a file
	maxListed = 50        // names of files
)

// Tools returns the tools of the skills, or no tool if no skill can be used.
func (s *Set) Tools() []executors.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, usable := range s.usable {
		if usable {
			return s.registry().Tools()
		}
	}
	return nil
}

// Prepare returns the card of a call.
func (s *Set) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	return s.registry().Prepare(ctx, call)
}

// Execute runs a call.
func (s *Set) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	return s.registry().Execute(ctx, call)
}

// Catalogue returns the tools of a session with skills, for listings.
func Catalogue() executors.Registry { return (&Set{}).bind() }

// bind makes the tools.
func (s *Set) bind() executors.Registry {
	return executors.Registry{
		executors.Bind(executors.Tool{
			Name: loadTool, Act: "Load", Description: strings.TrimSpace(loadText),
			Effect: executors.Internal | executors.Idempotent, Kind: executors.KindRead,
			Subject: executors.Skill("name"), Names: executors.Names{Claude: "Skill"},
		}, s.prepareLoad, s.load),
		executors.Bind(executors.Tool{
			Name: "invoke_skill", Description: strings.TrimSpace(invokeText),
			Effect: executors.Internal, Kind: executors.KindThink,
			Subject: executors.Skill("name"), Names: executors.Names{Claude: "Skill"},
		}, s.prepareInvoke, s.invoke),
	}
}

const loadTool = "load_skill"

// loadInput is the input of load_skill.
type loadInput struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

func (s *Set) prepareLoad(_ context.Context, _ *executors.Call, in *loadInput) (executors.Card, error) {
	card := executors.Card{Title: "a skill", Kind: executors.KindRead}
	if _, err := s.find(in.Name); err != nil {
		return card, err
	}
	card.Title = "the skill " + executors.Titled(in.Name)
	if in.File != "" {
		card.Title = executors.Titled(in.File) + " of " + card.Title
	}
	return card, nil
}

// load executes load_skill.
func (s *Set) load(ctx context.Context, _ *executors.Call, in *loadInput) (executors.Result, error) {
	if in.File != "" && (!fs.ValidPath(in.File) || in.File == ".") {
		return executors.Failf(executors.InvalidParameters, "load_skill: file must be a path inside of the skill, such as references/api.md"), nil
	}
	file := cmp.Or(in.File, skillFile)
	skill, data, more, err := s.readApproved(ctx, in.Name, file)
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return unusable(skill, in.Name, in.File, err).Result(), nil
	}
	text := toUTF8(data)
	if file == skillFile {
		text = skill.text(text)
		if len(skill.Secrets) > 0 {
			text = executors.JoinLines(text, "[It uses secrets, which its commands have only with invoke_skill.]")
		}
	}
	if more {
		text = executors.JoinLines(text, fmt.Sprintf("[The first %d bytes; the rest is left out.]", maxBody))
	}
	raw := map[string]any{"name": in.Name, "truncated": more}
	if in.File != "" {
		raw["file"] = in.File
	}
	return executors.Result{Text: text, Raw: raw}, nil
}

// unusable returns the failure of a skill, or of one of its files, that cannot be read.
func unusable(skill Skill, name, file string, err error) *executors.Failure {
	if f, ok := errors.AsType[*executors.Failure](err); ok {
		return f
	}
	if file != "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoDir)) {
		return executors.Failuref(executors.InvalidParameters, "the skill %s has no file %q", name, file).
			Hint("%s", cmp.Or(skill.files(), "It has no other files."))
	}
	return executors.Failuref(executors.PermanentFailure, "the skill %s cannot be read: %v", name, err)
}

// text returns the instructions in the text of the skill's file, and the names of its other
// files.
func (s Skill) text(text string) string {
	if _, body, err := frontmatter.Split(text); err == nil {
		text = body
	}
	return executors.JoinLines(cmp.Or(strings.TrimSpace(text), "The skill has no text besides its description."), s.files())
}

// files returns lines with the names of the skill's other files; "" if it has none.
func (s Skill) files() string {
	c, err := s.content("")
	names := slices.DeleteFunc(c.names, func(name string) bool { return name == skillFile })
	if len(names) == 0 {
		return ""
	}
	for i, name := range names {
		names[i] = executors.OneLine(name)
	}
	rest := ""
	if len(names) > maxListed || err != nil {
		names, rest = names[:min(len(names), maxListed)], ", …"
	}
	where := ""
	if s.source.Project {
		where = " They are in " + path.Join(s.source.Name, s.Name) + "."
	}
	return fmt.Sprintf("[Files of the skill; load_skill with file returns one.%s]\n%s%s", where, strings.Join(names, ", "), rest)
}

func toUTF8(data []byte) string { return strings.ToValidUTF8(string(data), string(utf8.RuneError)) }
