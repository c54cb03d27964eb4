package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// database reports whether the database of sessions is whole.
func (e *examination) database(context.Context) []Finding {
	if e.paths.Data == "" {
		return nil // reported by directories
	}
	file := filepath.Join(e.paths.Data, config.StoreFile)
	h, err := store.Check(file)
	if errors.Is(err, fs.ErrNotExist) {
		return []Finding{passed("no session is stored yet")}
	}
	if broken, ok := errors.AsType[*store.UnusableError](err); ok {
		return []Finding{failure(fmt.Sprintf("%s %s (%v)", broken.Path, broken.Problem, broken.Err), broken.Advice)}
	}
	if err != nil {
		return []Finding{failure(err.Error(), "make the file and its directory readable")}
	}
	text := fmt.Sprintf("%s: %s, %.1f MB (conversations %.1f MB, outputs of tools %.1f MB, free %.1f MB), intact",
		file, quantity.CountGrouped(h.Sessions, "session"), megabytes(h.Bytes), megabytes(h.Events), megabytes(h.Outputs), megabytes(h.Free))
	if h.Outdated {
		text += "; of an older version, which the next session converts"
	}
	return []Finding{passed(text)}
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

// audit reports whether the audit log is intact.
func (e *examination) audit(context.Context) []Finding {
	cfg := setting.Default[audit.Config]()
	if e.loaded != nil {
		cfg = e.loaded.Config.Audit
	}
	log := audit.New(e.paths.State, cfg, nil)
	if log == nil {
		return []Finding{passed("off")}
	}
	r, err := log.Verify()
	if _, ok := errors.AsType[*audit.BrokenError](err); ok {
		return []Finding{failure(
			fmt.Sprintf("the audit log was altered: %v", err),
			"keep the file as evidence and move it away; the next call begins a new one",
		)}
	}
	if err != nil {
		return []Finding{failure(
			fmt.Sprintf("the audit log cannot be read, so no tool runs: %v", err),
			"make audit.jsonl a file that you can read and write",
		)}
	}
	text := fmt.Sprintf("%s, intact", quantity.CountGrouped(r.Lines, "call"))
	if r.Lines == 0 {
		text = "no call is recorded yet"
	}
	if len(r.Torn) > 0 {
		text += "; incomplete lines from crashes: " + strings.Join(r.Torn, ", ")
	}
	return []Finding{passed(text)}
}
