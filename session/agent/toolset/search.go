package toolset

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/rank"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// searchName is the name of the tool that finds the tools that are left out.
const searchName = "tool_search"

//go:embed tool_search.md
var searchText string

const (
	// maxShare is the share of the model's window from which the tools of MCP servers
	// are left out, as its reciprocal.
	maxShare = 10
	// maxOwnShare is the share of the window that all offered tools may take, and roomShare the share for which some stay if
	// they take more, as reciprocals.
	maxOwnShare, roomShare = 4, 5
	// unknownWindow counts as the window of a model with an unknown one, in tokens.
	unknownWindow = 32 << 10
	// maxListed bounds the list of servers with their tools, in bytes.
	maxListed = 1200
	// minSeldom is the size of our own seldom tools from which they are left out, in bytes of
	// their descriptions and schemas. Tool_search takes 400 of them, and a model that looks for a
	// tool sends the conversation once more, so a few seldom tools are cheaper to offer.
	minSeldom = 900
	// maxFound is the number of tools that one search adds.
	maxFound = 10
	// minFit is the least score of a tool that a search adds, as a share of the best one.
	minFit = 0.3
	// maxSummary bounds the description of a found tool, in characters.
	maxSummary = 160
)

// serverOf returns the name of the MCP server that a tool belongs to; "" if it is one of
// ours.
func serverOf(tool string) string {
	name, _, ok := strings.Cut(tool, "__")
	if !ok {
		return ""
	}
	return name
}

// leftOut says which tools are left out until tool_search finds them.
type leftOut struct {
	servers, seldom bool     // the tools of MCP servers; our own that few tasks need
	beyond          []string // other tools of our own, for which a small window has no room
}

func (l leftOut) any() bool { return l.servers || l.seldom || len(l.beyond) > 0 }

// has reports whether a tool is left out.
func (l leftOut) has(t llm.Tool) bool {
	if serverOf(t.Name) != "" {
		return l.servers
	}
	return l.seldom && t.Seldom || slices.Contains(l.beyond, t.Name)
}

// split divides tools into those that are offered, without tool_search, and the others.
func (l leftOut) split(tools []llm.Tool) (offered, out []llm.Tool) {
	for _, t := range tools {
		switch {
		case l.has(t):
			out = append(out, t)
		case t.Name != searchName:
			offered = append(offered, t)
		}
	}
	return offered, out
}

// manySeldom reports whether leaving out the seldom tools among our own saves tokens.
func manySeldom(tools []llm.Tool) bool {
	size := 0
	for _, t := range tools {
		if t.Seldom && serverOf(t.Name) == "" {
			size += len(t.Name) + len(t.Description) + len(t.Schema)
		}
	}
	return size >= minSeldom
}

// tooManyOfServers reports whether the tools of MCP servers need too much of the window:
// all tools would take more than a tenth of it, and the list of their names takes less.
func tooManyOfServers(m llm.Model, tools []llm.Tool) bool {
	all := llm.BaseTokens(m.Name(), "", "", tools)
	if all*maxShare <= cmp.Or(m.Window(), unknownWindow) {
		return false
	}
	own := 0
	for i, t := range tools {
		if serverOf(t.Name) == "" {
			own += llm.Tokens(m.Name(), llm.Request{Tools: tools[i : i+1]})
		}
	}
	return all-own > llm.BytesTokens(2*maxListed)
}

// beyondRoom returns the names of the tools for which a small window has no room: where all that are offered would take more than a quarter
// of it, the first ones stay that take a fifth.
func beyondRoom(m llm.Model, left leftOut, tools []llm.Tool) (names []string) {
	window := m.Window()
	fits := func(tools []llm.Tool) bool { return llm.BaseTokens(m.Name(), "", "", tools)*maxOwnShare <= window }
	if window == 0 || fits(tools) {
		return nil
	}
	offered, _ := left.split(tools)
	if fits(offered) {
		return nil
	}
	room := window / roomShare
	for i, t := range offered {
		n := llm.Tokens(m.Name(), llm.Request{Tools: offered[i : i+1]})
		if n > room {
			names = append(names, t.Name)
			continue
		}
		room -= n
	}
	return names
}

