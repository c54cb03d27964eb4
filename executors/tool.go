package executors

import (
	"encoding/json"
	"slices"
	"strings"
)

// Tool is one entry of the tool registry: what a model sees, and every fact about the tool that
// links, importers and defaults need. They read the facts here and never compare names, so a new
// tool is complete once its own package describes it.
type Tool struct {
	Name        string          // the tool id: lower case, underscores
	Description string          // Markdown, for the model
	Schema      json.RawMessage // JSON Schema of the input, an object
	Effect      Effect
	Kind        Kind // the kind of calls whose card has none
	// Act is the verb that belongs before the title of a call where a client may show nothing else, such as "Delete". It
	// is empty if the titles have one.
	Act        string
	Invocation Invocation
	Phase      Phase // of the calls that the model makes; PhaseAutonomous for the agent's own housekeeping
	// Concurrent reports that neighbouring calls of the tool may run at the same time. The
	// tool itself serialises the calls that must run one after the other.
	Concurrent bool
	// Server is the MCP server that the tool belongs to; empty for our own tools.
	Server string
	// ModelSchema is the schema as models get it; nil means Schema without the keywords
	// that only the validator needs.
	ModelSchema json.RawMessage

	Subject Subject // what a call acts on
	Names   Names
	Traits  Trait
	With    string // the tool without which this one has no use; a subturn is offered both or neither
	// IDs is a regular expression for the whole of an id that the tool takes, if its form tells which
	// tool that is. A failed call of another tool with such an id recommends this tool.
	IDs string
	// Shows is a tool that would show the same content. A rule that denies that tool also
	// denies this one.
	Shows string
	// MaxOutput is the limit of a result's text in characters; 0 means the limit of all tools.
	MaxOutput int
	// Gain is the expected value of a result for the utility gate, from 0 to 1; 0 means unknown.
	Gain float32
}

// Subject is what the calls of a tool act on. The tool's Prepare puts it into the card, by which
// gates check the call.
type Subject struct {
	Of    SubjectKind
	Param string // the parameter that names it; empty if the tool finds the subject itself
}

// SubjectKind is a kind of subject. Rules for a tool are matched with subjects of its kind.
type SubjectKind uint8

// The kinds of subjects.
const (
	OtherSubject   SubjectKind = iota // the whole input
	PathSubject                       // files: Card.Paths
	URLSubject                        // an address: Card.URL
	CommandSubject                    // a script: Card.Command
	SkillSubject                      // a skill, whose instructions the call loads
)

// Path returns the subject of a tool for files, by the parameter that names the file.
func Path(param string) Subject { return Subject{PathSubject, param} }

// URL returns the subject of a tool that requests addresses, by the parameter with the address.
func URL(param string) Subject { return Subject{URLSubject, param} }

// Script returns the subject of a tool that runs commands, by the parameter with the script. It is
// empty if the tool chooses its commands itself.
func Script(param string) Subject { return Subject{CommandSubject, param} }

// Skill returns the subject of a tool that loads skills, by the parameter with the skill's name.
func Skill(param string) Subject { return Subject{SkillSubject, param} }

// Names are the names of a tool elsewhere, separated by spaces: in the files of other agents, the
// best name first, in older configurations of ours, and further names that models call it by.
type Names struct{ Claude, Codex, Gemini, Earlier, Models string }

// Aliases returns the names by which models may call the tool besides its own, separated by spaces.
func (n Names) Aliases() string {
	return strings.Join(slices.DeleteFunc([]string{n.Claude, n.Codex, n.Gemini, n.Models}, func(s string) bool { return s == "" }), " ")
}

// Lists reports whether names, which spaces separate, has a name.
func Lists(names, name string) bool {
	for one := range strings.FieldsSeq(names) {
		if one == name {
			return true
		}
	}
	return false
}

// Trait is a set of facts about a tool.
type Trait uint16

// The traits.
const (
	Pages          Trait = 1 << iota // fits its text into the limit, and says how to read the rest
	ListsFiles                       // names files without showing their content
	RenamesFiles                     // gives files other names, or removes them
	SavesText                        // saves text that models read in later turns
	ReadsStored                      // reads what the session has stored for the model; every skill and sub-agent has it
	Recommended                      // texts for models recommend it by its name
	ShowsPlan                        // its input is the plan that clients show in place of the call
	OpensFile                        // the first tool with this trait reads the files that a prompt links to
	OpensDirectory                   // the same for directories
	OpensPage                        // the same for web pages
	Seldom                           // few tasks need it, or a command does the same: models may have to look for it
)

// Is reports whether the tool has all of these traits.
func (t Tool) Is(traits Trait) bool { return t.Traits&traits == traits }

// ReadsFiles reports whether the tool only reads files that its input names.
func (t Tool) ReadsFiles() bool { return t.Subject.Of == PathSubject && t.Effect.ReadOnly() }

// ChangesFiles reports whether the tool changes files that its input names.
func (t Tool) ChangesFiles() bool {
	return t.Subject.Of == PathSubject && t.Effect.Has(Mutates)
}

// RunsScripts reports whether the tool runs the script of its input.
func (t Tool) RunsScripts() bool { return t.Subject.Of == CommandSubject && t.Subject.Param != "" }

// NamesOf returns the names of the tools that fit.
func NamesOf(tools []Tool, fits func(Tool) bool) []string {
	var names []string
	for i := range tools {
		if fits(tools[i]) {
			names = append(names, tools[i].Name)
		}
	}
	return names
}

// FindBy returns the first tool that fits, and whether there is one.
func FindBy(tools []Tool, fits func(Tool) bool) (Tool, bool) {
	i := slices.IndexFunc(tools, fits)
	if i < 0 {
		return Tool{}, false
	}
	return tools[i], true
}

// TakesInput reports whether the tool has parameters.
func (t Tool) TakesInput() bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	return json.Unmarshal(t.Schema, &schema) == nil && len(schema.Properties) > 0
}

// Effect is a set of effects that a tool can have. Modes, the cache, the retry
// link and the audit log use it, never the tool's name.
type Effect uint8

// The effects; a tool has one or more. The user is asked about a tool without an
// effect as if it mutated.
const (
	Reads      Effect = 1 << iota // reads files or processes
	Mutates                       // may change files or processes
	Network                       // may leave the machine
	Idempotent                    // running it twice has the effect of running it once
	Internal                      // changes the state of the session itself, such as its plan
)

// Has reports whether all effects of f are in e.
func (e Effect) Has(f Effect) bool { return e&f == f }

// ReadOnly reports whether the tool only reads, so that the order of such calls
// does not matter.
func (e Effect) ReadOnly() bool { return e&^Idempotent == Reads }

// InternalOnly reports whether the tool changes nothing outside the session, so
// that its calls need no permission.
func (e Effect) InternalOnly() bool { return e&^Idempotent == Internal }
