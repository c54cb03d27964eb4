package programs

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// facts returns the whole table, decoded at once.
func facts(t *testing.T) map[string]*Facts {
	t.Helper()
	var all map[string]*Facts
	if err := toml.NewDecoder(strings.NewReader(table)).DisallowUnknownFields().Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// The blocks, found one by one, are those of the whole table, and each says what it says there.
func TestBlocks(t *testing.T) {
	all := facts(t)
	if len(all) < 500 || len(all) != len(Words()) {
		t.Fatalf("got %d blocks in the table and %d in the index, want as many", len(all), len(Words()))
	}
	sorted := slices.SortedFunc(slices.Values(Words()[1:]), func(a, b string) int { return slices.Compare(strings.Split(a, " "), strings.Split(b, " ")) })
	if diff := cmp.Diff(sorted, Words()[1:]); diff != "" || Words()[0] != Any {
		t.Fatalf("the blocks are not in order: (-want +got)\n%s", diff)
	}
	for words, want := range all {
		header, text, _ := blockAt(search(words))
		if header != words {
			t.Fatalf("got the block %q for %q", header, words)
		}
		got, err := decode(text)
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: (-table +block)\n%s", words, diff)
		}
		if reflect.ValueOf(*want).IsZero() {
			t.Errorf("%q: got a block without facts, want no block", words)
		}
		if got := line.Join(words); got != words {
			t.Errorf("got the words %q, want %q", words, got)
		}
	}
}

// A mistake in a word of the table is found here, and not by a user.
func TestWords(t *testing.T) {
	for words, f := range facts(t) {
		oneOf := func(field, got string, want ...string) {
			if got != "" && !slices.Contains(want, got) {
				t.Errorf("%q: got %s = %q, want one of %q", words, field, got, want)
			}
		}
		oneOf("operands", f.Operands, "names", "texts")
		oneOf("writes", f.Writes, "named", "below")
		oneOf("walks", f.Walks, "named", "here")
		oneOf("flow", f.Flow, "sends", "both")
		oneOf("reach", f.Reach, "literal", "named")
		for field, list := range map[string]string{
			"file_options": f.FileOptions, "runs": f.Runs, "harmless": f.Harmless, "harmless_values": f.HarmlessValues, "switches": f.Switches, "wide": f.Wide,
		} {
			for _, o := range strings.Fields(list) {
				if o[0] != '-' || len(o) < 2 || strings.Contains(strings.TrimSuffix(o, "*"), "*") || strings.HasSuffix(o, ",") {
					t.Errorf("%q: got %s with %q, want an option", words, field, o)
				}
			}
		}
		for _, c := range f.Confirm {
			if !strings.HasPrefix(c.Effect, "it ") {
				t.Errorf("%q: got the effect %q, want one that begins with \"it \"", words, c.Effect)
			}
		}
		options := *cmpOr(f.Asks) + " " + f.AsksCommon
		if f.Plain != nil {
			oneOf("plain.operands", f.Plain.Operands, "text", "pattern", "none")
			options += " " + f.Plain.Options
			if like := f.Plain.Like; like != "" && (Block(like).Plain == nil || Block(like).Plain.Like != "") {
				t.Errorf("%q: got plain.like = %q, want a program with options of its own", words, like)
			}
		}
		for _, o := range strings.Fields(options) {
			set, isSet := strings.CutPrefix(o, "@")
			if isSet && Block(Any).Sets[set] == "" || !isSet && (o[0] != '-' || len(o) < 2) {
				t.Errorf("%q: got the option %q, want an option or a set", words, o)
			}
		}
	}
}

func cmpOr(s *string) *string {
	if s == nil {
		return new(string)
	}
	return s
}

// No option starts a program, writes a file elsewhere or weakens a check, and is declared harmless.
func TestHarmless(t *testing.T) {
	if got := len(strings.Fields(Block(Any).Variables)); got < 20 {
		t.Fatalf("got %d variables, want at least 20", got)
	}
	dangerous := strings.Fields("exec eval plugin filter config script shell pager editor command output force destroy push delete require preload init rc " +
		"hook profile")
	for words, f := range facts(t) {
		for _, o := range strings.Fields(f.Harmless + " " + f.HarmlessValues) {
			name := strings.TrimLeft(o, "-")
			if slices.ContainsFunc(dangerous, func(word string) bool { return strings.Contains(name, word) }) &&
				!slices.Contains([]string{"output-format", "no-config", "ignore-scripts", "configuration", "config", "output", "no-cli-pager", "filter"}, name) {
				t.Errorf("%q: got %q as harmless, want it to count", words, o)
			}
		}
	}
}

// The name of a program cannot pretend to be a subcommand of another one.
func TestOf(t *testing.T) {
	if len(Under("git")) < 50 || Under("gi") != nil || Under("") != nil || Of("zzz") != unknown {
		t.Errorf("got %q under git, want its subcommands, and nothing under a program that is unknown", Under("git"))
	}
	if Of("git log") != unknown || Of("git", "log") == unknown || Of("git", "log") != Block("git log") || Of("") != unknown {
		t.Errorf("got facts for the program %q, or none for git log", "git log")
	}
	if got := Of("git", "show").Plain; !strings.Contains(got.Options, "--patch") || strings.Contains(got.Options, "@") || len(got.Inserts) == 0 {
		t.Errorf("got %+v for git show, want the options of git log", got)
	}
}

func BenchmarkSearch(b *testing.B) {
	for b.Loop() {
		blockAt(search("git status"))
	}
}

func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		decoded.Clear()
		Of("git")
		Of("git", "status")
	}
}

func BenchmarkWholeTable(b *testing.B) {
	for b.Loop() {
		decoded.Clear()
		for _, words := range Words() {
			Block(words)
		}
	}
}
