package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// linkTool reads what a resource link names.
const linkTool = "read"

// maxLinks is how many links of one prompt are read; of the others the model is
// told the path.
const maxLinks = 20

// follow reads the files in the roots that resource links name, as calls of the
// user's: they are announced, and pass the same gates as any. It gives their
// texts by the index of the link. What cannot be read is no failure: the model
// is told the path, and may look for itself.
func (t *turn) follow(ctx context.Context, prompt []acp.ContentBlock) (map[int]string, error) {
	texts := map[int]string{}
	t.origin = executors.User
	defer func() { t.origin = executors.Model }()
	if _, ok := executors.Find(t.tools, linkTool); !ok {
		return texts, nil
	}
	for i, c := range prompt {
		if c.Type != "resource_link" || len(texts) == maxLinks {
			continue
		}
		path := linkTarget(c.URI)
		if !filepath.IsAbs(path) || !t.Inside(path) {
			continue
		}
		input, err := json.Marshal(map[string]string{"path": path})
		if err != nil {
			return texts, err
		}
		r, err := t.announce(ctx, llm.ToolCall{ID: fmt.Sprint("link_", i), Name: linkTool, Input: input})
		if err != nil {
			return texts, err
		}
		r.link = i + 1
		result, err := r.run(ctx)
		if err != nil {
			return texts, err
		}
		if !result.Failed {
			texts[i] = result.Text
		}
	}
	return texts, nil
}

// leftOut tells the user which parts of the prompt the model will not get.
func (t *turn) leftOut(ctx context.Context, prompt Prompt) error {
	var lines []string
	for _, c := range prompt.Content {
		_, _, image := c.Image()
		switch {
		case c.Type == "audio":
			lines = append(lines, "The audio was left out: it cannot be heard here.")
		case image && prompt.Instead != "" && !isDirect(t.model):
			lines = append(lines, "The image was left out: a command takes none.")
		case image && !llm.Sees(t.model):
			lines = append(lines, fmt.Sprintf("The image was left out: %s takes no images. Pick a model that does, and send it again.", t.model.Name()))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return t.Say(ctx, strings.Join(lines, "\n"))
}
