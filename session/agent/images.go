package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/picture"
)

// modelImages returns the images of a result for the model, and a line below the text for each that
// it cannot see. A model without vision gets no images, and one line that says so. The client gets them
// unchanged.
func (t *turn) modelImages(res executors.Result) (images []llm.Image, notes string) {
	if !llm.AcceptsImages(t.model) {
		if slices.ContainsFunc(res.Content, func(c executors.Content) bool { return c.Image != nil }) {
			return nil, fmt.Sprintf("\n[only the user sees the image: %s takes no images]", t.model.Name())
		}
		return nil, ""
	}
	var lines strings.Builder
	for _, c := range res.Content {
		if c.Image == nil {
			continue
		}
		fitting, err := picture.Fit(llm.Image{MIME: c.Image.MIME, Data: c.Image.Data})
		if err != nil {
			fmt.Fprintf(&lines, "\n[an image is not shown to you: %v]", err)
			continue
		}
		images = append(images, fitting)
	}
	return images, lines.String()
}
