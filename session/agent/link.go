package agent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// maxLinks is the number of links of one prompt that are read; for the others
// the model gets the path or address.
const maxLinks = 20

// linkReader returns the call that reads a resource link: a file or directory in
// the roots, a resource of an MCP server, or a web page. For other links the tool is "".
func (t *turn) linkReader(uri string) (tool string, input map[string]string) {
	target := transcript.LinkTarget(uri)
	if filepath.IsAbs(target) && t.Inside(target) {
		if strings.HasSuffix(target, string(filepath.Separator)) {
			return t.opener(executors.OpensDirectory, target)
		}
		return t.opener(executors.OpensFile, target)
	}
	if t.Resource != nil {
		if tool, input = t.Resource(uri); tool != "" {
			return tool, input
		}
	}
	if strings.HasPrefix(strings.ToLower(target), "https://") {
		return t.opener(executors.OpensPage, target)
	}
	return "", nil
}

// opener returns the call that reads a target; the tool is "" if no tool has the trait.
func (t *turn) opener(trait executors.Trait, target string) (tool string, input map[string]string) {
	opener, _ := executors.FindBy(t.tools, func(t executors.Tool) bool { return t.Is(trait) })
	return opener.Name, map[string]string{opener.Subject.Param: target}
}

// readLinks reads resource links by calls of the user: they are announced and pass
// the same gates as all calls. It returns their contents by the index of the link.
// A link that cannot be read is not a failure: the model gets its address and
// may read it itself.
func (t *turn) readLinks(ctx context.Context, prompt []acp.ContentBlock) (map[int]transcript.Replacement, error) {
	contents, tried := map[int]transcript.Replacement{}, 0
	t.origin, t.phase = executors.User, executors.PhasePlanner
	defer func() { t.origin, t.phase = executors.Model, executors.PhaseExecutor }()
	for i, c := range prompt {
		if c.Type != "resource_link" || tried == maxLinks {
			continue
		}
		tool, args := t.linkReader(c.URI)
		if _, ok := executors.Find(t.tools, tool); !ok {
			continue
		}
		tried++
		if err := t.runForPart(ctx, contents, i, tool, args); err != nil {
			return contents, err
		}
	}
	return contents, nil
}

// runCommands runs commands of the shell in the order of their parts of the prompt, and adds
// their outputs to outputs. The part of a command that was denied or failed stays unchanged.
func (t *turn) runCommands(ctx context.Context, commands map[int]string, outputs map[int]transcript.Replacement) error {
	shell, ok := executors.FindBy(t.tools, executors.Tool.RunsScripts)
	if !ok {
		return nil
	}
	t.origin, t.phase = executors.Agent, executors.PhasePlanner
	defer func() { t.origin, t.phase = executors.Model, executors.PhaseExecutor }()
	for _, i := range slices.Sorted(maps.Keys(commands)) {
		if err := t.runForPart(ctx, outputs, i, shell.Name, map[string]string{shell.Subject.Param: commands[i]}); err != nil {
			return err
		}
	}
	return nil
}

// runForPart announces and runs a call whose result replaces a part of the prompt, and adds the
// result to results unless the call fails.
func (t *turn) runForPart(ctx context.Context, results map[int]transcript.Replacement, part int, tool string, args map[string]string) error {
	input, err := json.Marshal(args)
	if err != nil {
		return err
	}
	r, err := t.announce(ctx, llm.ToolCall{ID: fmt.Sprint("part_", part), Name: tool, Input: input})
	if err != nil {
		return err
	}
	r.link = part + 1
	result, err := r.run(ctx)
	if err == nil && !result.Failed {
		results[part] = transcript.Replacement{Text: result.Text, Images: result.Images}
	}
	return err
}

// CommandIgnoresAttachments is the message if a command came with attachments.
const CommandIgnoresAttachments = "The attachments were ignored: a command takes only text."

// sayLeftOut names to the user the parts of the prompt that the model does not
// get.
func (t *turn) sayLeftOut(ctx context.Context, prompt transcript.Prompt) error {
	if t.direct && !isDirect(t.Model()) {
		if transcript.CountAttachments(prompt.Content) == 0 {
			return nil
		}
		return t.sayParagraph(ctx, CommandIgnoresAttachments)
	}
	audio, images, why := 0, 0, ""
	for _, c := range prompt.Parts() {
		if c.Type == "audio" {
			audio++
		} else if _, data, ok := c.Image(); ok {
			if refused := llm.ImageRefusal(t.model, base64.StdEncoding.DecodedLen(len(data))); refused != "" {
				images++
				why = refused
			}
		}
	}
	var lines []string
	if audio > 0 {
		lines = append(lines, "The audio was left out: audio is not supported.")
	}
	if images > 0 {
		what, them := "The image was", "it"
		if images > 1 {
			what, them = fmt.Sprintf("%s were", quantity.Count(images, "image")), "them"
		}
		hint := "Pick a model that does, and send " + them + " again."
		if llm.AcceptsImages(t.model) {
			hint = "Send " + them + " smaller."
		}
		lines = append(lines, fmt.Sprintf("%s left out: %s %s. %s", what, t.model.Name(), why, hint))
	}
	if len(lines) == 0 {
		return nil
	}
	return t.sayParagraph(ctx, strings.Join(lines, "\n"))
}
