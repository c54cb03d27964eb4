//go:build !linux

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"

	"github.com/zeph-acp/zeph-acp/executors/shell/process"
)

type system struct{}

func newBox(Setup) *Box { return nil }

func boxMissing() string {
	return fmt.Sprintf("there is no box for %s yet, only for Linux", runtime.GOOS)
}

func (b *Box) ready() error                          { return errNoBox }
func (b *Box) confine() (process.Restriction, error) { return nil, errNoBox }
func (b *Box) rules() (json.RawMessage, error)       { return nil, errNoBox }
func (b *Box) state() string                         { return "" }

func restriction(json.RawMessage) (process.Restriction, error) {
	return nil, errors.New(boxMissing())
}
