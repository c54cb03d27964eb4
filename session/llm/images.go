package llm

import (
	"fmt"
	"slices"
)

// Sees tells whether the model takes images. One that doesn't is told of each
// image in a line of text.
func Sees(m Model) bool {
	s, ok := As[interface{ Sees() bool }](m)
	return ok && s.Sees()
}

// Refuses tells why the model takes no image of that many bytes; empty if it
// takes it. Such an image is left out of what it is sent, with a line of text in
// its place: a provider that refused it would refuse every later request too.
func Refuses(m Model, bytes int) string {
	if !Sees(m) {
		return "takes no images"
	}
	if l, ok := As[interface{ LargestImage() int }](m); ok && bytes > l.LargestImage() {
		return "takes images up to " + size(l.LargestImage())
	}
	return ""
}

// shown gives the history as the model can take it: without the images that it
// refuses. History itself is not changed.
func Shown(m Model, history []Message) []Message {
	refused := func(b Block) bool { return b.Image != nil && Refuses(m, len(b.Image.Data)) != "" }
	history = slices.Clone(history)
	for i, message := range history {
		if !slices.ContainsFunc(message.Blocks, refused) {
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

// notShown is what stands in for an image.
func NotShown(image *Image, m Model) string {
	return fmt.Sprintf("[%s, %s, not shown: %s %s]", image.MIME, size(len(image.Data)), m.Name(), Refuses(m, len(image.Data)))
}

// size is a number of bytes, for people.
func size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
