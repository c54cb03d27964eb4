package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/zeph-acp/zeph-acp/acp"
	fixtures "github.com/zeph-acp/zeph-acp/protocol-fixtures"
)

// RecordFrames writes every frame of the server to the new fixture file of --record, if it is set.
// An existing file is rejected: an editor may start the agent twice, and the second start must not
// overwrite the first recording.
func (f *Flags) RecordFrames(server *acp.Server) (stop func(), err error) {
	if f.record == "" {
		return func() {}, nil
	}
	if err := NeedDirectory("--record", f.record); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(f.record, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.Size() > 0 {
		err = fmt.Errorf("%s is not empty: name a new file, or delete that one first", f.record)
	}
	if err != nil {
		return nil, fmt.Errorf("--record: %w", errors.Join(err, file.Close()))
	}
	r := fixtures.NewRecorder(file)
	logged := server.Trace
	server.Trace = func(side acp.Side, line []byte) {
		r.Trace(string(side), line)
		if logged != nil {
			logged(side, line)
		}
	}
	return func() {
		if err := errors.Join(r.Err(), file.Close()); err != nil {
			server.Log.Error("record", "err", err)
		}
	}, nil
}
