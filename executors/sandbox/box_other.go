//go:build !linux && !darwin

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"

	"github.com/zeph-acp/zeph-acp/executors/process"
)

type system struct{}

func newBox(Session) *Box { return nil }

func boxMissing() string {
	return fmt.Sprintf("there is no box for %s yet, only for Linux and macOS", runtime.GOOS)
}

func (b *Box) ready() error                    { return errNoBox }
func (b *Box) rules() (json.RawMessage, error) { return nil, errNoBox }
func (b *Box) state() string                   { return "" }

func (b *Box) confined(prog process.Program) (process.Program, error) { return prog, errNoBox }

func restriction(json.RawMessage) (process.Restriction, error) {
	return nil, errors.New(boxMissing())
}
