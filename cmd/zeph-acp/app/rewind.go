package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/links/cache"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/undo/rewind"
	"github.com/zeph-acp/zeph-acp/executors/undo/rollback"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// newRewind returns the store of the files that a session changes; nil if no files are
// kept.
func (b *sessionBuilder) newRewind() *rewind.Session {
	if b.app.checking != nil {
		return nil
	}
	return rewind.New(rewind.Options{
		Config: b.cfg.Tools.Rewind, Limits: b.cfg.Tools.Undo, Data: b.app.dataDir, Session: b.session.ID, Roots: b.dirs.files, Dirs: b.dirs.roots.Dirs(),
		Writes: rollback.Writes,
		Ended:  b.app.Changed, Now: b.app.Now, Log: b.app.Log,
	})
}

// fileSystem returns the files of a session: through the client as far as its capabilities
// allow, else on the disk. If kept is not nil, it also stores the editor's buffers for a rewind.
func (b *sessionBuilder) fileSystem(kept *rewind.Session) files.FS {
	caps := b.session.Client.Capabilities()
	var fs files.FS = files.Disk{Roots: b.dirs.files, MaxBytes: b.cfg.Tools.File.MaxFileBytes}
	if caps.ReadTextFile || caps.WriteTextFile {
		fs = &ideproxy.FS{
			Client: b.session.Client, Session: b.session.ID, Roots: b.dirs.files, Disk: fs,
			Read: caps.ReadTextFile, Write: caps.WriteTextFile,
		}
	}
	if kept == nil {
		return fs
	}
	return kept.Editor(fs, caps.ReadTextFile, caps.WriteTextFile)
}

// savedOnly reports whether the tools see only the files on the disk, not the editor's buffers.
func (b *sessionBuilder) savedOnly() bool { return !b.session.Client.Capabilities().ReadTextFile }

// rewindFeature keeps the files that the session changes.
func rewindFeature(kept *rewind.Session, servers *lsp.Session, results *cache.Cache, sh *shell.Executor) Feature {
	f := Feature{Name: "rewind", Link: kept.Middleware}
	if kept != nil {
		f.Files = rewindFiles{kept, servers, results, sh}
	}
	return f
}

// rewindFiles adapts a [rewind.Session] to session.Files.
type rewindFiles struct {
	*rewind.Session
	servers *lsp.Session
	results *cache.Cache
	shell   *shell.Executor
}

func (f rewindFiles) Before(ctx context.Context, turn int, id string) (session.FilesPlan, error) {
	p, err := f.Session.PlanRewind(ctx, turn, id)
	return f.plan(p, err)
}

func (f rewindFiles) Again(ctx context.Context, id string) (session.FilesPlan, error) {
	p, err := f.Session.PlanRedo(ctx, id)
	return f.plan(p, err)
}

// plan converts a plan, and adds a note if commands still run.
func (f rewindFiles) plan(p *rewind.Plan, err error) (session.FilesPlan, error) {
	if err != nil {
		return session.FilesPlan{}, err
	}
	out := session.FilesPlan{Notes: p.Gaps, Apply: func(ctx context.Context, force bool, mark []byte) (session.FilesOutcome, error) {
		f.servers.ExpectChanges(ctx)
		done, err := p.Apply(ctx, force, mark)
		f.results.Clear()
		return session.FilesOutcome{Changed: done.Changed, Changes: done.Changes, Kept: done.Kept, Failed: done.Failed}, err
	}}
	for _, step := range p.Steps {
		out.Files = append(out.Files, session.PlannedFile{
			Path: step.Path, Name: executors.OneLine(p.Rel(step)), Change: step.Verb(), Differs: step.Conflict, Lost: step.Unrestorable,
		})
	}
	if n := f.shell.Running(); n > 0 {
		out.Notes = append(out.Notes, "a command still runs in the background, and may change files again")
	}
	return out, nil
}

// confirm returns the function that asks the user a question; nil if there is no
// user.
func (b *sessionBuilder) confirm() func(ctx context.Context, question, text string) bool {
	if b.app.NoUser || b.app.checking != nil {
		return nil
	}
	return func(ctx context.Context, question, text string) bool {
		return b.askWithCard(ctx, acp.ToolCall{
			Title: executors.Shown(question), Content: []acp.ToolContent{acp.BlockContent(acp.TextBlock(executors.Shown(text)))},
		}, yesOrNo) == approveOnce
	}
}

// rewindPoint is one point in the answer to _session/rewind_points.
type rewindPoint struct {
	MessageID string `json:"messageId"`
	Index     int    `json:"index"` // the number of the turn
	Text      string `json:"text"`
	Files     *int   `json:"files"` // changed by the turn; null if they are no longer kept
}

// rewindPoints answers _session/rewind_points.
func rewindPoints(ctx context.Context, sessions *session.Sessions, id string) (any, error) {
	points, err := sessions.RewindPoints(ctx, id)
	if err != nil {
		return nil, err
	}
	out := []rewindPoint{}
	for _, at := range points {
		point := rewindPoint{MessageID: at.MessageID, Index: at.Number, Text: at.Text}
		if at.Files >= 0 {
			point.Files = &at.Files
		}
		out = append(out, point)
	}
	return map[string]any{"points": out}, nil
}

