package infoflow

import (
	"net/url"
	"path/filepath"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors"
)

// mcpPrefix marks an MCP server among the patterns.
const mcpPrefix = "mcp:"

// content returns the labels that a call sets by its origin: a page or a server.
func (f *Flow) content(call *executors.Call) label {
	if server := call.Server(); server != "" {
		return f.serverContent(server)
	}
	return webSource(call.Card.URL)
}

// serverContent returns the labels that the text of an MCP server sets.
func (f *Flow) serverContent(server string) label {
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

// resource returns the labels of a resource that the client embeds in a prompt.
func (f *Flow) resource(uri string) label {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return label{}
	case u.Scheme == "http" || u.Scheme == "https":
		return webSource(uri)
	case u.Scheme == "file":
		return f.files([]string{filepath.FromSlash(u.Path)})
	}
	return f.files([]string{filepath.FromSlash(uri)})
}

// shown returns the files whose content the result of a tool may show.
func shown(call *executors.Call, res executors.Result) []string {
	if call.Card.Command != "" || call.Server() != "" || listers[call.Tool] {
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
func (f *Flow) sends(call *executors.Call, s *script) string {
	if server := call.Server(); server != "" {
		if slices.Equal(f.labels.all().Private, []string{serverSource(server)}) {
			return ""
		}
		return serverSource(server)
	}
	if u, err := url.Parse(call.Card.URL); err != nil || u.RawQuery != "" {
		return "the query of " + call.Tool
	}
	return s.sends()
}
