// Package programs is the table of what programs do: their options and subcommands, what they read,
// write, start, send, fetch and delete, which program they run for the user, and which filter fits
// their output. It is the only place that says so, for every gate and every link.
//
// The table is programs.toml. Adding a program is one block in it. Start with [Of]. A block is
// decoded when somebody asks for it, so a process pays for the programs that it meets. A test decodes
// all of them and checks each word.
package programs

import (
	"cmp"
	_ "embed"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pelletier/go-toml/v2" // the table is data, which people read and extend
)

//go:embed programs.toml
var table string

// Facts are what the table says about a program, or about a program with a subcommand, such as "git
// log". The zero value is that of an unknown program. Lists are words with spaces between them. An
// option stands in a list as it is written: "-x", "--long".
type Facts struct {
	// Global are the options before the subcommand whose value is the next word. It is nil for a
	// program without subcommands, or with unknown options before them.
	Global *string `toml:"global"`
	// GlobalForOutput is Global for the choice of a filter alone: rules must not look past these options.
	GlobalForOutput *string `toml:"global_for_output"`
	// Commands are all subcommands, and Aliases their other names. A word that begins exactly one of
	// them stands for it.
	Commands string            `toml:"commands"`
	Aliases  map[string]string `toml:"aliases"`

	// Files means that operands are files.
	Files *Files `toml:"files"`
	// FileOptions are options whose value is a file.
	FileOptions string `toml:"file_options"`
	// FilesInInput means that it reads names of files from standard input.
	FilesInInput bool `toml:"files_in_input"`
	// Prints means that its operands are text, and no files.
	Prints bool `toml:"prints"`
	// ComparesOnly means that it prints, sets or compares its operands, and opens none of them.
	ComparesOnly bool `toml:"compares_only"`
	// Searches means that its first operand is a pattern, and never a file.
	Searches bool `toml:"searches"`
	// Writes is which files it writes: "named" are those among its operands, "below" also those below
	// them. Empty means that it may write any file.
	Writes string `toml:"writes"`
	// ReadsNamed means that it only reads the files among its operands.
	ReadsNamed bool `toml:"reads_named"`
	// ShowsNothing means that it shows no content of the files among its operands.
	ShowsNothing bool `toml:"shows_nothing"`
	// OpensNothing means that it does not even open them.
	OpensNothing bool `toml:"opens_nothing"`
	// Copies means that it copies, moves or links files into a directory under their own names.
	Copies bool `toml:"copies"`
	// Walks is set for a program that only reads and that can read directories recursively: "here" if
	// it begins in the working directory, else "named".
	Walks string `toml:"walks"`

	// SearchesHere means that it may descend into its working directory without naming it.
	SearchesHere bool `toml:"searches_here"`
	// Enters is the option whose value is the directory that it only changes to.
	Enters string `toml:"enters"`
	// Changes is set for a subcommand that writes in the working tree or in files that it names. The
	// others of its program write only in the repository.
	Changes bool `toml:"changes"`

	// Runs are the options whose value it runs as a command.
	Runs string `toml:"runs"`
	// Wraps describes the command that its operands spell out, if it does nothing else.
	Wraps *Wraps `toml:"wraps"`
	// Launches describes a command among its operands that it runs beside its own work.
	Launches *Launches `toml:"launches"`
	// Shell means that it is a shell.
	Shell bool `toml:"shell"`
	// Code means that it interprets code in a language such as Python.
	Code bool `toml:"code"`
	// Escapes means that "!" and the like run a command in its own language.
	Escapes bool `toml:"escapes"`
	// RunsText means that it runs the text of an operand or of a file as code, and RunsInput that it
	// always runs its standard input.
	RunsText  bool `toml:"runs_text"`
	RunsInput bool `toml:"runs_input"`
	// GNU means that other systems name it with a leading "g".
	GNU bool `toml:"gnu"`
	// WaitsForKeys means that it waits for a person without a terminal, too.
	WaitsForKeys bool `toml:"waits_for_keys"`

	// Flow is the direction in which it moves data between the machine and others, whatever its
	// operands are: "sends", or "both" if it also prints data of strangers.
	Flow string `toml:"flow"`
	// Sends and SendsBoth are the first operands and the options that decide the direction.
	Sends     string `toml:"sends"`
	SendsBoth string `toml:"sends_both"`
	// SendsAt is how many of the first operands decide; 0 means 2, as in "docker image push".
	SendsAt int `toml:"sends_at"`
	// Fetches means that it writes a download to its standard output.
	Fetches bool `toml:"fetches"`
	// Contacts means that its operands are hosts.
	Contacts bool `toml:"contacts"`
	// Download are the options with which it connects to the hosts of its URLs alone.
	Download *Download `toml:"download"`

	// Confirm lists what needs permission although a rule allows the command.
	Confirm []Confirm `toml:"confirm"`
	// Database means that it takes SQL.
	Database bool `toml:"database"`
	// PublishesNothing means that it has other uses for the word "publish" or "deploy".
	PublishesNothing bool `toml:"publishes_nothing"`

	// Harmless are options without a value that an "always" may ignore, HarmlessValues those with one,
	// and Switches options without a value that count. In Harmless, "-D*" is any option that begins so.
	Harmless       string `toml:"harmless"`
	HarmlessValues string `toml:"harmless_values"`
	Switches       string `toml:"switches"`
	// Operands is "texts" if operands are programs in a language of the program, such as SQL, or
	// "names" if no operand can be one.
	Operands string `toml:"operands"`
	// Destructive means that an "always" for one call must not cover the next.
	Destructive bool `toml:"destructive"`
	// Group means that the next word is a subcommand too, or the program that runs; Deep means that all
	// words before the first option are.
	Group bool `toml:"group"`
	Deep  bool `toml:"deep"`
	// Builds means that each operand names something to run.
	Builds bool `toml:"builds"`
	// Loads means that an option before the first operand can change what runs.
	Loads bool `toml:"loads"`

	// Plain are the words with which it only reads.
	Plain *Plain `toml:"plain"`
	// Version are the options that print its version, and nothing else.
	Version string `toml:"version"`
	// Help means that "--help" prints its help, and nothing else. It is true of each program with
	// options in Plain.
	Help bool `toml:"help"`
	// Starts are the programs that it looks for in PATH to print its version.
	Starts string `toml:"starts"`
	// Emits is a regular expression for words by which it may print a control character, in a way of its
	// own: from a number, from parts of a text, or by a range of characters.
	Emits string `toml:"emits"`
	// Reach is which files it opens if it only reads: "literal" are its operands, "named" also what
	// lies in a directory or an archive. Empty means others, too.
	Reach string `toml:"reach"`
	// Wide are the options with which Reach does not hold.
	Wide string `toml:"wide"`
	// OfShell means that only the shell itself can run it.
	OfShell bool `toml:"of_shell"`
	// Asks are the options, as in Plain, of a command that only asks a daemon or a server; nil for all
	// others. AsksCommon are those of all commands of the program.
	Asks       *string `toml:"asks"`
	AsksCommon string  `toml:"asks_common"`

	// Output says what its output is.
	Output Output `toml:"output"`

	// Variables, in the block "*", are variables that change how programs print or build, but not
	// which code runs or what it contacts. Sets are lists of options: "@name" stands for one in Plain.
	Variables string            `toml:"variables"`
	Sets      map[string]string `toml:"sets"`
}

