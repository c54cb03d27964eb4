package keys

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestEditFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "f")
	failed := errors.New("failed")
	for _, step := range []struct {
		old, edited string // "" means that there is no file
		err         error
	}{{"", "a", nil}, {"a", "b", failed}, {"a", "b", nil}, {"b", "b", nil}, {"b", "", nil}, {"", "", nil}} {
		err := EditFile(file, func(old []byte) ([]byte, error) {
			if string(old) != step.old {
				t.Errorf("edits %q, want %q", old, step.old)
			}
			if step.edited == "" {
				return nil, step.err
			}
			return []byte(step.edited), step.err
		})
		want := step.edited
		if step.err != nil {
			want = step.old
		}
		if data, _ := os.ReadFile(file); !errors.Is(err, step.err) || string(data) != want {
			t.Errorf("%+v: %v, the file has %q, want %q", step, err, data, want)
		}
	}
}
