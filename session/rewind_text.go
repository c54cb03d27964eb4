package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// turnList lists the turns, the newest first.
func turnList(points []RewindPoint) string {
	if len(points) == 0 {
		return "There is no turn to go back to."
	}
	const maxTurns = 30
	var b strings.Builder
	b.WriteString("The turns of this conversation, the newest first:\n")
	for i, p := range slices.Backward(points) {
		if i < len(points)-maxTurns {
			fmt.Fprintf(&b, "- and %s\n", quantity.Count(i+1, "older one"))
			break
		}
		fmt.Fprintf(&b, "- `%d`: %s (%s)\n", p.Number, summary(p.Text), filesChanged(p.Files))
	}
	b.WriteString("\n`/rewind N` asks you, then goes back to before turn N. `/rewind N files` restores only the files, and `/rewind N conversation` leaves them.")
	return b.String()
}

// filesChanged describes a number of changed files; -1 means that they are no longer kept.
func filesChanged(n int) string {
	switch {
	case n < 0:
		return "its files are no longer kept"
	case n == 0:
		return "no files changed"
	}
	return fileCount(n) + " changed"
}

func fileCount(n int) string {
	if n == 1 {
		return "1 file"
	}
	return quantity.Count(n, "file")
}

// title returns the question whether to rewind, without its question mark.
func (r *rewindRun) title() string {
	what := map[string]string{
		transcript.RewindFiles: "the files", transcript.RewindConversation: "the conversation",
		transcript.RewindBoth: "the files and the conversation",
	}[r.event.Mode]
	if r.event.Redo {
		return fmt.Sprintf("Undo the rewind to before turn %d (%s)", r.event.Turn, what)
	}
	return fmt.Sprintf("Rewind %s to before turn %d", what, r.event.Turn)
}

// differTitle returns the question about n files that differ.
func differTitle(n int) string {
	if n == 1 {
		return "Also replace 1 file that is not as the agent left it?"
	}
	return fmt.Sprintf("Also replace %s that are not as the agent left them?", quantity.Count(n, "file"))
}

// preview describes the changes, in Markdown.
func (r *rewindRun) preview() string {
	var b strings.Builder
	if r.event.Mode != transcript.RewindConversation {
		r.previewFiles(&b)
	}
	if r.event.Conversation() && !r.event.Redo {
		fmt.Fprintf(&b, "The model forgets turn %d and everything after it.\n", r.event.Turn)
	} else if r.event.Conversation() {
		fmt.Fprintf(&b, "The model remembers turn %d and everything after it again.\n", r.event.Turn)
	}
	return strings.TrimRight(b.String(), "\n")
}

// maxShownFiles bounds the files of one list.
const maxShownFiles = 20

// previewFiles writes lists of the files: the restored ones, those that differ and those
// that are lost.
func (r *rewindRun) previewFiles(b *strings.Builder) {
	var restored, differing, lost []string
	for _, f := range r.plan.Files {
		switch {
		case f.Lost != "":
			lost = append(lost, codeSpan(f.Name)+": "+f.Lost)
		case f.Differs != "":
			differing = append(differing, fmt.Sprintf("%s %s: %s", f.Change, codeSpan(f.Name), f.Differs))
		default:
			restored = append(restored, f.Change+" "+codeSpan(f.Name))
		}
	}
	writeList(b, "Files:\n", restored)
	writeList(b, "Files that are not as the agent left them, which need a separate yes:\n", differing)
	writeList(b, "Files that cannot be restored:\n", lost)
	if len(r.plan.Files) == 0 {
		b.WriteString("No file has to change.\n\n")
	}
	for _, note := range r.plan.Notes {
		b.WriteString("Note: " + note + ".\n")
	}
	if len(r.plan.Notes) > 0 {
		b.WriteString("\n")
	}
}

// differingList lists the names of files that differ.
func differingList(names []string) string {
	var b strings.Builder
	var lines []string
	for _, name := range names {
		lines = append(lines, codeSpan(name))
	}
	writeList(&b, "", lines)
	return strings.TrimRight(b.String(), "\n")
}

func codeSpan(name string) string { return "`" + strings.ReplaceAll(name, "`", "'") + "`" }

// writeList writes a list of files, unless it is empty.
func writeList(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString(title)
	for _, line := range lines[:min(maxShownFiles, len(lines))] {
		b.WriteString("- " + line + "\n")
	}
	if more := len(lines) - maxShownFiles; more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
	b.WriteString("\n")
}

// report describes the result for the user.
func (r *rewindRun) report(out FilesOutcome) string {
	var b strings.Builder
	if r.event.Redo {
		b.WriteString("The rewind was undone")
	} else {
		fmt.Fprintf(&b, "Back to before turn %d", r.event.Turn)
	}
	if r.event.Mode != transcript.RewindConversation {
		fmt.Fprintf(&b, ": %s restored", fileCount(len(out.Changed)))
	}
	b.WriteString(".")
	if r.event.Mode == transcript.RewindFiles {
		b.WriteString(" The conversation is unchanged.")
	}
	if r.event.Mode == transcript.RewindConversation {
		b.WriteString(" The files are unchanged.")
	}
	if len(out.Kept) > 0 {
		fmt.Fprintf(&b, "\n\nNot replaced, since they are not as the agent left them: %s.", strings.Join(out.Kept, ", "))
	}
	for _, f := range out.Failed {
		fmt.Fprintf(&b, "\n- not restored: %s", f)
	}
	if !r.event.Redo {
		b.WriteString("\n\n`/rewind redo` undoes this, until the next prompt.")
	}
	return b.String()
}
