// Package local has the models that need no network: [Direct], which runs the tool
// calls that a user types, and [Script], which replays answers from a file.
//
// [SplitCommand], [IsToolCommand] and [Hint] read commands of the form "/TOOL …". The package
// promises that a call with a mistake is never run. It does not depend on sessions or
// permissions.
package local

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"iter"
	"strings"
	"unicode"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
)

// connectHelp explains to the user, in three lines, how to connect a model.
//
//go:embed direct.md
var connectHelp string

// ExplainsConnecting reports whether an answer of [Direct] explains how to connect a
// model, since the prompt needs one.
func ExplainsConnecting(answer string) bool {
	return strings.HasSuffix(strings.TrimSpace(answer), strings.TrimSpace(connectHelp))
}

// nothingRun begins the answer to calls that are wrong.
const nothingRun = "Nothing was run"

// RunsNothing reports whether an answer of Direct says that the calls of the prompt are wrong.
func RunsNothing(answer string) bool { return strings.HasPrefix(answer, nothingRun) }

// Direct is the embedded model: it needs no network and no key. It makes the tool calls that the
// user's last prompt spells out, as "/TOOL …" lines or as the fenced blocks of [textcalls.Find].
// Each answer has one call; the last answer is a summary in one line. If one of them cannot be
// read, none is made, since the others may build on it. It answers any other prompt by explaining
// how to connect a model.
//
// It keeps no state: the results in the history show its progress. Text or an image
// in a message of the user always counts as a new prompt.
type Direct struct {
	Provider string // as configured; empty means "direct"
}

// Name returns the provider alone, since there is no model to pick.
func (d Direct) Name() string { return cmp.Or(d.Provider, "direct") }

// Window returns 0, for unknown: only the last prompt is read.
func (Direct) Window() int { return 0 }

// AcceptsImages returns false.
func (Direct) AcceptsImages() bool { return false }

// Stream makes the next call of the last prompt, or sums up.
func (d Direct) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if ctx.Err() != nil {
			yield(llm.Event{}, context.Cause(ctx))
			return
		}
		prompt, images, results := lastPrompt(req.Messages)
		calls, answer := planCalls(prompt, req.Tools)
		if answer == "" && len(results) < len(calls) {
			c := calls[len(results)]
			id := fmt.Sprintf("direct_%d", len(req.Messages)) // grows with the history
			if yield(llm.Event{Call: &llm.ToolCall{ID: id, Name: c.Tool, Input: c.Input}}, nil) {
				yield(llm.Event{Stop: llm.StopTools}, nil)
			}
			return
		}
		if answer == "" {
			answer = summarizeCalls(calls, results)
		}
		for _, image := range images { // after the answer: the prompt itself may consist of a command
			answer += "\n\n" + llm.ImagePlaceholder(image, d)
		}
		if yield(llm.Event{Text: answer}, nil) {
			yield(llm.Event{Stop: llm.StopEnd}, nil)
		}
	}
}

// lastPrompt returns the text and the images of the user's last prompt, and the results
// since then.
func lastPrompt(history []llm.Message) (prompt string, images []*llm.Image, results []*llm.ToolResult) {
	at := len(history)
	for at > 0 && prompt == "" && images == nil {
		at--
		if history[at].Role == llm.User {
			prompt, images = textOf(history[at]), imagesOf(history[at])
		}
	}
	for _, m := range history[min(at+1, len(history)):] {
		for _, b := range m.Blocks {
			if b.Result != nil {
				results = append(results, b.Result)
			}
		}
	}
	return prompt, images, results
}

// textOf joins the text blocks of a message. Clients split a line into blocks where it
// mentions a file. Therefore a block begins a new line only if no space separates it from the
// one before.
func textOf(m llm.Message) string {
	var b strings.Builder
	for _, block := range m.Blocks {
		if block.Text == "" {
			continue
		}
		before := strings.TrimRightFunc(b.String(), unicode.IsSpace)
		after := strings.TrimLeftFunc(block.Text, unicode.IsSpace)
		if b.Len() > 0 && len(before) == b.Len() && len(after) == len(block.Text) {
			b.WriteByte('\n')
		}
		b.WriteString(block.Text)
	}
	return b.String()
}

