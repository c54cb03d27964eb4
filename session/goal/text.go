package goal

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Mark begins a prompt with which the session itself continues a goal. It is not what the user
// said, and repeats the goal word for word.
const Mark = "[goal] "

//go:embed check.md
var checkInstructions string

// maxOutput bounds the output of the command in a prompt, in bytes.
const maxOutput = 6 << 10

// Prompt returns the first prompt for the model.
func (g *Goal) Prompt() string {
	return "Work until this goal is met:\n\n" + g.Text + "\n\n" + g.rules()
}

// rules explains how a goal is followed.
func (g *Goal) rules() string {
	text := "[Nobody reads along, so do not ask whether to go on: do the whole work with your tools. When you end your turn, it is checked whether the goal is met, " +
		"and if it is not, you continue."
	if g.Until != "" {
		text += fmt.Sprintf(" The goal is met when this command, which then runs, exits with 0: %s", g.Until)
	}
	return text + " If only the user can help, end your turn and say what you need.]"
}

// Next returns the prompt after a check that found the goal not met. output is what the command
// wrote; empty without a command.
func (g *Goal) Next(output string) string {
	text := fmt.Sprintf("%sCheck %d: not met: %s.\n", Mark, g.Checks, g.Reason)
	if output != "" {
		text += fmt.Sprintf("The output of %s:\n%s\n", g.Until, strings.TrimSpace(ends(output)))
	}
	return text + g.again()
}

// Resumed returns the prompt after a break; why is the reason of the break.
func (g *Goal) Resumed(why string) string {
	return fmt.Sprintf("%sThe work on the goal goes on after a break (%s). A call that has no result, or was cut off, may have had its effect: "+
		"look before you repeat a step.\n", Mark, why) + g.again()
}

// again repeats the goal: after a compaction, the last prompt still has all of it.
func (g *Goal) again() string { return "The goal, word for word:\n\n" + g.Text + "\n\n" + g.rules() }

// ends returns the beginning and the end of a text.
func ends(text string) string {
	if len(text) <= maxOutput {
		return text
	}
	tail := strings.ToValidUTF8(text[len(text)-maxOutput*2/3:], "")
	return line.Truncate(text, maxOutput/3) + "\n[…]\n" + tail
}

// CheckInstructions are the instructions for the model that checks.
func CheckInstructions() string { return strings.TrimSpace(checkInstructions) }

// Question returns the question of the check. work is the end of the agent's work; failed says
// that the command does not succeed yet.
func (g *Goal) Question(work string, failed bool) string {
	text := "The goal:\n\n" + g.Text + "\n\nThe end of the agent's work:\n\n" + work + "\n\n"
	if failed {
		text += fmt.Sprintf("The goal is not met, since the command %s does not exit with 0. What is missing?\n", g.Until)
	} else {
		text += "Is the goal met?\n"
	}
	return text + "Answer with one line: MET, or NOT MET: WHAT IS MISSING, or BLOCKED: WHAT THE USER MUST DO"
}

// Progress returns what the work has taken, with its bounds.
func (g *Goal) Progress() string {
	part := func(used, bound int, noun string) string {
		if bound == 0 {
			return quantity.CountGrouped(used, noun)
		}
		return quantity.Grouped(int64(used)) + " of " + quantity.CountGrouped(bound, noun)
	}
	parts := []string{
		quantity.Count(g.Turns, "turn"),
		part(g.Used.Rounds-g.Before.Rounds, g.Bounds.MaxRounds, "round"),
		part(int((g.Used.Time - g.Before.Time).Minutes()), g.Bounds.MaxMinutes, "minute"),
	}
	if n := g.Used.Tokens - g.Before.Tokens; n > 0 || g.Bounds.MaxTokens > 0 {
		parts = append(parts, part(n, g.Bounds.MaxTokens, "token"))
	}
	return strings.Join(parts, ", ")
}

// CheckLine is the line about a check after which the work continues.
func (g *Goal) CheckLine() string {
	return fmt.Sprintf("Goal, check %d: not met: %s. Going on (%s).", g.Checks, g.Reason, g.Progress())
}

// resume says how to continue.
const resume = " `/goal resume` goes on."

// EndLine is the line about the end of the work.
func (g *Goal) EndLine() string {
	why := ""
	if g.Reason != "" {
		why = ": " + g.Reason
	}
	after := " (" + g.Progress() + ")."
	switch g.Status {
	case Met:
		return "Goal met" + why + after
	case Stopped:
		return "Goal stopped" + after
	case Blocked:
		return "Goal paused, since it needs you" + why + after + " When that is settled," + resume
	case Stalled:
		return fmt.Sprintf("Goal paused, since %d checks found no progress%s%s%s", maxSame, why, after, resume)
	}
	return "Goal paused" + why + after + resume
}

// Report describes the goal for the user. waits says that a question waits for the user.
func (g *Goal) Report(waits bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- Goal: %s\n- State: %s\n", line.Join(g.Text), g.State(waits))
	if g.Until != "" {
		fmt.Fprintf(&b, "- Until: `%s` exits with 0\n", g.Until)
	}
	fmt.Fprintf(&b, "- So far: %s, %s\n", g.Progress(), quantity.Count(g.Checks, "check"))
	if g.IsOpen() && g.Status != Running {
		b.WriteString("\n`/goal resume` goes on, `/goal stop` gives it up.\n")
	}
	return b.String()
}

// State returns the state in words.
func (g *Goal) State(waits bool) string {
	text := map[Status]string{
		Running: "running", Paused: "paused", Blocked: "paused, since it needs you", Limit: "paused at a limit",
		Stalled: "paused without progress", Failed: "paused after a failure", Met: "met", Stopped: "stopped",
	}[g.Status]
	switch {
	case waits:
		text += ", and waits for your answer to a question"
	case g.Status == Running && g.Reason != "":
		text += fmt.Sprintf("; check %d: not met: %s", g.Checks, g.Reason)
	case g.Reason != "":
		text += ": " + g.Reason
	}
	return text
}
