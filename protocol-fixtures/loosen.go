package fixtures

import (
	"path/filepath"
	"slices"
	"strings"
)

// loosen replaces the values that differ between runs or machines by "$ANY" or a
// name: the times of sessions, the environment of a terminal and the model. before is
// the fixture's old line, nil if it had none.
func (n *node) loosen(names *names, before *node) {
	params := n.at("params")
	if method, _ := n.at("method").text(); method == "terminal/create" && before.at("params").at("env") == nil {
		params.at("env").setAny()
	}
	if kind, _ := params.at("update").at("sessionUpdate").text(); kind == "session_info_update" {
		params.at("update").at("updatedAt").setAnyTime(names)
	}
	if sessions := n.at("result").at("sessions"); sessions != nil {
		for _, s := range sessions.items {
			s.at("updatedAt").setAnyTime(names)
		}
	}
	for _, of := range []*node{n.at("result"), params.at("update")} {
		options := of.at("configOptions")
		if options == nil {
			continue
		}
		for _, o := range options.items {
			if category, _ := o.at("category").text(); category != "model" {
				continue
			}
			if model, ok := o.at("currentValue").text(); ok && names.nameModel(model) {
				o.at("options").setAny()
			}
		}
	}
}

// at is member, which may be called on nil.
func (n *node) at(key string) *node {
	if n == nil {
		return nil
	}
	return n.member(key)
}

// setAny replaces the value by "$ANY"; n may be nil.
func (n *node) setAny() {
	if n != nil {
		*n = node{raw: `"$ANY"`, fixed: true}
	}
}

// setAnyTime replaces a time that has no name.
func (n *node) setAnyTime(names *names) {
	if s, ok := n.text(); ok && names.byValue[s] == "" {
		n.setAny()
	}
}

// nameModel replaces a model by its name if it differs between runs, and reports whether
// it did.
func (n *names) nameModel(value string) bool {
	if n.differs != nil && n.differs(value) && !slices.Contains(n.models, value) {
		if n.byValue[value] == "" {
			n.nameAs("MODEL", value)
		}
		n.models = append(n.models, value)
		if _, path, _ := strings.Cut(value, ":"); filepath.IsAbs(path) {
			n.runPaths = append(n.runPaths, path)
		}
	}
	return slices.Contains(n.models, value)
}

// hasRunPath reports whether a text has a path that exists in this run only.
func (n *names) hasRunPath(text string) bool {
	return slices.ContainsFunc(n.runPaths, func(p string) bool { return strings.Contains(text, p) })
}
