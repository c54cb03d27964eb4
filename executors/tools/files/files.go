// Package files offers the tools that read, change, find and search files: read,
// write, edit, edit_notebook, find_path, list_directory, create_directory, delete_path,
// move_path, copy_path, grep and search_code.
//
// Start with [New]. Each tool is written once; only the place of the contents
// of files is an [FS]: [Disk] here, or the client's buffers. Names, kinds and
// sizes of files always come from the disk.
//
// It promises that no tool reads or writes outside the session's roots or in
// zeph-acp's own files, which walks and lists leave out. A change keeps every
// other byte: encoding, byte order mark, line endings, a missing final newline. Prepare
// shows the change that Execute makes; if the file changed in between, the
// result shows the actual change. The links around the tools check permissions.
//
// Package files/walk visits directory trees; files/search finds a regex in
// texts, files/code finds and ranks definitions, files/charset decodes and encodes files.
//
// Why does Prepare return a Card with its error? A call that cannot run, such as an edit
// of text that does not occur, still names a path, and the gates check it.
//
// Why is the package larger than others? It has twelve tools. They share the
// resolution of paths, the failures and the cards, so a package for each would
// export all of these. The parts without them are the packages below it.
package files

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// FS stores the contents of files. Its paths come from
// [workspace.Roots.Resolve]; both methods may be called concurrently. An
// [*executors.Failure] as error reaches the model unchanged.
type FS interface {
	// ReadFile returns the whole text as the user sees it, unsaved changes
	// included, or the bytes of a file that is not UTF-8. The error is fs.ErrNotExist if there is no file.
	ReadFile(ctx context.Context, path string) (string, error)
	// WriteFile replaces the whole content of the file by text, or by bytes that are not UTF-8. It creates missing
	// parents and keeps the mode of an existing file.
	WriteFile(ctx context.Context, path, text string) error
	// ReadsDisk reports whether ReadFile returns the content on the disk. The
	// buffers of a client can change without a trace.
	ReadsDisk() bool
}

var (
	//go:embed read.md
	readText string
	//go:embed write.md
	writeText string
	//go:embed edit.md
	editText string
	//go:embed edit_notebook.md
	notebookText string
	//go:embed find_path.md
	findText string
	//go:embed list_directory.md
	listText string
	//go:embed create_directory.md
	createText string
	//go:embed delete_path.md
	deleteText string
	//go:embed move_path.md
	moveText string
	//go:embed copy_path.md
	copyText string
	//go:embed grep.md
	grepText string
	//go:embed search_code.md
	codeText string
)

