package llm

import (
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// AcceptsImages reports whether the model accepts images. A model that does not gets a
// line of text for each image.
func AcceptsImages(m Model) bool {
	s, ok := As[interface{ AcceptsImages() bool }](m)
	return ok && s.AcceptsImages()
}

// ImageRefusal returns the reason why the model does not accept an image of that many bytes, or "".
// A line of text replaces such an image. Otherwise the provider would refuse every later request
// too.
func ImageRefusal(m Model, bytes int) string {
	if !AcceptsImages(m) {
		return "takes no images"
	}
	if l, ok := As[interface{ LargestImage() int }](m); ok && bytes > l.LargestImage() {
		return "takes images up to " + size(l.LargestImage())
	}
	return ""
}

// WithoutRefusedImages returns the history without the images that the model refuses. The
// argument is not changed.
func WithoutRefusedImages(m Model, history []Message) []Message {
	if !hasImages(history) {
		return history
	}
	refuses := func(i Image) bool { return ImageRefusal(m, len(i.Data)) != "" }
	refused := func(b Block) bool {
		return b.Image != nil && refuses(*b.Image) || b.Result != nil && slices.ContainsFunc(b.Result.Images, refuses)
	}
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
			switch {
			case !refused(b):
			case b.Image != nil:
				blocks[j] = Block{Text: ImagePlaceholder(b.Image, m)}
			default:
				blocks[j] = Block{Result: b.Result.withoutRefusedImages(m, refuses)}
			}
		}
		history[i].Blocks = blocks
	}
	return history
}

// withoutRefusedImages returns the result with a line of text for each refused image.
func (r *ToolResult) withoutRefusedImages(m Model, refused func(Image) bool) *ToolResult {
	out := *r
	out.Images = nil
	for _, i := range r.Images {
		if refused(i) {
			out.Text += "\n" + ImagePlaceholder(&i, m)
		} else {
			out.Images = append(out.Images, i)
		}
	}
	return &out
}

// ImagesAfterResults returns the blocks of a message with the images of results moved after all
// results, for providers whose results are text. A line before the images of a result
// names the result.
func ImagesAfterResults(blocks []Block) []Block {
	if !slices.ContainsFunc(blocks, func(b Block) bool { return b.Result != nil && len(b.Result.Images) > 0 }) {
		return blocks
	}
	var results, images, rest []Block
	for _, b := range blocks {
		if b.Result == nil {
			rest = append(rest, b)
			continue
		}
		results = append(results, b)
		if n := len(b.Result.Images); n > 0 {
			images = append(images, Block{Text: fmt.Sprintf("[images of tool result %d above: %d]", len(results), n)})
		}
		for i := range b.Result.Images {
			images = append(images, Block{Image: &b.Result.Images[i]})
		}
	}
	return slices.Concat(results, images, rest)
}

// hasImages reports whether the history has images. It copies no block, since every
// request asks it about every block.
func hasImages(history []Message) bool {
	for _, m := range history {
		for i := range m.Blocks {
			if b := &m.Blocks[i]; b.Image != nil || b.Result != nil && len(b.Result.Images) > 0 {
				return true
			}
		}
	}
	return false
}

// ImagePlaceholder returns the text that replaces an image.
func ImagePlaceholder(image *Image, m Model) string {
	return fmt.Sprintf("[%s, %s, not shown: %s %s]", image.MIME, size(len(image.Data)), m.Name(), ImageRefusal(m, len(image.Data)))
}

// size formats a number of bytes for people.
func size(n int) string {
	switch {
	case n < 1<<10:
		return quantity.Count(n, "byte")
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
