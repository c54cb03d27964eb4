package acp

import (
	"github.com/zeph-acp/zeph-acp/acp/gitpatch"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// FileChanges shows changes of files that no tool call has made, such as the changes of a rewind. Version 1 of the
// protocol has no such update.
type FileChanges struct{ Call ToolCall } // completed, under an id of its own

// NewFileChanges returns the update that shows changes under an id, which is unique in the session.
func NewFileChanges(id, title string, changes []filechange.Change) FileChanges {
	u := ToolCall{Update: UpdateToolCall, ToolCallID: id, Title: title, Kind: "edit", Status: ToolCompleted}
	for _, c := range changes {
		u.Content = append(u.Content, ChangeContent(c))
	}
	return FileChanges{u}
}

// ChangeContent returns a change as a part of a tool call.
func ChangeContent(c filechange.Change) ToolContent {
	out := ToolContent{
		Type: "diff", Path: c.Path, OldText: c.Old, NewText: c.New,
		Operation: c.Op, OldPath: c.OldPath, FileType: c.Type, OldLine: c.OldLine, NewLine: c.NewLine, Cut: c.Cut,
	}
	if c.Op == out.shownOperation() {
		out.Operation = ""
	}
	return out
}

// Change returns the change of a part of type diff.
func (c ToolContent) Change() filechange.Change {
	out := filechange.Change{
		Op: c.Operation, Path: c.Path, OldPath: c.OldPath, Type: c.FileType, Old: c.OldText, New: c.NewText,
		OldLine: c.OldLine, NewLine: c.NewLine, Cut: c.Cut,
	}
	if out.Op == "" {
		out.Op = c.shownOperation()
	}
	return out
}

// shownOperation returns the operation that a diff of version 1 shows. Such a diff has a new text, so it shows an empty
// string if it has none.
func (c ToolContent) shownOperation() string {
	switch {
	case c.NewText == nil:
		return ""
	case c.OldText == nil:
		return filechange.Add
	}
	return filechange.Modify
}

// marshalDiff writes a diff with its oldText, which is null for a new file: some clients do not show a diff without
// this member.
func (c ToolContent) marshalDiff() ([]byte, error) {
	return plainjson.Marshal(struct {
		Type      string  `json:"type"`
		Path      string  `json:"path"`
		OldText   *string `json:"oldText"`
		NewText   *string `json:"newText,omitempty"`
		Operation string  `json:"operation,omitempty"`
		OldPath   string  `json:"oldPath,omitempty"`
		FileType  string  `json:"fileType,omitempty"`
		OldLine   int     `json:"oldLine,omitempty"`
		NewLine   int     `json:"newLine,omitempty"`
		Cut       bool    `json:"cut,omitempty"`
	}{c.Type, c.Path, c.OldText, c.NewText, c.Operation, c.OldPath, c.FileType, c.OldLine, c.NewLine, c.Cut})
}

// FileParts returns the changes at the beginning of content that belong to one file: one, or all parts of a large text.
func FileParts(content []ToolContent) (parts []filechange.Change) {
	for _, c := range content {
		if c.Type != "diff" || len(parts) > 0 && (c.Path != parts[0].Path || c.OldLine == 0 || parts[0].OldLine == 0) {
			break
		}
		parts = append(parts, c.Change())
	}
	return parts
}

// maxPatch is the size of the largest patch that is sent, in bytes. Before that, the tools have shortened long content.
const maxPatch = 1 << 20

// GitPatch returns the change of one file, whose parts [FileParts] returns, as a patch of git with absolute paths. It is
// empty if there is none: for a directory, a symlink, a binary file, or a text that is not known, cut or too long.
func GitPatch(parts []filechange.Change) string {
	c := parts[0]
	f := gitpatch.File{Op: c.Op, Path: c.Path, OldPath: c.OldPath}
	needsOld, needsNew := c.Op == filechange.Modify || c.Op == filechange.Delete, c.Op == filechange.Modify || c.Op == filechange.Add
	for _, p := range parts {
		if p.Type != "" || p.Cut || needsOld && p.Old == nil || needsNew && p.New == nil {
			return ""
		}
		part := gitpatch.Part{OldLine: p.OldLine, NewLine: p.NewLine}
		if p.Old != nil {
			part.Old = *p.Old
		}
		if p.New != nil {
			part.New = *p.New
		}
		f.Parts = append(f.Parts, part)
	}
	if patch := f.Patch(); len(patch) <= maxPatch {
		return patch
	}
	return ""
}
