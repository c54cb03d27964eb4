package llmtest

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Transcript formats events in one line; pieces of one text are joined.
func Transcript(events []llm.Event, err error) string {
	var b strings.Builder
	kind := ""
	piece := func(k, text string) {
		if kind != k {
			fmt.Fprintf(&b, "|%s", k)
			kind = k
		}
		b.WriteString(text)
	}
	for _, ev := range events {
		switch {
		case ev.Text != "":
			piece("", ev.Text)
			continue
		case ev.Thought != "":
			piece("thought:", ev.Thought)
			continue
		case ev.Call != nil:
			fmt.Fprintf(&b, "|%s %s", ev.Call.Name, ev.Call.Input)
		case ev.Usage != nil:
			fmt.Fprintf(&b, "|usage:%d", ev.Usage.Output)
		case ev.Reasoned:
			b.WriteString("|reasoned")
		case ev.Notice != "":
			fmt.Fprintf(&b, "|notice:%s", ev.Notice)
		case ev.Stop != "":
			fmt.Fprintf(&b, "|%s", ev.Stop)
		}
		kind = "none"
	}
	if err != nil {
		fmt.Fprintf(&b, "|error:%v", err)
	}
	return strings.TrimPrefix(b.String(), "|")
}
