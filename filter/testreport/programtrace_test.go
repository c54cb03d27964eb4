package testreport

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

func TestProgramTraces(t *testing.T) {
	goroutine := func(n, line int) string {
		return fmt.Sprintf("goroutine %d [select, %d minutes]:\nmain.wait(0xc00%d)\n\t/p/m.go:%d +0x1%d\ncreated by main.main in goroutine 1\n"+
			"\t/p/m.go:2 +0x2\n\n", n, n, n, line, n)
	}
	for name, tt := range map[string]struct {
		in, want   string
		confidence strategy.Confidence
	}{
		"a recursion": {
			"start\nException in thread \"main\" java.lang.StackOverflowError\n" + strings.Repeat("\tat a.Cart.rec(Cart.java:7)\n", 100) + "end\n",
			"start\nException in thread \"main\" java.lang.StackOverflowError\n" + strings.Repeat("\tat a.Cart.rec(Cart.java:7)\n",
				3) + "... (97 lines omitted) ...\nend\n", strategy.Full,
		},
		"libraries": {
			"TypeError: x\n    at f (/p/a.js:1:2)\n" + strings.Repeat("    at Module.load (node:internal/modules/cjs/loader:1:2)\n", 6) + "\nNode.js v20\n",
			"TypeError: x\n    at f (/p/a.js:1:2)\n... (6 lines omitted) ...\n\nNode.js v20\n", strategy.Full,
		},
		"goroutines": {
			"panic: x\n\n" + goroutine(6, 3) + goroutine(7, 3) + goroutine(8, 3) + goroutine(9, 4) + "exit status 2\n",
			"panic: x\n\n" + goroutine(6, 3) + "... (2 more goroutines such as those above) ...\n\n" + goroutine(9, 4) + "exit status 2\n", strategy.Full,
		},
		"a short trace": {"Error: x\n    at f (/p/a.js:1:2)\n    at node:internal/main/run:3:4\n",
			"Error: x\n    at f (/p/a.js:1:2)\n    at node:internal/main/run:3:4\n", strategy.Fallback},
		"comments": {strings.Repeat("  # name: value\n", 90), strings.Repeat("  # name: value\n", 90), strategy.Fallback},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["stack_traces"], "")
			got, confidence := strategytest.Filter(t, s, strategy.Run{Exit: 1}, tt.in)
			if got != tt.want || confidence != tt.confidence {
				t.Errorf("%s:\n%s\nwant %s:\n%s", confidence, got, tt.confidence, tt.want)
			}
			if again, _ := strategytest.Filter(t, s, strategy.Run{Exit: 1}, got); again != got {
				t.Errorf("again:\n%s\nwant:\n%s", again, got)
			}
		})
	}
}
