package page

import (
	"os"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/highlight"
)

func TestMain(m *testing.M) {
	highlight.Patient()
	os.Exit(m.Run())
}