// New returns the file tools of one session. The roots are the result of
// [Config.Roots]; fsys must have the same roots. mask masks the credentials in a text, as the model
// reads it; nil masks none.
func New(fsys FS, roots *workspace.Roots, cfg Config, mask func(string) string) executors.Registry {
	if mask == nil {
		mask = func(text string) string { return text }
	}
	const (
		reads   = executors.Reads | executors.Idempotent
		changes = executors.Reads | executors.Mutates
	)
	t := &tools{fs: fsys, roots: roots, cfg: cfg, mask: mask, budget: walk.MaxEntries}
	return executors.Registry{
		executors.Bind(tool(executors.Tool{
			Name: "read", Act: "Read", Description: readText, Effect: reads, Kind: executors.KindRead, Gain: 0.55,
			Names:  executors.Names{Claude: "Read", Gemini: "read_file read_many_files", Models: "open_file view_file view cat"},
			Traits: executors.Recommended | executors.Pages | executors.OpensFile,
		}), t.prepareRead, t.read),
		executors.Bind(tool(executors.Tool{
			Name: toolWrite, Act: "Write", Description: writeText, Effect: changes, Kind: executors.KindEdit, Gain: 0.55,
			Names: executors.Names{Claude: "Write", Gemini: "write_file", Models: "create_file write_to_file save_file"}, Traits: executors.Recommended,
		}), prepare(t, t.planWrite), execute(t, t.planWrite)),
		executors.Bind(tool(executors.Tool{
			Name: "edit", Act: "Edit", Description: editText, Effect: changes, Kind: executors.KindEdit, Gain: 0.75,
			Names: executors.Names{Claude: "Edit MultiEdit", Gemini: "replace", Models: "edit_file str_replace replace_in_file"}, Traits: executors.Recommended,
		}), prepare(t, t.planEdit), execute(t, t.planEdit)),
		executors.Bind(tool(executors.Tool{
			Name: "edit_notebook", Act: "Edit", Description: notebookText, Effect: changes, Kind: executors.KindEdit, Gain: 0.75,
			Names: executors.Names{Claude: "NotebookEdit", Models: "notebook_edit edit_cell"}, Traits: executors.Seldom,
		}), prepare(t, t.planNotebook), execute(t, t.planNotebook)),
		executors.Bind(tool(executors.Tool{
			Name: "find_path", Act: "Find", Description: findText, Effect: reads, Kind: executors.KindSearch, Gain: 0.65,
			Names:  executors.Names{Claude: "Glob", Gemini: "glob", Earlier: "glob", Models: "find_files file_search glob_files"},
			Traits: executors.Recommended | executors.Pages | executors.ListsFiles,
		}), t.prepareFind, t.find),
		executors.Bind(tool(executors.Tool{
			Name: "list_directory", Act: "List", Description: listText, Effect: reads, Kind: executors.KindRead, Gain: 0.65,
			Names:  executors.Names{Claude: "LS", Gemini: "list_directory", Models: "list_dir list_files"},
			Traits: executors.Recommended | executors.Pages | executors.ListsFiles | executors.OpensDirectory,
		}), t.prepareList, t.list),
		executors.Bind(tool(executors.Tool{
			Name: "create_directory", Act: "Create", Description: createText, Effect: changes | executors.Idempotent, Kind: executors.KindEdit, Gain: 0.75,
			Traits: executors.ListsFiles | executors.Seldom,
		}), t.prepareCreate, t.create),
		executors.Bind(tool(executors.Tool{
			Name: toolDelete, Act: "Delete", Description: deleteText, Effect: changes, Kind: executors.KindDelete, Gain: 0.75,
			Traits: executors.ListsFiles | executors.RenamesFiles | executors.Seldom,
		}), t.prepareDelete, t.delete),
		executors.Bind(tool(executors.Tool{
			Name: "move_path", Act: "Move", Description: moveText, Effect: changes, Kind: executors.KindMove, Gain: 0.75,
			Subject: executors.Path("source"), Traits: executors.RenamesFiles | executors.Seldom,
		}), t.prepareMove, t.move),
		executors.Bind(tool(executors.Tool{
			Name: "copy_path", Description: copyText, Effect: changes, Kind: executors.KindEdit, Gain: 0.75,
			Subject: executors.Path("source"), Traits: executors.RenamesFiles | executors.Seldom,
		}), t.prepareCopy, t.copy),
		executors.Bind(tool(executors.Tool{
			Name: toolGrep, Act: "Search for", Description: grepText, Effect: reads, Kind: executors.KindSearch, Gain: 0.65,
			Names:  executors.Names{Claude: "Grep", Gemini: "grep_search search_file_content", Models: "search_files ripgrep"},
			Traits: executors.Recommended | executors.Pages,
		}), t.prepareGrep, t.grep),
		executors.Bind(tool(executors.Tool{
			Name: "search_code", Act: "Search for", Description: codeText, Effect: reads, Kind: executors.KindSearch, Gain: 0.65,
			Names: executors.Names{Claude: "Grep", Gemini: "grep_search search_file_content"}, Shows: toolGrep,
		}), t.prepareSearchCode, t.searchCode),
	}.Limited(cfg.MaxOutputChars)
}

const (
	toolWrite  = "write"
	toolDelete = "delete_path"
	toolGrep   = "grep"
)

// Put returns the call that writes the text of a file, or deletes the file if the text is nil.
func Put(path string, text *string) (tool string, input map[string]string) {
	if text == nil {
		return toolDelete, map[string]string{"path": path}
	}
	return toolWrite, map[string]string{"path": path, "content": *text}
}

// tool completes the description of a file tool.
func tool(t executors.Tool) executors.Tool {
	t.Description = strings.TrimSpace(t.Description)
	if t.Subject.Of == executors.OtherSubject {
		t.Subject = executors.Path("path")
	}
	return t
}

// tools is the state that the tools of one session share.
type tools struct {
	fs     FS
	roots  *workspace.Roots // for reading
	cfg    Config
	mask   func(string) string
	budget int // entries that one walk may visit
}

// target is a resolved path of a call.
type target struct {
	abs     string // as Resolve returned it
	display string // for messages and titles: relative to the cwd if possible, one line
	client  string // absolute, as the client spells it
}

func (t *tools) target(path string) (target, error) {
	return t.resolveTarget("path", path, t.roots.Resolve)
}

// resolveTarget returns the target of a parameter's value, resolved by the given
// function.
func (t *tools) resolveTarget(parameter, path string, resolve func(string) (string, error)) (target, error) {
	abs, err := resolve(path)
	if err != nil {
		if f := refused(err); f != nil {
			return target{}, f
		}
		return target{}, executors.Failuref(executors.InvalidParameters, "%s: %v", parameter, err)
	}
	return t.targetAt(abs), nil
}

