// Package testreport holds the strategy test_summary, which keeps the failures,
// warnings and totals of a test run. Each runner has a file: go.go, pytest.go,
// cargo.go, web.go, jvm.go, native.go, tap.go, unittest.go.
//
// Text that no runner claims stays as it is.
package testreport

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family, by the type that rules name.
var Strategies = map[string]strategy.Constructor{
	"test_summary": newTestSummary,
}
