package llm

import (
	"fmt"
	"slices"
)

// Sees reports whether the model accepts images. One that does not gets a line of text
// for each image.
func Sees(m Model) bool {
	s, ok := As[interface{ Sees() bool }](m)
	return ok && s.Sees()
}

// Refuses returns why the model does not accept an image of that many bytes, or "".
// Such an image is replaced by a line of text: a provider that refused it once would
// refuse every later request too.
func Refuses(m Model, bytes int) string {
	if !Sees(m) {
		return "takes no images"
	}
	if l, ok := As[interface{ LargestImage() int }](m); ok && bytes > l.LargestImage() {
		return "takes images up to " + size(l.LargestImage())
	}
	return ""
}

// Shown returns the history without the images that the model refuses. The argument is
// not changed.
func Shown(m Model, history []Message) []Message {
	refused := func(b Block) bool { return b.Image != nil && Refuses(m, len(b.Image.Data)) != "" }
	refusedIn := func(message Message) bool { return slices.ContainsFunc(message.Blocks, refused) }
	if !slices.ContainsFunc(history, refusedIn) {
		return history
	}
	history = slices.Clone(history)
	for i, message := range history {
		if !refusedIn(message) {
			continue
		}
		blocks := slices.Clone(message.Blocks)
		for j, b := range blocks {
			if refused(b) {
				blocks[j] = Block{Text: NotShown(b.Image, m)}
			}
		}
		history[i].Blocks = blocks
	}
	return history
}

// NotShown returns the text that replaces an image.
func NotShown(image *Image, m Model) string {
	return fmt.Sprintf("[%s, %s, not shown: %s %s]", image.MIME, size(len(image.Data)), m.Name(), Refuses(m, len(image.Data)))
}

// size formats a number of bytes for people.
func size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
