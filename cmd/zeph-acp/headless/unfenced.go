package headless

import "strings"

// Unfenced returns the text in the last code fence of an answer, or else the answer.
func Unfenced(answer string) string {
	answer = strings.TrimSpace(answer)
	before, ok := strings.CutSuffix(answer, "\n```")
	if !ok {
		return answer
	}
	i := strings.LastIndex("\n"+before, "\n```")
	if i < 0 {
		return answer
	}
	_, inside, _ := strings.Cut(before[i:], "\n")
	return strings.TrimSpace(inside)
}
