package app

import (
	"context"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// expandServer returns the messages of a prompt of an MCP server.
func expandServer(ctx context.Context, servers *mcp.Session, g gates, name, rest string) (session.Expansion, bool, error) {
	if !strings.Contains(name, ":") {
		return session.Expansion{}, false, nil
	}
	messages, reply, ok, err := servers.Prompt(ctx, name, rest)
	if !ok || err != nil || reply != "" {
		return session.Expansion{Reply: reply}, ok, err
	}
	server := servers.PromptServer(name)
	if g.trust.Refuses(server) {
		return session.Expansion{Reply: "The MCP server " + server + " is blocked; `/trust` shows why."}, true, nil
	}
	g.trust.ReadServer(server)
	g.flow.ReadServer(server)
	return arrange(messages, "/"+name+" "+rest), true, nil
}

// arrange orders messages as providers demand: the roles alternate, and the first and the
// last message are the user's. If the first message is not the user's, typed comes before
// it. The beginning of an answer becomes a part of the last message.
func arrange(messages []mcp.Message, typed string) session.Expansion {
	if messages[0].Assistant {
		messages = append([]mcp.Message{{Parts: []mcp.Part{{Text: typed}}}}, messages...)
	}
	last := len(messages) - 1
	var begun []acp.ContentBlock
	if messages[last].Assistant {
		begun = append([]acp.ContentBlock{acp.TextBlock("Your answer begins as follows; continue it:")}, spoken(messages[last].Parts)...)
		last--
	}
	e := session.Expansion{Content: append(contentOf(messages[last].Parts), begun...)}
	for _, m := range messages[:last] {
		content := contentOf(m.Parts)
		if m.Assistant {
			content = spoken(m.Parts)
		}
		e.Preamble = append(e.Preamble, transcript.Preamble{Assistant: m.Assistant, Content: content})
	}
	return e
}

// spoken returns the parts of a message of the assistant, which can only have text.
func spoken(parts []mcp.Part) []acp.ContentBlock {
	var out []acp.ContentBlock
	for _, p := range parts {
		text := p.Text
		switch {
		case p.Image != nil:
			text = "[image]"
		case p.Resource != nil:
			text = p.Resource.Text
		case p.Link != nil:
			text = p.Link.URI
		}
		out = append(out, acp.TextBlock(text))
	}
	return out
}

// contentOf returns the parts of a message of the user in the form of a client's prompt.
func contentOf(parts []mcp.Part) []acp.ContentBlock {
	var out []acp.ContentBlock
	for _, p := range parts {
		switch {
		case p.Image != nil:
			out = append(out, acp.ImageBlock(p.Image.MIME, p.Image.Data))
		case p.Resource != nil:
			resource := &acp.Resource{URI: p.Resource.URI, MIMEType: p.Resource.MIME, Text: &p.Resource.Text}
			out = append(out, acp.ContentBlock{Type: "resource", Resource: resource})
		case p.Link != nil:
			out = append(out, acp.ContentBlock{Type: "resource_link", URI: p.Link.URI, Name: p.Link.Name, MIMEType: p.Link.MIME})
		default:
			out = append(out, acp.TextBlock(p.Text))
		}
	}
	return out
}
