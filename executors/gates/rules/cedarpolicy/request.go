package cedarpolicy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules/target"
)

// request is one request about one resource.
type request struct {
	cedar.Request
	entities   cedar.EntityMap
	forbidOnly bool // it needs no permit; a forbid counts
	tree       bool // the resource is a directory, and the call concerns everything below it
}

// The types of files.
const (
	fileType      = "File"
	directoryType = "Directory"
)

// requests returns one request for each resource of a call. A call without any
// resource is about its tool.
func requests(call *executors.Call, t target.Targets, s rules.Subject) []request {
	b := &builder{session: s, seen: map[requestKey]bool{}}
	b.base(call)
	for _, p := range t.Parts {
		if p.Command != nil {
			b.command(p)
		}
		for _, f := range p.Files {
			b.file(f, p.Guess())
		}
		for _, u := range p.URLs {
			b.host(u, p.Guess())
		}
	}
	if t.Unknown != "" {
		b.add(resource{Entity: cedar.Entity{UID: cedar.NewEntityUID("Unknown", cedar.String(t.Unknown))}})
	}
	if len(b.out) == 0 {
		b.add(resource{Entity: cedar.Entity{UID: cedar.NewEntityUID("Tool", cedar.String(call.Tool))}})
	}
	return b.out
}

// builder makes the requests of one call.
type builder struct {
	session   rules.Subject
	principal cedar.Entity
	action    cedar.EntityUID
	context   cedar.Record
	seen      map[requestKey]bool
	out       []request
}

// base sets the parts that all requests have.
func (b *builder) base(call *executors.Call) {
	parents := []cedar.EntityUID{}
	for id := call.Caller; strings.Contains(id, "/"); { // a sub-agent belongs to the one that started it
		id = id[:strings.LastIndexByte(id, '/')]
		parents = append(parents, cedar.NewEntityUID("Caller", cedar.String(id)))
	}
	b.principal = cedar.Entity{
		UID: cedar.NewEntityUID("Caller", cedar.String(call.Caller)), Parents: cedar.NewEntityUIDSet(parents...),
		Attributes: cedar.NewRecord(cedar.RecordMap{"sub_agent": cedar.Boolean(len(parents) > 0)}),
	}
	b.action = cedar.NewEntityUID("Action", cedar.String(call.Tool))
	b.context = cedar.NewRecord(cedar.RecordMap{
		"input": inputRecord(call.Input),
		"session": cedar.NewRecord(cedar.RecordMap{
			"id": cedar.String(call.Session), "cwd": cedar.String(b.session.Cwd), "trust": cedar.String(b.session.Level),
			"origin": cedar.String(call.Origin.String()), "phase": cedar.String(call.Phase.String()),
		}),
		"tool": cedar.NewRecord(cedar.RecordMap{
			"kind": cedar.String(cmp.Or(call.Card.Kind, call.Spec.Kind)), "server": cedar.String(call.Server()),
			"read_only": cedar.Boolean(call.Spec.Effect.ReadOnly()),
		}),
	})
}

// resource is a resource of the call.
type resource struct {
	cedar.Entity
	forbidOnly bool // see request
	tree       bool // see request
}

// add adds a request about a resource, unless there is one that is as strict.
func (b *builder) add(r resource) {
	key := requestKey{r.UID, r.tree}
	if b.seen[key] {
		return
	}
	b.seen[key] = !r.forbidOnly
	b.out = append(b.out, request{
		Request:  cedar.Request{Principal: b.principal.UID, Action: b.action, Resource: r.UID, Context: b.context},
		entities: cedar.EntityMap{b.principal.UID: b.principal, r.UID: r.Entity}, forbidOnly: r.forbidOnly, tree: r.tree,
	})
}

// requestKey identifies a request of one call.
type requestKey struct {
	resource cedar.EntityUID
	tree     bool
}

