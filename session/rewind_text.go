package session

import (
	"fmt"
	"slices"
	"strings"

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
			fmt.Fprintf(&b, "- and %d older ones\n", i+1)
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
	return plural(n, "file") + " changed"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
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
	return fmt.Sprintf("Also replace %d files that are not as the agent left them?", n)
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
	list := func(title string, line func(PlannedFile) string) {
		n := 0
		for _, f := range r.plan.Files {
			text := line(f)
			if text == "" {
				continue
			}
			if n == 0 {
				b.WriteString(title + "\n")
			}
			if n++; n <= maxShownFiles {
				b.WriteString("- " + text + "\n")
			}
		}
		if n > maxShownFiles {
			fmt.Fprintf(b, "- and %d more\n", n-maxShownFiles)
		}
		if n > 0 {
			b.WriteString("\n")
		}
	}
	name := func(f PlannedFile) string { return "`" + strings.ReplaceAll(f.Name, "`", "'") + "`" }
	list("Files:", func(f PlannedFile) string {
		if f.Differs != "" || f.Lost != "" {
			return ""
		}
		return f.Change + " " + name(f)
	})
	list("Files that are not as the agent left them, which need a separate yes:", func(f PlannedFile) string {
		if f.Differs == "" || f.Lost != "" {
			return ""
		}
		return fmt.Sprintf("%s %s: %s", f.Change, name(f), f.Differs)
	})
	list("Files that cannot be restored:", func(f PlannedFile) string {
		if f.Lost == "" {
			return ""
		}
		return name(f) + ": " + f.Lost
	})
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

// report describes the result for the user.
func (r *rewindRun) report(out FilesOutcome) string {
	var b strings.Builder
	if r.event.Redo {
		b.WriteString("The rewind was undone")
	} else {
		fmt.Fprintf(&b, "Back to before turn %d", r.event.Turn)
	}
	if r.event.Mode != transcript.RewindConversation {
		fmt.Fprintf(&b, ": %s restored", plural(len(out.Changed), "file"))
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
