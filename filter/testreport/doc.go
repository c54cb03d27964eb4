// Package testreport holds the strategy test_summary, which keeps the failures,
// warnings and totals of a test run. Each kind of runner has files of its name:
// go, pytest, unittest, cargo, nextest, js, jvm, dotnet, native and tap.
//
// Lines that no runner recognises stay within limits. The strategy stack_traces shortens
// the stack traces of other programs in the same way.
package testreport

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family by type.
var Strategies = map[string]strategy.Constructor{
	"test_summary": newTestSummary,
	"stack_traces": newProgramTraces,
}
