package llm

import (
	"fmt"
	"slices"
)

// Sees tells whether the model takes images. One that doesn't is told of each
// image in a line of text.
func Sees(m Model) bool {
	s, ok := m.(interface{ Sees() bool })
	return ok && s.Sees()
}

// shown gives the history as the model can take it: without images if it doesn't
// see. History itself is not changed.
func shown(m Model, history []Message) []Message {
	if Sees(m) {
		return history
	}
	history = slices.Clone(history)
	for i, message := range history {
		if len(imagesOf(message)) == 0 {
			continue
		}
		blocks := slices.Clone(message.Blocks)
		for j, b := range blocks {
			if b.Image != nil {
				blocks[j] = Block{Text: notShown(b.Image, m.Name())}
			}
		}
		history[i].Blocks = blocks
	}
	return history
}

func imagesOf(m Message) []*Image {
	var images []*Image
	for _, b := range m.Blocks {
		if b.Image != nil {
			images = append(images, b.Image)
		}
	}
	return images
}

// notShown is what stands in for an image.
func notShown(image *Image, model string) string {
	return fmt.Sprintf("[%s, %s, not shown: %s takes no images]", image.MIME, size(len(image.Data)), model)
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
