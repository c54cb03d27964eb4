// Package judge asks a language model about a tool call, and reads its verdict.
//
// Start with [Question] and [Parse]; [Auto] answers permission questions in the
// user's place.
//
// It promises that nothing in a call can end the data of the question: the call
// is one JSON object on one line. Credentials in it are masked. The command is
// whole; a call that is too long to be shown whole to the model is an error. An
// answer counts only if it has exactly the required form.
//
// Why does the model not see the conversation? Because the conversation contains
// texts that other people wrote. It sees only the call and the user's own words.
package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// Model answers a question outside of the conversation.
type Model interface {
	// Judge returns the whole answer. An error means that there is no answer.
	Judge(ctx context.Context, instructions, question string) (answer string, err error)
	// Name returns the model's name for people.
	Name() string
}

// Limits on the parts of a question, in characters.
const (
	maxValue   = 500      // each text in the input
	maxInput   = 2000     // the input
	maxCommand = 16 << 10 // the command
	maxWords   = 4 << 10  // the user's words
	maxPaths   = 64       // paths
	maxReason  = 300      // the reason in an answer
)

// errTooLong means that the model could not see the whole effect of a call.
var errTooLong = errors.New("the call is too long to be judged")

// callView is the call as the model sees it.
type callView struct {
	Tool    string   `json:"tool"`
	Server  string   `json:"mcp_server,omitempty"`
	Phase   string   `json:"phase"`
	AskedBy string   `json:"asked_by"` // model, user or agent
	Command string   `json:"command,omitempty"`
	Dir     string   `json:"directory,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	URL     string   `json:"url,omitempty"`
	Input   any      `json:"input"`
	Cut     bool     `json:"input_is_shortened,omitempty"`
	Because string   `json:"why_permission_is_needed,omitempty"`
	Words   string   `json:"the_user_wrote,omitempty"`
}

// Question describes a call as one JSON object in a code fence. mask redacts
// secrets in a text; nil redacts none. because says why the user would be asked.
// cut reports that texts of the input were shortened; the command, the paths and
// the URL never are.
func Question(call *executors.Call, because string, mask func(string) string) (question string, cut bool, err error) {
	if mask == nil {
		mask = func(s string) string { return s }
	}
	card := call.Card
	if utf8.RuneCountInString(card.Command()) > maxCommand || len(card.Paths) > maxPaths {
		return "", false, errTooLong
	}
	s := callView{
		Tool: call.Tool, Server: call.Server(), Phase: call.Phase.String(), AskedBy: call.Origin.String(),
		Command: mask(card.Command()), Dir: card.Dir(), URL: mask(card.URL), Because: because,
		Words: executors.ReplaceMiddle(mask(call.UserWords), maxWords/2, " … "),
	}
	for _, p := range card.Paths {
		s.Paths = append(s.Paths, mask(p))
	}
	var input any
	if json.Unmarshal(call.Input, &input) != nil {
		input = string(call.Input)
	}
	if m, ok := input.(map[string]any); ok && card.Command() != "" {
		delete(m, "command") // it is above, whole
	}
	s.Input, s.Cut = maskValue(input, mask)
	text, err := encode(s.Input)
	if err != nil {
		return "", false, err
	}
	if utf8.RuneCountInString(text) > maxInput {
		s.Input, s.Cut = string([]rune(text)[:maxInput])+"… [truncated]", true
	}
	if text, err = encode(s); err != nil {
		return "", false, err
	}
	return "```json\n" + text + "\n```", s.Cut, nil
}

// secretKeys are parts of the names of members whose values are redacted.
var secretKeys = []string{"password", "passwd", "secret", "token", "api_key", "apikey", "private_key", "credential", "auth"}

// maskValue returns a value with masked and shortened texts.
func maskValue(v any, mask func(string) string) (out any, cut bool) {
	switch v := v.(type) {
	case string:
		v = mask(v)
		short := line.TruncateRunes(v, maxValue)
		return short, short != v
	case []any:
		for i := range v {
			var c bool
			v[i], c = maskValue(v[i], mask)
			cut = cut || c
		}
	case map[string]any:
		for key, value := range v {
			if text, ok := value.(string); ok && isSecretKey(key) {
				v[key] = fmt.Sprintf("[REDACTED:%d chars]", utf8.RuneCountInString(text))
				continue
			}
			var c bool
			v[key], c = maskValue(value, mask)
			cut = cut || c
		}
	}
	return v, cut
}

func isSecretKey(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(secretKeys, func(part string) bool { return strings.Contains(key, part) })
}

// encode returns JSON on one line. Characters that a reader cannot see, such as
// bidi controls, are escaped.
func encode(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return executors.EscapeJSON(string(data), func(r rune) bool { return unicode.Is(unicode.Cf, r) || unicode.IsControl(r) }), nil
}

// Parse reads an answer: one of the words in capital letters, alone or followed
// by ":" or a space and a reason on the same line. The word ALLOW must stand
// alone. ok is false for any other text.
func Parse(answer string, words ...string) (word, reason string, ok bool) {
	answer = strings.TrimSpace(answer)
	for _, w := range words {
		rest, found := strings.CutPrefix(answer, w)
		switch {
		case !found:
		case rest == "":
			return w, "", true
		case w != allow && (rest[0] == ':' || rest[0] == ' ') && !strings.ContainsAny(rest, "\r\n"):
			reason := []rune(strings.TrimSpace(rest[1:]))
			return w, string(reason[:min(len(reason), maxReason)]), true
		}
	}
	return "", "", false
}

// The words of an answer.
const (
	allow = "ALLOW"
	deny  = "DENY"
	ask   = "ASK"
)
