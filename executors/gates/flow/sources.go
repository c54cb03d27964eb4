package flow

import (
	"net/url"
	"path/filepath"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors"
)

// mcpPrefix marks an MCP server among the patterns.
const mcpPrefix = "mcp:"

// contentLabels returns the labels that a call sets by its origin: a page or a server.
func (f *Flow) contentLabels(call *executors.Call) label {
	if server := call.Server(); server != "" {
		return f.serverLabels(server)
	}
	return webSource(call.Card.URL)
}

// serverLabels returns the labels that the text of an MCP server sets.
func (f *Flow) serverLabels(server string) label {
	found := label{}
	if f.Trusted == nil || !f.Trusted(server) {
		found.untrusted = serverSource(server)
	}
	if slices.Contains(f.cfg.Private, mcpPrefix+server) {
		found.private = serverSource(server)
	}
	return found
}

func serverSource(name string) string { return "the MCP server " + name }

// webSource returns the label of a page; "" has no label.
func webSource(page string) label {
	if page == "" {
		return label{}
	}
	host := "the web"
	if u, err := url.Parse(page); err == nil && u.Host != "" {
		host = u.Host
	}
	return label{untrusted: "a page of " + host}
}

// resourceLabels returns the labels of a resource that the client embeds in a prompt.
func (f *Flow) resourceLabels(uri string) label {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return label{}
	case u.Scheme == "http" || u.Scheme == "https":
		return webSource(uri)
	case u.Scheme == "file":
		return f.fileLabels([]string{filepath.FromSlash(u.Path)})
	}
	return f.fileLabels([]string{filepath.FromSlash(uri)})
}

// shownFiles returns the files whose content the result of a tool may show.
func shownFiles(call *executors.Call, res executors.Result) []string {
	if call.Card.Command() != "" || call.Server() != "" || call.Spec.Is(executors.ListsFiles) {
		return nil
	}
	out := slices.Clone(call.Card.Paths)
	for _, l := range slices.Concat(call.Card.Locations, res.Locations) {
		out = append(out, l.Path)
	}
	return out
}

// sends returns the name of a call that can send data out, or "". A server that
// alone made the session private already has the data.
func (f *Flow) sends(call *executors.Call) string {
	if server := call.Server(); server != "" {
		if slices.Equal(f.labels.all().Private, []string{serverSource(server)}) {
			return ""
		}
		return serverSource(server)
	}
	if u, err := url.Parse(call.Card.URL); err != nil || u.RawQuery != "" {
		return "the query of " + call.Tool
	}
	return sendingPart(call.Card.Script)
}