// rewindParams are the params of _session/rewind. BeforeMessage is the form of other
// agents for MessageID.
type rewindParams struct {
	SessionID     *string         `json:"sessionId"`
	MessageID     string          `json:"messageId"`
	BeforeMessage json.RawMessage `json:"beforeMessage"`
	Mode          string          `json:"mode"`
	DryRun        bool            `json:"dryRun"`
	Overwrite     *bool           `json:"overwrite"`
	Redo          bool            `json:"redo"`
}

// request checks the params.
func (p rewindParams) request() (r session.RewindRequest, err error) {
	r = session.RewindRequest{MessageID: p.MessageID, Mode: p.Mode, Redo: p.Redo, DryRun: p.DryRun, Overwrite: p.Overwrite}
	if p.SessionID == nil {
		return r, missingParam("sessionId")
	}
	if len(p.BeforeMessage) > 0 && r.MessageID == "" {
		var named struct {
			MessageID string `json:"messageId"`
		}
		if json.Unmarshal(p.BeforeMessage, &r.MessageID) != nil {
			if err := json.Unmarshal(p.BeforeMessage, &named); err != nil {
				return r, &acp.ParamsError{Field: "beforeMessage", Reason: "must be the id of a message, or an object with messageId"}
			}
			r.MessageID = named.MessageID
		}
	}
	r.Mode = cmp.Or(r.Mode, transcript.RewindBoth)
	if !transcript.IsRewindMode(r.Mode) {
		return r, &acp.ParamsError{Field: "mode", Reason: "must be files, conversation or both"}
	}
	if r.MessageID == "" && !r.Redo {
		return r, missingParam("messageId")
	}
	return r, nil
}

// rewindAnswer is the answer to _session/rewind.
type rewindAnswer struct {
	Rewound      bool             `json:"rewound"`
	Files        *rewoundFiles    `json:"files,omitempty"`
	Conversation *rewoundMessages `json:"conversation,omitempty"`
}

type rewoundFiles struct {
	Changed []string      `json:"filesChanged"` // absolute paths; those that would change, if nothing was done
	Differs []rewoundFile `json:"differs"`      // changed since by others; restored only with overwrite
	Failed  []rewoundFile `json:"failed"`       // cannot be restored
	Notes   []string      `json:"notes,omitempty"`
}

type rewoundFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

type rewoundMessages struct {
	Rewound         bool `json:"rewound"`
	MessagesDropped int  `json:"messagesDropped"`
}

// rewindMethod returns the method _session/rewind. A prompt after its frame waits for it.
func rewindMethod(sessions *session.Sessions) acp.Extension {
	return func(ctx context.Context, _ *acp.Client, raw json.RawMessage) (func() (any, error), error) {
		var p rewindParams
		if err := acp.DecodeParams(raw, &p); err != nil {
			return nil, err
		}
		r, err := p.request()
		if err != nil {
			return nil, err
		}
		run, err := sessions.Rewind(ctx, *p.SessionID, r)
		if err != nil {
			return nil, err
		}
		return func() (any, error) { return runRewind(r, run) }, nil
	}
}

// runRewind carries out a rewind, and returns the answer.
func runRewind(r session.RewindRequest, run func() (session.RewindResult, error)) (any, error) {
	result, err := run()
	if errors.Is(err, session.ErrNoTurn) {
		return nil, &acp.ParamsError{Field: "messageId", Reason: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	out := rewindAnswer{Rewound: result.Rewound}
	if result.Mode != transcript.RewindConversation {
		out.Files = filesResult(result, r)
	}
	if result.Mode != transcript.RewindFiles {
		out.Conversation = &rewoundMessages{result.Rewound, result.MessagesDropped}
	}
	return out, nil
}

// filesResult returns the part of the answer about files.
func filesResult(result session.RewindResult, r session.RewindRequest) *rewoundFiles {
	out := &rewoundFiles{Changed: []string{}, Differs: []rewoundFile{}, Failed: []rewoundFile{}, Notes: result.Notes}
	for _, f := range result.Plan {
		switch {
		case f.Lost != "":
			out.Failed = append(out.Failed, rewoundFile{f.Path, f.Lost})
		case f.Differs != "" && !(result.Rewound && r.Overwrite != nil && *r.Overwrite):
			out.Differs = append(out.Differs, rewoundFile{f.Path, f.Differs})
		case !result.Rewound:
			out.Changed = append(out.Changed, f.Path)
		}
	}
	if result.Rewound {
		out.Changed = append(out.Changed, result.Outcome.Changed...)
	}
	return out
}

// forgetFiles removes the kept files of a deleted session.
func (a *App) forgetFiles(id string) {
	if a.dataDir == "" {
		return
	}
	if _, err := os.Lstat(filepath.Join(a.dataDir, rewind.DirName)); err != nil {
		return
	}
	if err := rewind.Forget(a.dataDir, id); err != nil {
		a.Log.Warn("the kept files of a session cannot be removed", "session", id, "err", fmt.Errorf("rewind: %w", err))
	}
}
