package llm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

func TestRepetition(t *testing.T) {
	var counted, table, code strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&counted, "%d. The item with number %d.\n", i, i)
		fmt.Fprintf(&table, "| %05d | ok |\n", i*7919%10007)
		fmt.Fprintf(&code, "\tif got := f(%d); got != %d {\n\t\tt.Errorf(\"f(%d) = %%d\", got)\n\t}\n", i, i*i, i)
	}
	sentence := "I will now look at the file to see what is in it, and then decide what to do next about the failing test. "
	for name, tt := range map[string]struct {
		text string
		by   int // the length by which it must be found; 0: it never is
	}{
		"a sentence":        {strings.Repeat(sentence, 100), 10*len(sentence) + 3000},
		"two characters":    {strings.Repeat("ab", 10_000), 13_000},
		"a long paragraph":  {strings.Repeat(code.String()[:2500], 30), 40_000},
		"blank lines":       {"The answer:" + strings.Repeat("\n", 5000), 3000},
		"after much text":   {counted.String() + strings.Repeat(sentence, 100), counted.Len() + 4000},
		"a counter":         {counted.String(), 0},
		"a table":           {table.String(), 0},
		"code":              {code.String(), 0},
		"a ruler":           {strings.Repeat("-", 4000) + counted.String(), 0},
		"nine times":        {counted.String()[:5000] + strings.Repeat(sentence[:90], 9) + counted.String(), 0},
		"an indented block": {strings.Repeat(" ", 900) + "x", 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, 4096, len(tt.text)} {
				var r llm.Repetition
				found := 0
				for i := 0; i < len(tt.text) && found == 0; i += size {
					if end := min(i+size, len(tt.text)); r.Add(tt.text[i:end]) {
						found = end
					}
				}
				switch {
				case tt.by == 0 && found > 0:
					t.Errorf("pieces of %d: found after %d bytes, want never", size, found)
				case tt.by > 0 && (found == 0 || found > max(tt.by, size*((tt.by+size-1)/size))):
					t.Errorf("pieces of %d: found after %d bytes, want at most %d", size, found, tt.by)
				}
			}
		})
	}
}