func (b *builder) command(p target.Part) {
	c := p.Command
	words := make([]cedar.Value, 0, len(c.Words))
	for _, w := range c.Args() {
		words = append(words, cedar.String(w.Text))
	}
	sub, _ := c.Subcommand()
	dir := ""
	if len(c.Dirs) > 0 {
		dir = c.Dirs[0]
	}
	b.add(resource{forbidOnly: p.Guess(), Entity: cedar.Entity{
		UID: cedar.NewEntityUID("Command", cedar.String(c.Text())),
		Attributes: cedar.NewRecord(cedar.RecordMap{
			"program": cedar.String(c.Program()), "subcommand": cedar.String(sub), "args": cedar.NewSet(words...),
			"text": cedar.String(c.Text()), "dir": cedar.String(dir), "read_only": cedar.Boolean(c.ReadOnly()),
		}),
	}})
}

// file adds the places of a file, and the names by which the call reaches them.
func (b *builder) file(f target.File, guess bool) {
	for _, place := range f.Places {
		b.add(resource{b.fileEntity(place, f.Below), guess, f.Below})
	}
	for _, name := range f.Names {
		if !slices.Contains(f.Places, name) {
			b.add(resource{Entity: b.fileEntity(name, f.Below), forbidOnly: true})
		}
	}
}

func (b *builder) fileEntity(place string, below bool) cedar.Entity {
	slash := filepath.ToSlash(place)
	var dirs []cedar.EntityUID
	inside := false
	for dir := slash; ; dir = path.Dir(dir) {
		if dir != slash || below {
			dirs = append(dirs, cedar.NewEntityUID(directoryType, cedar.String(dir)))
		}
		inside = inside || slices.Contains(b.session.Roots, filepath.FromSlash(dir))
		if dir == path.Dir(dir) {
			break
		}
	}
	return cedar.Entity{
		UID: cedar.NewEntityUID(fileType, cedar.String(slash)), Parents: cedar.NewEntityUIDSet(dirs...),
		Attributes: cedar.NewRecord(cedar.RecordMap{
			"path": cedar.String(slash), "name": cedar.String(path.Base(slash)), "extension": cedar.String(path.Ext(slash)),
			"workspace": cedar.Boolean(inside), "tree": cedar.Boolean(below),
		}),
	}
}

func (b *builder) host(u target.URL, guess bool) {
	var domains []cedar.EntityUID
	for domain := u.Host; domain != ""; _, domain, _ = strings.Cut(domain, ".") {
		domains = append(domains, cedar.NewEntityUID("Domain", cedar.String(domain)))
	}
	b.add(resource{forbidOnly: guess, Entity: cedar.Entity{
		// The address is part of the id: two paths of one host are two resources.
		UID: cedar.NewEntityUID("Host", cedar.String(u.Text)), Parents: cedar.NewEntityUIDSet(domains...),
		Attributes: cedar.NewRecord(cedar.RecordMap{
			"host": cedar.String(u.Host), "port": cedar.String(u.Port), "scheme": cedar.String(u.Scheme),
			"path": cedar.String(u.Path), "url": cedar.String(u.Text),
		}),
	}})
}

// inputRecord returns the input as a record. Members with null are left out.
func inputRecord(input json.RawMessage) cedar.Record {
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil {
		return cedar.NewRecord(nil)
	}
	r, _ := value(v).(cedar.Record)
	return r
}

// value returns a JSON value in Cedar; nil for null. Cedar has no floating point:
// other numbers than integers become decimals, or texts if they do not fit.
func value(v any) cedar.Value {
	switch v := v.(type) {
	case string:
		return cedar.String(v)
	case bool:
		return cedar.Boolean(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return cedar.Long(n)
		}
		if d, err := types.ParseDecimal(v.String()); err == nil {
			return d
		}
		return cedar.String(v.String())
	case []any:
		var items []cedar.Value
		for _, item := range v {
			if x := value(item); x != nil {
				items = append(items, x)
			}
		}
		return cedar.NewSet(items...)
	case map[string]any:
		m := cedar.RecordMap{}
		for key, item := range v {
			if x := value(item); x != nil {
				m[cedar.String(key)] = x
			}
		}
		return cedar.NewRecord(m)
	}
	return nil
}
