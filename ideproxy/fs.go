package ideproxy

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// FS reads and writes through the buffers of the client; it is a files.FS.
type FS struct {
	Client  *acp.Client
	Session string
	Roots   *workspace.Roots
	// Disk is used for files without a buffer in the client, and for a method
	// that the client does not offer.
	Disk        files.FS
	Read, Write bool // the methods that the client offers; at least one
	// Timeout is how long the client may take to answer; 0 means the default.
	Timeout time.Duration

	mu sync.Mutex
	// layouts holds the parts of a file's layout that the client's text lacks, by path. A
	// file whose text lacks nothing is not in it.
	layouts map[string]layout
	// encoded holds the paths of files that are not UTF-8 and whose text the client has decoded.
	encoded map[string]bool
	// dropsFinalNewline means that the client's texts have no newline at the end. Otherwise one
	// that is missing is an unsaved change.
	dropsFinalNewline bool
	// staleBuffers holds the old text of buffers, by path, whose file was written on the
	// disk because the client cannot write. The client may not have noticed the change.
	staleBuffers map[string]string
}

// ReadFile returns the editor's text of the file, in the editor's layout but for the
// newline at the end.
func (f *FS) ReadFile(ctx context.Context, path string) (string, error) {
	if !f.Read {
		return f.Disk.ReadFile(ctx, path)
	}
	switch _, err := f.Roots.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return f.readNew(ctx, path)
	case err != nil: // a link may have been created since the call was checked
		return "", err
	}
	text, err := f.read(ctx, path)
	if needsDisk(err) || err == nil && f.isStale(path, text) {
		return f.Disk.ReadFile(ctx, path)
	}
	if err != nil {
		return "", f.refusal(err, "read", path)
	}
	return f.reconcile(ctx, path, text), nil
}

// defaultTimeout is how long the client may take to answer. A formatter may run, and some
// editors first ask their user. Others never answer after a fault of their own.
const defaultTimeout = 2 * time.Minute

// read requests the client's text.
func (f *FS) read(ctx context.Context, path string) (string, error) {
	ctx, cancel := f.withTimeout(ctx, "read", path)
	defer cancel()
	return f.Client.ReadTextFile(ctx, f.Session, f.Roots.AsGiven(path))
}

// write requests that the client writes the file.
func (f *FS) write(ctx context.Context, path, text string) error {
	ctx, cancel := f.withTimeout(ctx, "write", path)
	defer cancel()
	return f.Client.WriteTextFile(ctx, f.Session, f.Roots.AsGiven(path), text)
}

// withTimeout limits the time of a request. The cause of its end is the failure for the
// model.
func (f *FS) withTimeout(ctx context.Context, verb, path string) (context.Context, context.CancelFunc) {
	limit := cmp.Or(f.Timeout, defaultTimeout)
	failure := executors.Failuref(executors.Timeout,
		"the editor did not answer within %v when it was asked to %s %s", limit, verb, f.Roots.Rel(path)).
		Hint("Ask the user to look at the editor: it may wait for an answer, or have unsaved changes.")
	return context.WithTimeoutCause(ctx, limit, failure)
}

// reconcile compares the client's text with the file, and remembers its layout. It
// returns the text, or the file's if the client cannot show the file as text.
func (f *FS) reconcile(ctx context.Context, path, text string) string {
	content, err := f.Disk.ReadFile(ctx, path)
	if err != nil { // too large for a change, or not to be read
		return text
	}
	file, encoded := files.TextOf(f.Roots, path, content)
	if garbled(text, content) || encoded && misread(text, content, file) {
		return content
	}
	lacks := missingLayout(text, file)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.encoded == nil {
		f.encoded = map[string]bool{}
	}
	if delete(f.encoded, path); encoded {
		f.encoded[path] = true
	}
	if lacksFinalNewline(text, file) {
		f.dropsFinalNewline = f.dropsFinalNewline || sameLines(text, file)
		if f.dropsFinalNewline {
			text += "\n"
		}
	}
	if lacks == (layout{}) {
		delete(f.layouts, path)
		return text
	}
	if f.layouts == nil {
		f.layouts = map[string]layout{}
	}
	f.layouts[path] = lacks
	return text
}

// inFileLayout returns a new text of the client in the layout of the file.
func (f *FS) inFileLayout(ctx context.Context, path, text string) string {
	f.mu.Lock()
	lacks, ok := f.layouts[path]
	f.mu.Unlock()
	if !ok {
		return text
	}
	content, err := f.Disk.ReadFile(ctx, path)
	if err != nil { // it was deleted
		return text
	}
	file, _ := files.TextOf(f.Roots, path, content)
	return lacks.restore(text, file)
}

// readNew reads a file that is not on the disk. The client may have a buffer
// that was never saved, whose text must not be lost. Clients without such a
// buffer answer with various errors, or with an empty text.
func (f *FS) readNew(ctx context.Context, path string) (string, error) {
	if quirksOf(f.Client.Info()).readsDiskOnly {
		return "", fs.ErrNotExist
	}
	text, err := f.read(ctx, path)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, acp.ErrClosed):
		return "", err
	case err != nil, text == "":
		return "", fs.ErrNotExist
	}
	return text, nil
}