// Files says which operands are files.
type Files struct {
	Lead   int    `toml:"lead"`   // operands before the files, such as a pattern
	Unless string `toml:"unless"` // letters of short options that replace the leading operand
	Valued string `toml:"valued"` // letters of short options whose value is no file
}

// Wraps says where the command that a program runs begins among its arguments.
type Wraps struct {
	Valued   string `toml:"valued"`   // letters of short options with a value
	Long     string `toml:"long"`     // long options whose value is the next word
	Operands int    `toml:"operands"` // own operands before the command
	Assigns  bool   `toml:"assigns"`  // NAME=value operands before the command
	// Optional means that its own operands are missing if the first word is an option.
	Optional bool   `toml:"optional"`
	Flags    string `toml:"flags"`  // if not empty, all other short options as letters, and long ones
	Script   string `toml:"script"` // options whose value is a script

	// OutputOnly means that the choice of a filter looks through the program, and the parser does not:
	// a project or an environment chooses the command that runs in the end.
	OutputOnly bool   `toml:"output_only"`
	Subs       string `toml:"subs"` // one of these subcommands must come first
	// OptionalSubs are subcommands that may come first.
	OptionalSubs string `toml:"optional_subs"`
	Bins         bool   `toml:"bins"`       // or the name of a program of a package of Node
	OwnOutput    bool   `toml:"own_output"` // it writes a report of its own
}

