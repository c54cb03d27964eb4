package question_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/agent/question"
)

// user answers questions and keeps the last one.
type user struct {
	reply executors.Reply
	err   error
	asked executors.Question
}

func (u *user) ask(_ context.Context, q executors.Question) (executors.Reply, error) {
	u.asked = q
	return u.reply, u.err
}

// run makes a call as the turn loop does.
func run(t *testing.T, ask func(context.Context, executors.Question) (executors.Reply, error), input string) (executors.Card, executors.Result) {
	t.Helper()
	e := executors.Chain(executors.NewDynExecutor(question.New(setting.Default[question.Config]())), executors.Validate)
	call := &executors.Call{
		Tool: question.Name, Input: json.RawMessage(input), Record: &executors.Record{}, Notify: func(executors.Event) {},
		InTurn: executors.InTurn{Question: ask},
	}
	call.Card, call.PrepareErr = e.Prepare(t.Context(), call)
	if call.PrepareErr != nil {
		return call.Card, executors.FailWith(call.PrepareErr)
	}
	res, err := e.Execute(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return call.Card, res
}

func TestReactions(t *testing.T) {
	for name, tt := range map[string]struct {
		user user
		want string
	}{
		"answered":   {user{reply: executors.Reply{Reaction: executors.Answered, Answer: "8080"}}, "The user answers: 8080"},
		"declined":   {user{reply: executors.Reply{Reaction: executors.Declined}}, "The user declined to answer. Continue with"},
		"unanswered": {user{reply: executors.Reply{Reaction: executors.Unanswered}}, "The user gave no answer. Continue with"},
		"later":      {user{reply: executors.Reply{Reaction: executors.Later}}, "The question ends this turn."},
		"refused":    {user{err: errors.New("too many")}, "too many"},
	} {
		card, res := run(t, tt.user.ask, `{"question":" Which\u202e port?\nSay. ","options":["80","80"," 8080\u0007 ",""]}`)
		if !strings.Contains(res.ForModel(), tt.want) || res.Failed != (tt.user.err != nil) || card.Title != "Which port? Say." {
			t.Errorf("%s: %q, %+v", name, res.ForModel(), card)
		}
		want := executors.Question{Text: "Which port?\nSay.", Options: []string{"80", "8080"}, Limit: 3}
		if !reflect.DeepEqual(tt.user.asked, want) {
			t.Errorf("%s: asked %+v", name, tt.user.asked)
		}
	}
}

func TestUnfit(t *testing.T) {
	var u user
	for input, want := range map[string]string{
		`{}`: "question is missing", `{"question":" \u0000 "}`: "the question is empty",
		`{"question":"a","options":["1","2","3","4","5","6","7","8","9"]}`: "options",
	} {
		if _, res := run(t, u.ask, input); !res.Failed || !strings.Contains(res.ForModel(), want) {
			t.Errorf("%s: %s", input, res.ForModel())
		}
	}
	if _, res := run(t, nil, `{"question":"a"}`); !res.Failed || !strings.Contains(res.ForModel(), "only a model") {
		t.Errorf("without a turn: %s", res.ForModel())
	}
	long := strings.Repeat("é", 3000)
	if run(t, u.ask, `{"question":"`+long+`"}`); len([]rune(u.asked.Text)) != 2001 {
		t.Errorf("a long question has %d characters", len([]rune(u.asked.Text)))
	}
}

func TestConfig(t *testing.T) {
	if tools := question.New(question.Config{MaxPerTurn: 3}).Tools(); len(tools) != 0 {
		t.Errorf("%d tools while it is off", len(tools))
	}
	for n, wrong := range map[int]bool{0: true, 1: false, 20: false, 21: true} {
		if got := len(setting.Check(question.Config{MaxPerTurn: n})) > 0; got != wrong {
			t.Errorf("max_per_turn = %d: wrong %t", n, got)
		}
	}
	if c, ignored := setting.Tighten(setting.Default[question.Config](), question.Config{MaxPerTurn: 1},
		setting.Paths[question.Config]()...); c != (question.Config{MaxPerTurn: 1}) || ignored != nil {
		t.Errorf("%+v, %v", c, ignored)
	}
	if c, ignored := setting.Tighten((question.Config{MaxPerTurn: 1}), setting.Default[question.Config](),
		setting.Paths[question.Config]()...); c != (question.Config{MaxPerTurn: 1}) || len(ignored) != 2 {
		t.Errorf("%+v, %v", c, ignored)
	}
}
