package texts

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Text  string
	Words string `texts:"-"`
	own   string
}

type kinds struct {
	Plain   string
	Pointer *string
	Nested  *inner
	List    []inner
	Two     [2]string
	ByName  map[string]string
	Any     any
	Input   json.RawMessage
	Bytes   []byte
	Number  int
	Func    func()
}

var upper = Change{
	Text: strings.ToUpper,
	JSON: func(d json.RawMessage) json.RawMessage { return json.RawMessage(strings.ToUpper(string(d))) },
}

// All texts of a copy change, wherever they are, and the original stays.
func TestMap(t *testing.T) {
	value := func(s string) kinds {
		text := s
		return kinds{
			Plain: s, Pointer: &text, Nested: &inner{Text: s, Words: "w", own: "o"}, List: []inner{{Text: "1"}, {Text: s}}, Two: [2]string{"1", s},
			ByName: map[string]string{s: s, "1": s}, Any: map[string]any{"1": []any{s, 2.0, nil}}, Input: json.RawMessage(`["` + s + `"]`),
			Bytes: []byte("a"), Number: 1,
		}
	}
	given := value("a")
	got := Map(given, upper)
	same := cmp.AllowUnexported(kinds{}, inner{})
	if diff := cmp.Diff(value("A"), got, same); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(value("a"), given, same); diff != "" {
		t.Errorf("the original changed (-want +got)\n%s", diff)
	}
}

// A value without a change is returned itself.
func TestMapUnchanged(t *testing.T) {
	given := &inner{Text: "A", Words: "w"}
	if got := Map[any](given, upper); got != any(given) {
		t.Errorf("got another value: %v", got)
	}
	if got := Map[any](nil, upper); got != nil {
		t.Errorf("got %v", got)
	}
	if got := Map("a", Change{}); got != "a" {
		t.Errorf("the zero Change: got %q", got)
	}
}

func BenchmarkMap(b *testing.B) {
	v := kinds{Plain: "a", List: make([]inner, 4), ByName: map[string]string{"a": "b"}}
	none := Change{Text: func(s string) string { return s }}
	b.ReportAllocs()
	for b.Loop() {
		Map[any](v, none)
	}
}