// Launches says where the command begins among the operands of a program that also does other work.
type Launches struct {
	After    string `toml:"after"`    // subcommands that it follows
	Operands int    `toml:"operands"` // own operands before the command
	Anywhere bool   `toml:"anywhere"` // after options that the table lacks
}

// Download are the options of a downloader with which it connects to the hosts of its URLs alone.
type Download struct {
	Redirects  string `toml:"redirects"`   // the option without which it follows redirects; empty means that it follows none
	Prints     bool   `toml:"prints"`      // the output is the download, unless an option says otherwise
	Flags      string `toml:"flags"`       // letters of options without a value
	Valued     string `toml:"valued"`      // letters of options with a value
	Long       string `toml:"long"`        // options without a value
	LongValued string `toml:"long_valued"` // options with a value
	Writes     string `toml:"writes"`      // options whose value is a file that is written
	Sends      string `toml:"sends"`       // options whose value may name a file after "@" or "<"
}

// Confirm is a use of a command that needs permission although a rule allows it, unless the rule
// names the option.
type Confirm struct {
	// Options are any one of these; empty means any call. "+" stands for a forced refspec, "-B*" for
	// each word that begins so, "*x*" for one with this part.
	Options string `toml:"options"`
	Effect  string `toml:"effect"` // for the user: "it deletes files"
}

// Plain declares the words with which a command only reads. Neither GNU's nor a BSD's version of the
// program writes, runs a program, shows the environment or uses the network by them.
type Plain struct {
	Like string `toml:"like"` // its other fields are those of this program
	// Accept is the name of a function of package plain that a list of options does not fit, such as
	// "find". It may use the other fields.
	Accept string `toml:"accept"`
	// Options are the options, in the form that programs.toml describes.
	Options string `toml:"options"`
	// Operands is "text" if no operand is a file, "pattern" for a text and then files, "none" for no
	// operands. Empty means files to read.
	Operands     string `toml:"operands"`
	MaxOperands  int    `toml:"max_operands"`   // 0 means any number
	SingleDash   bool   `toml:"single_dash"`    // long options have one dash, and short ones do not stand together
	NoDoubleDash bool   `toml:"no_double_dash"` // "--" does not end the options
	// OwnParser means that the program does not parse its options as getopt does: a value must not begin
	// with a dash.
	OwnParser bool `toml:"own_parser"`
	// LeadingWildcard means that an operand may begin with a wildcard: no option of the program changes
	// or runs anything, and "--" precedes the operands.
	LeadingWildcard bool `toml:"leading_wildcard"`
	OpensNothing    bool `toml:"opens_nothing"` // it looks at its operands without opening them
	AtFiles         bool `toml:"at_files"`      // it replaces a word "@FILE" by the words in that file
	// Bounds are the options whose value is how many bytes it reads at most, unless it also has one of
	// Unbounds.
	Bounds   string `toml:"bounds"`
	Unbounds string `toml:"unbounds"`
	// Lists are the options that keep a list of file names free of other text, such as colours, counts
	// and statistics.
	Lists string `toml:"lists"`
	// Filters are the options with which it writes a part of its input lines, unchanged. Empty means that
	// it changes lines.
	Filters string   `toml:"filters"`
	Null    string   `toml:"null"`    // with it, lines end with NUL instead of a newline
	Inserts []string `toml:"inserts"` // words that the plain form has after the program
	Env     []string `toml:"env"`     // assignments that it has before the program
	Starts  []string `toml:"starts"`  // programs that the program itself looks for in PATH
	// Needs are options one of which must be there, and OperandsNeed the same if it has operands. First
	// are the words that the first operand may be; "" stands for no operand.
	Needs        string   `toml:"needs"`
	OperandsNeed string   `toml:"operands_need"`
	First        []string `toml:"first"`
	Endings      string   `toml:"endings"` // of the names of compressed files
	Check        string   `toml:"check"`   // the name of a function that refuses more
}

// Output says what the output of a program is, for the choice of a filter.
type Output struct {
	// Silent means that it writes nothing on success, apart from the options of Verbose.
	Silent  bool   `toml:"silent"`
	Verbose string `toml:"verbose"`
	// Comment means that it mostly comments on another command's output.
	Comment bool `toml:"comment"`
	// Input means that at the start of a pipeline it only prints the input of the next command.
	Input bool `toml:"input"`
	// Selects means that in a pipeline it selects or rewrites lines: with one of SelectsWith, or
	// without each of SelectsUnless if there are any.
	Selects       bool   `toml:"selects"`
	SelectsWith   string `toml:"selects_with"`
	SelectsUnless string `toml:"selects_unless"`
	// File means that it prints the file that it is given, or one end of it.
	File bool `toml:"file"`
	// Container means that "run" and "exec" run a command in a container.
	Container bool `toml:"container"`
}

