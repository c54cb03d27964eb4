package files

import (
	"archive/zip"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/zeph-acp/zeph-acp/executors"
)

var update = flag.Bool("update", false, "write what read shows of the corpus into testdata")

// corpus returns the files of an archive in testdata by name. Its README says where they come from.
func corpus(t testing.TB, archive string) map[string]string {
	t.Helper()
	r, err := zip.OpenReader("testdata/" + archive + ".zip")
	must(t, err)
	defer r.Close()
	files := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		must(t, err)
		content, err := io.ReadAll(in)
		must(t, err)
		must(t, in.Close())
		files[f.Name] = string(content)
	}
	return files
}

// shownForm is the result of a read as the golden files have it.
func shownForm(res executors.Result) string {
	text := res.ForModel() + "\n"
	for _, c := range res.Content {
		if c.Image != nil {
			text += fmt.Sprintf("(with an image: %s)\n", c.Image.MIME)
		}
	}
	return text
}

// TestCorpus compares what read shows of real files with what it has shown.
func TestCorpus(t *testing.T) {
	for _, archive := range []string{"images", "notebooks", "pdf", "workbooks"} {
		t.Run(archive, func(t *testing.T) {
			files := corpus(t, archive)
			if len(files) < 20 {
				t.Errorf("%d files, want 20 or more", len(files))
			}
			b := newBench(t, files)
			var got txtar.Archive
			for name := range files {
				got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(shownForm(b.run("read", in{"path": name})))})
			}
			slices.SortFunc(got.Files, func(a, b txtar.File) int { return strings.Compare(a.Name, b.Name) })
			golden := "testdata/" + archive + ".txtar"
			if *update {
				must(t, os.WriteFile(golden, txtar.Format(&got), 0o644))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if text := txtar.Format(&got); !bytes.Equal(text, want) {
				t.Errorf("-want +got\n%s", cmp.Diff(string(want), string(text)))
			}
		})
	}
}
