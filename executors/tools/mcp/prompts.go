package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

const (
	maxPromptText = 256 << 10 // bytes of one text of a prompt
	maxMessages   = 100       // of a prompt
	maxArguments  = 20        // of a prompt
)

// Command is a prompt of a server that the user calls as "/SERVER:PROMPT ARGUMENTS".
type Command struct {
	Name        string // SERVER:PROMPT
	Description string
	Hint        string // the names of the arguments; those in brackets are optional
}

// Message is a message of a prompt.
type Message struct {
	Assistant bool // else the user
	Parts     []Part
}

// Part is a part of a message: exactly one field is set.
type Part struct {
	Text     string
	Image    *executors.Image
	Resource *Embedded
	Link     *Link
}

// Embedded is the text of a resource within a message.
type Embedded struct{ URI, MIME, Text string }

// Link names a resource.
type Link struct{ URI, Name, MIME string }

// prompt is a prompt of a server.
type prompt struct {
	name      string // as the server has it
	about     string // one line
	arguments []argument
}

// argument is an argument of a prompt.
type argument struct {
	name, about string
	required    bool
}

// newPrompts reads the definitions of prompts. It leaves out those without a usable name.
func newPrompts(all []*sdk.Prompt) []prompt {
	var out []prompt
	seen := map[string]bool{}
	for _, p := range all {
		if p.Name == "" || len(p.Name) > maxToolName || seen[p.Name] || len(p.Arguments) > maxArguments {
			continue
		}
		seen[p.Name] = true
		one := prompt{name: p.Name, about: oneLine(cmp.Or(p.Description, p.Title, p.Name))}
		for _, a := range p.Arguments {
			if a != nil && a.Name != "" {
				one.arguments = append(one.arguments, argument{a.Name, oneLine(a.Description), a.Required})
			}
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b prompt) int { return cmp.Compare(a.name, b.name) })
	return out
}

// hint returns the arguments on a line.
func (p prompt) hint() string {
	var words []string
	for _, a := range p.arguments {
		name := strings.ToUpper(oneLine(a.name))
		if !a.required {
			name = "[" + name + "]"
		}
		words = append(words, name)
	}
	return strings.Join(words, " ")
}

// usage describes how to call the prompt by a command.
func (p prompt) usage(command string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: `%s`", strings.TrimSpace("/"+command+" "+p.hint()))
	for _, a := range p.arguments {
		fmt.Fprintf(&b, "\n- `%s`", oneLine(a.name))
		if a.about != "" {
			fmt.Fprintf(&b, ": %s", a.about)
		}
	}
	if len(p.arguments) > 0 {
		b.WriteString("\n\nPut a value with spaces in quotes; NAME=VALUE works in any order.")
	}
	return b.String()
}

// promptNames returns the commands of a server's prompts, in their order. They depend on
// nothing but the names.
func promptNames(prefix string, prompts []prompt) []string {
	names := make([]string, len(prompts))
	for i, p := range prompts {
		names[i] = p.name
	}
	return uniqueNames(prefix, promptSeparator, names)
}

// promptCommands returns the prompts of a server, even while it does not run.
func (j *sessionServer) promptCommands() (prompts []prompt, names []string, ready bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lists.prompts, promptNames(j.prefix, j.lists.prompts), j.state == Ready
}

// Commands returns the prompts of the servers that run.
func (s *Session) Commands() []Command {
	var out []Command
	for _, server := range s.allServers() {
		prompts, names, ready := server.promptCommands()
		for i, p := range prompts {
			if ready {
				out = append(out, Command{names[i], fmt.Sprintf("MCP server %s: %s", server.entry.Name, p.about), p.hint()})
			}
		}
	}
	return out
}