// planCalls returns the calls that a prompt asks for, or the answer.
func planCalls(prompt string, tools []llm.Tool) (calls []textcalls.Call, answer string) {
	if IsToolCommand(prompt, tools) {
		calls = slashCalls(prompt, tools)
	} else {
		calls = textcalls.Find(prompt, tools)
	}
	var problems []string
	for i, c := range calls {
		if _, ok := llm.FindTool(tools, c.Tool); !ok && c.Problem == "" {
			c.Problem = fmt.Sprintf("line %d: there is no tool %q. %s", c.Line, c.Tool, toolNames(tools))
		}
		if c.Problem != "" {
			problems = append(problems, c.Problem)
		}
		calls[i] = c
	}
	switch {
	case len(problems) > 0 && len(calls) == 1:
		return nil, nothingRun + ": " + problems[0]
	case len(problems) > 0:
		return nil, nothingRun + ".\n\n" + strings.Join(problems, "\n\n")
	case len(calls) > 0:
		return calls, ""
	}
	answer = strings.TrimSpace(connectHelp)
	if name, _ := SplitCommand(strings.TrimSpace(prompt)); name != "" {
		answer = fmt.Sprintf("There is no command /%s. %s Type /help for the commands.\n\n%s", name, toolNames(tools), answer)
	}
	return nil, answer
}

// toolNames names the tools, in one line.
func toolNames(tools []llm.Tool) string {
	if len(tools) == 0 {
		return "No tools are offered here."
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = "/" + t.Name
	}
	return "The tools are " + strings.Join(names, ", ") + "."
}

// summarizeCalls returns one line about how the calls ended.
func summarizeCalls(calls []textcalls.Call, results []*llm.ToolResult) string {
	var failed []string
	for i, c := range calls {
		if results[i].Failed {
			why := strings.TrimPrefix(failureReason(results[i].Text), c.Tool+": ")
			if why != "" {
				why = ": " + why
			}
			if len(calls) == 1 {
				return fmt.Sprintf("%s: failed%s.", c.Tool, why)
			}
			failed = append(failed, fmt.Sprintf("%d (%s)%s", i+1, c.Tool, why))
		}
	}
	switch {
	case len(calls) == 1 && len(failed) == 0:
		return fmt.Sprintf("%s: done.", calls[0].Tool)
	case len(failed) == 0:
		return fmt.Sprintf("%s, all done.", quantity.Count(len(calls), "call"))
	}
	return fmt.Sprintf("%s, %d failed: %s.", quantity.Count(len(calls), "call"), len(failed), strings.Join(failed, "; "))
}

// failureReason returns why a call failed, in the result's own words: the error of a
// [tool_error] block, or how a command ended.
func failureReason(result string) string {
	text, more := strings.CutPrefix(result, "[tool_error]\n")
	if _, after, ok := strings.Cut(text, "error: "); more && ok {
		line, _, _ := strings.Cut(after, "\n")
		return strings.TrimSuffix(line, ".")
	}
	for line := range strings.SplitSeq(strings.TrimSpace(result), "\n") {
		if inner, ok := strings.CutPrefix(line, "["); ok && (strings.HasPrefix(inner, "exit ") || strings.HasPrefix(inner, "killed by ")) {
			text = strings.TrimSuffix(inner, "]")
		}
	}
	if text == result { // the result does not say why
		return ""
	}
	return text
}

// imagesOf returns the images of a message.
func imagesOf(m llm.Message) []*llm.Image {
	var images []*llm.Image
	for _, b := range m.Blocks {
		if b.Image != nil {
			images = append(images, b.Image)
		}
	}
	return images
}
