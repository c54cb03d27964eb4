package prompt

// modeTexts describe for each mode the actions that the model may take.
var modeTexts = map[string]string{
	"ask":        "read and answer; nothing may be changed. For a change the user has to pick the mode code.",
	"architect":  "read and make plans (update_plan); nothing may be changed. For a change the user has to approve your plan (exit_plan) or to pick the mode code.",
	"code":       "change files and run commands; the user is asked for permission.",
	"auto":       "change files inside the session's directories without asking; the user is asked about commands.",
	"auto-judge": "change files inside the session's directories without asking; a model decides about commands in the user's place, and asks the user if it is unsure.",
}

// Mode returns the line about a session's mode for the model, or "" for an
// unknown mode.
//
// Why is it in front of a prompt, and not in the system prompt? A mode may change at any
// time. The system prompt is the beginning of the text that the provider has cached, so
// each change would invalidate the cache of the whole conversation.
func Mode(id string) string {
	about, ok := modeTexts[id]
	if !ok {
		return ""
	}
	return "[mode: " + id + "] You may " + about
}