// Prompt returns the messages of the prompt that a command names, with the arguments of
// the rest of its line. A reply for the user is returned instead where the command cannot
// be carried out. ok is false if no server has the command's first part as its name. The
// error is ctx's cause.
func (s *Session) Prompt(ctx context.Context, command, rest string) (messages []Message, reply string, ok bool, err error) {
	s.Ready(ctx)
	if ctx.Err() != nil {
		return nil, "", true, context.Cause(ctx)
	}
	server, p, reply := s.promptOf(command)
	if server == nil {
		return nil, "", false, nil
	}
	if reply != "" {
		return nil, reply, true, nil
	}
	values, fits := p.values(rest)
	if !fits {
		return nil, p.usage(command), true, nil
	}
	r, notes, err := exchange(ctx, server.instance, request{user: s.user},
		func(ctx context.Context, session *sdk.ClientSession, token string) (*sdk.GetPromptResult, error) {
			params := &sdk.GetPromptParams{Name: p.name, Arguments: values}
			params.SetProgressToken(token)
			return session.GetPrompt(ctx, params)
		})
	if ctx.Err() != nil {
		return nil, "", true, context.Cause(ctx)
	}
	if err == nil {
		messages = s.messages(r)
	}
	switch {
	case err != nil:
		reply = fmt.Sprintf("`/%s` failed: %s", command, s.pool.mask(oneLine(err.Error())))
	case len(messages) == 0:
		reply = fmt.Sprintf("`/%s` failed: the prompt is empty", command)
	default:
		return messages, "", true, nil
	}
	return nil, strings.Join(append([]string{reply}, notes...), "\n"), true, nil
}

// PromptServer returns the name of the server whose prompt a command names, or "".
func (s *Session) PromptServer(command string) string {
	server, _, _ := s.promptOf(command)
	if server == nil {
		return ""
	}
	return server.entry.Name
}

// promptOf returns the server and the prompt of a command. If the server has no such
// prompt, the reply says so.
func (s *Session) promptOf(command string) (_ *sessionServer, _ prompt, reply string) {
	name, _, _ := strings.Cut(command, promptSeparator)
	for _, server := range s.allServers() {
		if server.prefix != name && server.entry.Name != name {
			continue
		}
		prompts, names, _ := server.promptCommands()
		if i := slices.Index(names, command); i >= 0 {
			return server, prompts[i], ""
		}
		if _, err := server.readySession(); err != nil {
			return server, prompt{}, fmt.Sprintf("There is no prompt `/%s`: %s", oneLine(command), s.pool.mask(oneLine(err.Error())))
		}
		reply = fmt.Sprintf("The MCP server %s has no prompt `/%s`.", server.entry.Name, oneLine(command))
		if len(names) > 0 {
			reply += " It has:\n- `/" + strings.Join(names, "`\n- `/") + "`"
		}
		return server, prompt{}, reply
	}
	return nil, prompt{}, ""
}

// messages returns the messages of a prompt: legible, masked and bounded.
func (s *Session) messages(r *sdk.GetPromptResult) []Message {
	var out []Message
	images := 0
	for _, m := range r.Messages[:min(len(r.Messages), maxMessages)] {
		if m == nil || m.Content == nil {
			continue
		}
		part := s.part(m.Content, &images)
		if part == (Part{}) {
			continue
		}
		assistant := m.Role == "assistant"
		if n := len(out); n > 0 && out[n-1].Assistant == assistant {
			out[n-1].Parts = append(out[n-1].Parts, part)
		} else {
			out = append(out, Message{assistant, []Part{part}})
		}
	}
	return out
}

// part returns the part of a message for a content. Content that models cannot get is
// named by a text.
func (s *Session) part(c sdk.Content, images *int) Part {
	switch c := c.(type) {
	case *sdk.TextContent:
		return Part{Text: s.text(c.Text)}
	case *sdk.ResourceLink:
		if isURI(c.URI) {
			return Part{Link: &Link{c.URI, cmp.Or(oneLine(c.Name), c.URI), oneLine(c.MIMEType)}}
		}
	case *sdk.EmbeddedResource:
		if r := c.Resource; r != nil && r.Blob == nil && r.URI != "" {
			return Part{Resource: &Embedded{oneLine(r.URI), oneLine(r.MIMEType), s.text(r.Text)}}
		}
	case *sdk.ImageContent:
		if *images++; slices.Contains(shownImages, c.MIMEType) && len(c.Data) <= maxImage && len(c.Data) > 0 && *images <= maxImages {
			return Part{Image: &executors.Image{MIME: c.MIMEType, Data: c.Data}}
		}
	}
	var a answerParts
	a.add(c)
	return Part{Text: s.text(strings.Join(a.texts, "\n"))}
}

// text returns a text of a prompt as the model gets it.
func (s *Session) text(text string) string {
	cut := ""
	if len(text) > maxPromptText {
		cut = fmt.Sprintf("\n[%s left out]", quantity.Count(len(text)-maxPromptText, "more byte"))
		text = text[:maxPromptText]
	}
	return s.pool.mask(legible(strings.ToValidUTF8(text, ""))) + cut
}
