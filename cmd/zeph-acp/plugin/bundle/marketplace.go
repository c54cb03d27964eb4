package bundle

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// marketplaceFiles are the names of a file that lists plug-ins, in order of precedence.
var marketplaceFiles = []string{".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json", ".codex-plugin/marketplace.json"}

// maxMarketplace limits such a file, in bytes.
const maxMarketplace = 8 << 20

// Marketplace is a list of plug-ins.
type Marketplace struct {
	Name    string
	Plugins []Listed
}

// Listed is an entry of a Marketplace.
type Listed struct {
	Name        string
	Description string
	Sub         string // its folder in the marketplace; or a source
	Source      Source // elsewhere
	Unusable    string // why it cannot be added; "" if it can

	raw json.RawMessage // the entry, which is the manifest of a folder without one
}

// Marketplace reads the list of plug-ins in the folder; nil if it has none.
func (f *Folder) Marketplace(ctx context.Context) (*Marketplace, error) {
	for _, name := range marketplaceFiles {
		data, err := f.File(ctx, name, maxMarketplace)
		if err != nil {
			return nil, err
		}
		if data != nil {
			return parseMarketplace(name, data)
		}
	}
	return nil, nil
}

// parseMarketplace parses a list of plug-ins.
func parseMarketplace(name string, data []byte) (*Marketplace, error) {
	var file struct {
		Name     string `json:"name"`
		Metadata struct {
			Root string `json:"pluginRoot"`
		} `json:"metadata"`
		Plugins []json.RawMessage `json:"plugins"`
	}
	if err := Decode(name, data, &file); err != nil {
		return nil, err
	}
	m := &Marketplace{Name: file.Name}
	for i, raw := range file.Plugins {
		var e struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Source      json.RawMessage `json:"source"`
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("%s: plugins[%d]: %w", name, i, err)
		}
		l := Listed{Name: e.Name, Description: e.Description, raw: raw}
		if err := l.locate(e.Source, file.Metadata.Root); err != nil {
			l.Unusable = err.Error()
		}
		m.Plugins = append(m.Plugins, l)
	}
	return m, nil
}

// locate sets the place of an entry from its member source.
func (l *Listed) locate(raw json.RawMessage, root string) error {
	var local string
	if json.Unmarshal(raw, &local) == nil {
		return l.inside(path.Join(root, local))
	}
	var s struct {
		Source string `json:"source"`
		Repo   string `json:"repo"`
		URL    string `json:"url"`
		Path   string `json:"path"`
		Ref    string `json:"ref"`
		SHA    string `json:"sha"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("its source cannot be read: %w", err)
	}
	address := s.URL
	switch s.Source {
	case "local":
		return l.inside(path.Join(root, s.Path))
	case "github":
		if !shorthand.MatchString(s.Repo) {
			return fmt.Errorf("its source names no repository: %s", executors.OneLine(executors.Shown(s.Repo)))
		}
		address = "https://github.com/" + s.Repo
	case "url", "git-subdir", "git":
		if strings.HasPrefix(address, "./") || address == "." {
			return l.inside(path.Join(root, address, s.Path))
		}
		if shorthand.MatchString(address) {
			address = "https://github.com/" + address
		}
	default:
		return fmt.Errorf("its source %q is not supported; folders and git repositories are", s.Source)
	}
	ref := s.SHA
	if ref == "" {
		ref = s.Ref
	}
	sub, err := cleanPath(s.Path)
	if err != nil {
		return err
	}
	l.Source = Source{URL: address, Ref: ref, Sub: sub}
	return l.Source.check()
}

// inside sets a folder of the marketplace as the place.
func (l *Listed) inside(folder string) (err error) {
	l.Sub, err = cleanPath(folder)
	return err
}

// find returns the entry of that name.
func (m *Marketplace) find(name string) (Listed, error) {
	var names []string
	for _, l := range m.Plugins {
		if l.Name == name {
			if l.Unusable != "" {
				return l, fmt.Errorf("%s cannot be added: %s", executors.OneLine(name), l.Unusable)
			}
			return l, nil
		}
		names = append(names, executors.OneLine(l.Name))
	}
	const shown = 20
	if len(names) > shown {
		names = append(names[:shown], "…")
	}
	return Listed{}, fmt.Errorf("the marketplace has no plug-in %s; it has %s", executors.OneLine(executors.Shown(name)), strings.Join(names, ", "))
}

// ChoiceError reports that a source is a marketplace, and no plug-in of it was named.
type ChoiceError struct{ Marketplace *Marketplace }

func (e *ChoiceError) Error() string {
	return "this is a marketplace: name one of its plug-ins after the address"
}

// Fetch reads the plug-in of a source. If the source is a marketplace, name is one of its plug-ins;
// without a name the error is a *ChoiceError.
func Fetch(ctx context.Context, open func(context.Context, Source) (*Folder, error), s Source, name string) (*Plugin, error) {
	f, err := open(ctx, s)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := f.Marketplace(ctx)
	if err != nil {
		return nil, err
	}
	if name == "" {
		hasManifest, err := f.hasManifest(ctx)
		if err != nil {
			return nil, err
		}
		if m != nil && !hasManifest {
			return nil, &ChoiceError{m}
		}
		return f.plugin(ctx, ".", nil)
	}
	if m == nil {
		return nil, fmt.Errorf("%s is not a marketplace, so it has no plug-in %s", s, executors.OneLine(executors.Shown(name)))
	}
	listed, err := m.find(name)
	if err != nil {
		return nil, err
	}
	if listed.Source.URL == "" {
		return f.plugin(ctx, listed.Sub, &listed)
	}
	elsewhere, err := open(ctx, listed.Source)
	if err != nil {
		return nil, err
	}
	defer elsewhere.Close()
	return elsewhere.plugin(ctx, ".", &listed)
}

// hasManifest reports whether the folder itself is a plug-in with a manifest.
func (f *Folder) hasManifest(ctx context.Context) (bool, error) {
	for _, form := range forms {
		data, err := f.File(ctx, form.file, maxManifest)
		if data != nil || err != nil {
			return data != nil, err
		}
	}
	return false, nil
}

// plugin reads the plug-in in a folder. A folder without a manifest gets its entry in the marketplace instead.
func (f *Folder) plugin(ctx context.Context, sub string, listed *Listed) (*Plugin, error) {
	tree, err := f.Tree(ctx, sub)
	if err != nil {
		return nil, err
	}
	from := f.Source
	from.Sub = path.Join(from.Sub, sub)
	name := from.baseName()
	if listed != nil {
		name = listed.Name
		if !hasManifest(tree) {
			tree[forms[0].file] = File{Data: listed.raw}
		}
	}
	p, err := Parse(tree, name)
	if err != nil {
		return nil, err
	}
	p.From, p.Commit = from, f.Commit
	return p, nil
}
