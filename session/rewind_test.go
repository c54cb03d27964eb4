package session

import (
	"fmt"
	"strings"
	"testing"
)

// Both questions of a rewind show a name in a code span that the name cannot end, and say how
// many files they leave out.
func TestFilesOfARewind(t *testing.T) {
	var files []PlannedFile
	for i := range maxShownFiles + 2 {
		files = append(files, PlannedFile{Name: fmt.Sprintf("a`%d", i), Change: "restore", Differs: "has changed"})
	}
	run := &rewindRun{plan: FilesPlan{Files: files}}
	for name, text := range map[string]string{"the preview": run.preview(), "the second question": differingList(run.differing())} {
		if !strings.Contains(text, "`a'0`") || strings.Contains(text, "a`0") {
			t.Errorf("%s does not quote the name in a code span:\n%s", name, text)
		}
		if want := "- and 2 more"; !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", name, want, text)
		}
	}
}
