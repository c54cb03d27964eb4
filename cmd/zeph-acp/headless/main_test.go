package headless

import (
	"os"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/highlight"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

func TestMain(m *testing.M) {
	highlight.Patient()
	os.Exit(machine.Tests{M: m}.Run())
}