// WriteFile writes through the editor, in the editor's layout. If the editor saves the
// text so that the file loses its layout, the text is written once more. If the client
// can only read and its text differs from the disk, WriteFile refuses, to keep the
// unsaved changes. Bytes that are not UTF-8 text are written on the disk in the same way.
func (f *FS) WriteFile(ctx context.Context, path, text string) error {
	isText := files.IsText(text)
	if !f.Write || !isText {
		if err := f.checkSaved(ctx, path, isText); err != nil {
			return err
		}
		if isText {
			text = f.inFileLayout(ctx, path, text)
		}
		return f.writeDisk(ctx, path, text)
	}
	if err := f.mkParents(path); err != nil {
		return err
	}
	if err := checkAllowed(f.Roots.Writing(), path); err != nil {
		return err
	}
	want := f.inFileLayout(ctx, path, text)
	before, encoded, err := f.encode(ctx, path, want)
	if err != nil {
		return err
	}
	err = f.write(ctx, path, text)
	if needsDisk(err) {
		return f.Disk.WriteFile(ctx, path, encoded)
	}
	if content, e := f.Disk.ReadFile(ctx, path); e == nil && err == nil {
		if encoded != want && content != before && files.IsText(content) { // the client saves each file as UTF-8
			return f.Disk.WriteFile(ctx, path, encoded)
		}
		file, _ := files.TextOf(f.Roots, path, content)
		if again, ok := correction(text, want, file); ok {
			err = f.write(ctx, path, again)
		}
	}
	if err != nil {
		return f.refusal(err, "write", path)
	}
	return nil
}

// encode returns the text that the client will write in the encoding of the file, and the present content of a file that
// is not UTF-8. It fails if the encoding lacks a character: some clients would write a question mark.
func (f *FS) encode(ctx context.Context, path, text string) (before, encoded string, err error) {
	f.mu.Lock()
	isEncoded := f.encoded[path]
	f.mu.Unlock()
	if !isEncoded {
		return "", text, nil
	}
	if before, err = f.Disk.ReadFile(ctx, path); err != nil { // it was deleted
		return "", text, nil
	}
	encoded, err = files.BytesOf(f.Roots, path, before, text)
	return before, encoded, err
}

// writeDisk writes a file on the disk. The client may still show the old
// text.
func (f *FS) writeDisk(ctx context.Context, path, text string) error {
	old, err := f.Disk.ReadFile(ctx, path)
	if err := f.Disk.WriteFile(ctx, path, text); err != nil {
		return err
	}
	if f.Read && err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.staleBuffers == nil {
			f.staleBuffers = map[string]string{}
		}
		if _, ok := f.staleBuffers[path]; !ok { // after several writes the buffer still has the first text
			f.staleBuffers[path] = old
		}
	}
	return nil
}

// isStale reports whether text is the client's text from before we wrote to the
// disk. A client that returns another text has noticed the change.
func (f *FS) isStale(path, text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	old, ok := f.staleBuffers[path]
	same := ok && sameLines(old, text)
	if ok && !same {
		delete(f.staleBuffers, path)
	}
	return same
}

// mkParents creates the missing directories of a new file: by the protocol a
// client creates the file, but not its parents.
func (f *FS) mkParents(path string) error {
	dir, err := f.Roots.Writing().MakeDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	return dir.Close()
}

// checkAllowed fails for a path that no tool may use, although the client would open
// it. A link may have been created since the call was checked.
func checkAllowed(roots *workspace.Roots, path string) error {
	if _, err := roots.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadsDisk reports whether files are read from the disk, so that a change
// there is visible.
func (f *FS) ReadsDisk() bool { return !f.Read }

// checkSaved fails if the editor's text differs from the disk. A missing file has no text. isText reports
// that the new content is text, which the editor does not accept.
func (f *FS) checkSaved(ctx context.Context, path string, isText bool) error {
	if !f.Read {
		return nil
	}
	disk, err := f.Disk.ReadFile(ctx, path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	buffer, err := f.ReadFile(ctx, path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, _ := files.TextOf(f.Roots, path, disk)
	if buffer == disk || sameLines(buffer, file) {
		return nil
	}
	why := "accepts no writes"
	if !isText {
		why = "accepts only UTF-8"
	}
	return executors.Failuref(executors.PolicyBlocked, "the editor has unsaved changes in %s and %s", f.Roots.Rel(path), why).
		Hint("Ask the user to save the file, then try again.")
}

// needsDisk reports whether the client does not support the method or has no such
// file, so that the disk is used. Any other error is a refusal.
func needsDisk(err error) bool {
	refused, ok := errors.AsType[*acp.ClientError](err)
	return ok && (refused.Unsupported() || refused.NotFound())
}

// refusal converts an error of the client to a failure for the model. It
// returns other errors, such as a cancel, unchanged.
func (f *FS) refusal(err error, verb, path string) error {
	refused, ok := errors.AsType[*acp.ClientError](err)
	if !ok {
		return err
	}
	if refused.Code == 0 { // it may have done it
		return executors.Failuref(executors.PermanentFailure, "%s was asked to %s %s and sent a %s", noun(f.Client), verb, path, refused.Message).
			Hint("Ask the user; do not bypass the editor.")
	}
	return executors.Failuref(executors.PermanentFailure, "%s refused to %s %s: %s", noun(f.Client), verb, path, refused.Message).
		Hint("Ask the user; do not bypass the editor.")
}