func (t *tools) targetAt(abs string) target {
	return target{abs: abs, display: executors.OneLine(t.roots.Rel(abs)), client: t.roots.AsGiven(abs)}
}

// refusedCard returns the card of a call whose path or pattern is refused. It is
// empty if the call named no path or pattern.
func refusedCard(kind executors.Kind, asked string) executors.Card {
	if asked == "" {
		return executors.Card{}
	}
	return executors.Card{Title: titled(asked), Kind: kind}
}

// titled returns a name for a title, on one line. A title does not repeat the
// kind of the call: clients show both.
func titled(name string) string { return executors.Titled(executors.OneLine(name)) }

// title returns the target's path as a title.
func (tg target) title() string { return executors.Titled(tg.display) }

// directoryTitle is title with a slash at the end.
func (tg target) directoryTitle() string {
	return executors.Titled(strings.TrimSuffix(tg.display, "/") + "/")
}

// refused returns the failure for a path that no tool may use, nil for any other
// error.
func refused(err error) *executors.Failure {
	if outside, ok := errors.AsType[*workspace.OutsideError](err); ok {
		return executors.Failuref(executors.PolicyBlocked, "%v", outside).
			ForUser("%v. The key tools.file.allowed_paths can allow it.", outside).
			Hint("Use a path inside them, or ask the user to open that directory too (tools.file.allowed_paths).")
	}
	if private, ok := errors.AsType[*workspace.AgentFileError](err); ok {
		return executors.Failuref(executors.PolicyBlocked, "%v", private).
			Hint("Do not try another way. The user changes these files, with zeph-acp's own commands or in the editor.")
	}
	if denied, ok := errors.AsType[*workspace.DeniedError](err); ok {
		return executors.Failuref(executors.PolicyBlocked, "%v", denied).
			Hint("Do not try another way. Continue without it, or ask the user.")
	}
	return nil
}

// load reads the content of tg through FS, if tg is a regular file or not on
// the disk. Pass its error to explain.
func (t *tools) load(ctx context.Context, tg target) (fileText, error) {
	info, err := t.roots.Lstat(tg.abs)
	return t.loadStatted(ctx, stattedTarget{tg, info, err})
}

// stattedTarget is a target with the result of its Lstat.
type stattedTarget struct {
	target
	info fs.FileInfo
	err  error
}

// isFile reports whether there was a regular file.
func (f stattedTarget) isFile() bool { return f.err == nil && f.info.Mode().IsRegular() }

// loadStatted is load for a target whose state is known.
func (t *tools) loadStatted(ctx context.Context, at stattedTarget) (fileText, error) {
	switch {
	case errors.Is(at.err, fs.ErrNotExist): // it may still be a new buffer of the client
	case at.err != nil:
		return fileText{}, at.err
	case at.info.IsDir():
		return fileText{}, executors.Failuref(executors.PermanentFailure, "%s is a directory, not a file", at.display).
			Hint("Use list_directory to list it.")
	case !at.isFile():
		return fileText{}, &workspace.IrregularError{Path: at.display, Mode: at.info.Mode()}
	}
	content, err := t.fs.ReadFile(ctx, at.abs)
	if err != nil {
		return fileText{}, err
	}
	return decode(at.abs, content, newDeclarations(t.roots)), nil
}

// explain turns an error of the disk or the client into a Failure that names
// the file.
func (t *tools) explain(err error, verb string, tg target) error {
	if failure, ok := errors.AsType[*executors.Failure](err); ok {
		return failure
	}
	if _, ok := errors.AsType[*workspace.AgentFileError](err); ok {
		err = &workspace.AgentFileError{Path: tg.display}
	}
	if denied, ok := errors.AsType[*workspace.DeniedError](err); ok {
		err = &workspace.DeniedError{Path: tg.display, Pattern: denied.Pattern}
	}
	if f := refused(err); f != nil {
		return f
	}
	if odd, ok := errors.AsType[*workspace.IrregularError](err); ok {
		return executors.Failuref(executors.PermanentFailure, "%s is %s, not a text file", tg.display, workspace.Describe(odd.Mode))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return t.missing(tg)
	}
	return executors.Failuref(executors.PermanentFailure, "%s %s: %v", verb, tg.display, workspace.Cause(err))
}

// fail returns a failed Result for err; for a cancelled call it returns the cause
// as the error.
func fail(ctx context.Context, err error) (executors.Result, error) {
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	return executors.FailWith(err), nil
}