// withSearch returns the tools with tool_search inserted before those that are left out; the
// caller holds mu. The description of tool_search changes only if a server or one of our own
// tools joins or leaves, so that the provider's cache stays valid.
func (s *Set) withSearch(left leftOut, tools []llm.Tool) []llm.Tool {
	offered, out := left.split(tools)
	var listed []string
	for _, t := range out {
		if name := cmp.Or(serverOf(t.Name), t.Name); !slices.Contains(listed, name) {
			listed = append(listed, name)
		}
	}
	if !slices.Equal(listed, s.searchable) {
		s.searchable, s.searchTool = listed, s.searchRegistry().Tools()[0]
		s.searchTool.Description = strings.TrimSpace(searchText) + "\n" + list(out)
	}
	t := s.searchTool
	return slices.Concat(offered, []llm.Tool{{Name: t.Name, Description: t.Description, Schema: t.Schema}}, out)
}

// list returns a line with the names of our own tools, and one for each server with the names of
// its tools, as many as fit.
func list(tools []llm.Tool) string {
	var b strings.Builder
	var own, servers []string
	for _, t := range tools {
		switch name := serverOf(t.Name); {
		case name == "":
			own = append(own, t.Name)
		case !slices.Contains(servers, name):
			servers = append(servers, name)
		}
	}
	if len(own) > 0 {
		b.WriteString("- " + strings.Join(own, ", ") + "\n")
	}
	each := maxListed / max(len(servers), 1)
	for i, name := range servers {
		line := describeServer(name, tools, each)
		if b.Len()+len(line) > maxListed {
			fmt.Fprintf(&b, "- and %s\n", quantity.Count(len(servers)-i, "more server"))
			break
		}
		b.WriteString(line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// describeServer returns the line of one server, of that many bytes if possible.
func describeServer(name string, tools []llm.Tool, size int) string {
	var names []string
	for _, t := range tools {
		if rest, ok := strings.CutPrefix(t.Name, name+"__"); ok {
			names = append(names, rest)
		}
	}
	line := fmt.Sprintf("- %s (%s)", name, quantity.Count(len(names), "tool"))
	for i, n := range names {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		if len(line)+len(sep)+len(n)+len(", …\n") > size {
			if i > 0 {
				line += ", …"
			}
			break
		}
		line += sep + n
	}
	return line + "\n"
}

// pickDeferred picks the tools that are not left out, and those of the others that the
// conversation needs; the caller holds mu.
func (s *Set) pickDeferred(t *turn, prompt string, used map[string]bool) {
	t.picked, t.filtered = make(map[string]Reason, len(t.all)), true
	prompt = strings.ToLower(prompt[:min(len(prompt), maxPrompt)])
	for _, tool := range t.all {
		switch name := tool.Name; {
		case !t.left.has(tool):
			t.picked[name] = Unfiltered
		case slices.Contains(s.cfg.Filter.AlwaysOn, name) && !slices.Contains(t.left.beyond, name): // always_on names more than a small window holds
			t.picked[name] = AlwaysOn
		case strings.Contains(prompt, strings.ToLower(name)):
			t.picked[name] = NameMentioned
		case used[name]:
			t.picked[name] = AlreadyUsed
		case s.found[name]:
			t.picked[name] = Found
		}
	}
}

// continuePrevious offers the tools of the previous prompt again, in their order. New ones
// come after them. The caller holds mu.
func (s *Set) continuePrevious(before *turn) {
	t := &s.turn
	now, then := byName(t.all), byName(before.all)
	for _, tool := range before.offered {
		current, ok := now[tool.Name]
		if !ok || s.isHidden(t, tool.Name) {
			continue
		}
		if !current.Same(then[tool.Name]) {
			tool = s.forModel(current)
		}
		t.offered = append(t.offered, tool)
		t.reasons[tool.Name] = cmp.Or(t.picked[tool.Name], Kept)
	}
}

func byName(tools []llm.Tool) map[string]llm.Tool {
	out := make(map[string]llm.Tool, len(tools))
	for _, t := range tools {
		out[t.Name] = t
	}
	return out
}

// Search returns the executor of tool_search. The tool exists only while tools are left out.
func (s *Set) Search() executors.Executor { return searcher{s.searchRegistry(), s} }

type searcher struct {
	executors.Registry
	set *Set
}

// Tools lists tool_search if it is needed.
func (s searcher) Tools() []executors.Tool {
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	if !s.set.turn.left.any() {
		return nil
	}
	return []executors.Tool{s.set.searchTool}
}

type searchInput struct {
	Query string `json:"query"`
}

// searchRegistry returns tool_search, whose description withSearch completes.
func (s *Set) searchRegistry() executors.Registry {
	return executors.Registry{executors.Bind(
		executors.Tool{Name: searchName, Effect: executors.Internal | executors.Idempotent, Kind: executors.KindSearch},
		func(_ context.Context, _ *executors.Call, in *searchInput) (executors.Card, error) {
			return executors.Card{Title: fmt.Sprintf("Search the tools for %q", in.Query), Kind: executors.KindSearch}, nil
		},
		func(_ context.Context, _ *executors.Call, in *searchInput) (executors.Result, error) {
			return executors.Result{Text: s.searchTools(in.Query)}, nil
		},
	)}
}

// searchTools offers the tools that fit a query from the next call of the model on, and
// returns a line for each.
func (s *Set) searchTools(query string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, tools := s.turn.left.split(s.turn.all)
	best, more := s.bestMatches(query, tools)
	if len(best) == 0 {
		return fmt.Sprintf("No tool fits %q. Try other words, or the name of a server:\n%s", query, list(tools))
	}
	var b strings.Builder
	b.WriteString("These tools are offered from now on:\n")
	for _, t := range best {
		s.found[t.Name] = true
		fmt.Fprintf(&b, "- %s: %s\n", t.Name, summary(t.Description))
	}
	if more > 0 {
		fmt.Fprintf(&b, "%s would fit too; narrow the query to find others.\n", quantity.Count(more, "tool"))
	}
	return b.String()
}

// bestMatches returns the tools that fit a query best, and the number of others that fit;
// the caller holds mu.
func (s *Set) bestMatches(query string, tools []llm.Tool) (best []llm.Tool, more int) {
	scores := s.catalogue.score(query, tools)
	rank.Cut(scores, 0, minFit)
	lower := strings.ToLower(query)
	order := make([]int, len(tools))
	for i, t := range tools {
		order[i] = i
		if strings.Contains(lower, strings.ToLower(t.Name)) {
			scores[i] += 2 // the query names it
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, i := range order {
		switch {
		case scores[i] == 0:
		case len(best) < maxFound:
			best = append(best, tools[i])
		default:
			more++
		}
	}
	return best, more
}

// catalogue is the index of tools.
type catalogue struct {
	tools []llm.Tool
	index *rank.Index
}

// nameWeight is the weight of a word of a tool's name. The others have 1.
const nameWeight = 3

// score returns how well each tool fits a query.
func (c *catalogue) score(query string, tools []llm.Tool) []float64 {
	if c.index == nil || !sameTools(c.tools, tools) {
		documents := make([][]rank.Text, len(tools))
		for i, t := range tools {
			documents[i] = []rank.Text{{Text: t.Name, Weight: nameWeight}, {Text: t.Description, Weight: 1}}
			for _, p := range parameters(t) {
				documents[i] = append(documents[i], rank.Text{Text: p, Weight: 1})
			}
		}
		*c = catalogue{slices.Clone(tools), rank.New(documents)}
	}
	return c.index.Score(rank.Words(query))
}

// summary returns a description on one line, bounded.
func summary(description string) string {
	return line.TruncateRunes(line.Join(description), maxSummary)
}

// checkOffered returns the failure of a model's call while tools are left out, if the
// model has not been offered the tool; the caller holds mu. A tool that exists is then
// offered. One of ours runs.
func (s *Set) checkOffered(call *executors.Call) error {
	t := &s.turn
	if _, offered := t.reasons[call.Tool]; !t.left.any() || offered {
		return nil
	}
	_, ok := byName(t.all)[call.Tool]
	if ok && serverOf(call.Tool) == "" || !ok && !t.left.servers {
		return nil
	}
	if !ok {
		return executors.Failuref(executors.ToolNotFound, "no tool %q", call.Tool).
			Hint("Use a tool that you are offered, or find one with %s.", searchName)
	}
	s.found[call.Tool] = true
	return executors.Failuref(executors.ToolNotFound, "%s was called before it was offered, so its parameters were a guess", call.Tool).
		Hint("It is offered now: call it again with its parameters. Use %s to find other tools.", searchName)
}