// Any is the name of the block about all programs.
const Any = "*"

// Git is the program about which the table does not say everything: what it does also depends on its
// settings and on the names of its objects.
const Git = "git"

var unknown = &Facts{}

// Of returns what the table says about a program, or about a program and its subcommand: Of("git"),
// Of("git", "log"). It is never nil, and callers must not change it.
func Of(words ...string) *Facts {
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, " ") }) { // the program "git log"
		return unknown
	}
	return Block(strings.Join(words, " "))
}

// Known reports whether the table has a program.
func Known(program string) bool { return Of(program) != unknown }

// Block is Of for words with spaces between them, as [Words] and [Under] return them.
func Block(words string) *Facts {
	if f, ok := decoded.Load(words); ok {
		return f.(*Facts)
	}
	f := unknown
	if header, text, _ := blockAt(search(words)); header == words {
		if known, err := decode(text); err == nil { // a test decodes all blocks
			f = known
			f.expand()
		}
	}
	if f != unknown || unknowns.Add(1) < maxUnknown {
		decoded.Store(words, f)
	}
	return f
}

// decoded holds the facts that were asked for, by their words. The names of unknown programs in it
// are bounded.
var (
	decoded  sync.Map
	unknowns atomic.Int64
)

const maxUnknown = 4096

func decode(text string) (*Facts, error) {
	f := &Facts{}
	return f, toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields().Decode(f)
}

// expand replaces the sets of options by their words, and adds the fields of a similar program.
func (f *Facts) expand() {
	f.Asks = expandSets(f.Asks)
	if f.Plain == nil {
		return
	}
	f.Plain.Options = *expandSets(&f.Plain.Options)
	if f.Plain.Like == "" {
		return
	}
	all, own := *Block(f.Plain.Like).Plain, reflect.ValueOf(*f.Plain)
	for i := range own.NumField() {
		if !own.Field(i).IsZero() {
			reflect.ValueOf(&all).Elem().Field(i).Set(own.Field(i))
		}
	}
	f.Plain = &all
}

func expandSets(list *string) *string {
	if list == nil || !strings.Contains(*list, "@") {
		return list
	}
	words := strings.Fields(*list)
	for i, w := range words {
		if name, ok := strings.CutPrefix(w, "@"); ok {
			words[i] = Of(Any).Sets[name]
		}
	}
	text := strings.Join(words, " ")
	return &text
}

// Has reports whether a list has a word.
func Has(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// Under returns the words of all blocks about a program and its subcommands, in the order of the
// table.
func Under(program string) []string {
	if list, ok := under.Load(program); ok {
		return list.([]string)
	}
	var list []string
	for at := search(program); ; {
		header, _, next := blockAt(at)
		if name, _, _ := strings.Cut(header, " "); name != program || program == "" {
			break
		}
		list, at = append(list, header), next
	}
	if list != nil {
		under.Store(program, list)
	}
	return list
}

// under holds the results of Under.
var under sync.Map

// Words returns the words of all blocks, in the order of the table.
func Words() []string {
	var list []string
	for at := 0; ; {
		header, _, next := blockAt(at)
		if header == "" {
			return list
		}
		list, at = append(list, header), next
	}
}

// blockAt returns the first block of the table at or after an offset, and the offset of the next one. A
// block begins at a line with its words in brackets. The words are empty after the last block.
func blockAt(offset int) (words, text string, next int) {
	i := strings.Index(table[offset:], "\n[")
	if i < 0 {
		return "", "", len(table)
	}
	rest := table[offset+i+len("\n["):]
	end := strings.Index(rest, "\n[")
	if end < 0 {
		end = len(rest)
	}
	header, text, _ := strings.Cut(rest[:end], "]\n")
	return strings.Trim(header, `"`), text, offset + i + len("\n[") + end
}

// search returns an offset before the block with these words, or where it would be: the blocks are in
// order. So nobody pays for an index of the table at the start.
func search(words string) int {
	return sort.Search(len(table), func(i int) bool {
		header, _, _ := blockAt(i)
		return header == "" || compare(header, words) >= 0
	})
}

// compare compares the words of two blocks, word by word.
func compare(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == ' ':
			return -1
		case b[i] == ' ':
			return 1
		default:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}
