package certify

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// allKinds are the kinds of options that an agent may offer.
var allKinds = []string{"allow_once", "allow_always", "reject_once", "reject_always"}

var questionScenarios = []scenario{
	{name: "allow-once", about: "A question.", ask: "Choose “Allow once”.", run: chosen("allow_once")},
	{name: "allow-always", about: "A question.", ask: "Choose “Allow always”.", run: chosen("allow_always")},
	{name: "reject-once", about: "A question.", ask: "Choose “Reject once”.", run: chosen("reject_once")},
	{name: "reject-always", about: "A question.", ask: "Choose “Reject always”.", run: chosen("reject_always")},
	{name: "one-option", about: "A question with one option, which rejects.", ask: "Choose it.", run: func(t *turn) { t.answer(t.question("Only a no", "reject_once")) }},
	{name: "two-questions", about: "Two questions at the same time.", ask: "Answer the second one first, if you can.", run: twoQuestions},
	{name: "withdrawn-question", about: "A question that the agent withdraws with $/cancel_request.", ask: "If it stays open, answer it.", run: withdrawn},
	{name: "form", about: "A form.", ask: "Fill it in and send it.", needs: "elicitation.form", run: form},
	{name: "url", about: "A page to open.", ask: "Answer as you like; the page need not exist.", needs: "elicitation.url", run: url},
}

// optionID returns the id of the option of a kind.
func optionID(kind string) string { return "certify-" + strings.ReplaceAll(kind, "_", "-") }

// words returns a kind of option for people.
func words(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

// question asks for permission with options of some kinds.
func (t *turn) question(title string, kinds ...string) *request {
	return t.questionIn(t.session, title, kinds...)
}

func (t *turn) questionIn(session, title string, kinds ...string) *request {
	var options []any
	for _, kind := range kinds {
		name := words(kind)
		options = append(options, map[string]any{"optionId": optionID(kind), "name": strings.ToUpper(name[:1]) + name[1:], "kind": kind})
	}
	members := map[string]any{"title": title, "kind": "execute", "status": "pending", "rawInput": map[string]any{"command": "make certify"}}
	members["toolCallId"] = t.callIn(session, members)
	params := map[string]any{"sessionId": session, "options": options}
	if t.speaks() == 2 {
		params["title"] = title
		params["subject"] = map[string]any{"type": "tool_call", "toolCall": map[string]any{"toolCallId": members["toolCallId"]}}
	} else {
		params["toolCall"] = members
	}
	t.state("requires_action")
	return t.ask("session/request_permission", params)
}

// answer waits for the answer to a question, and returns the kind of the chosen option;
// "cancelled"; or "" for no answer.
func (t *turn) answer(r *request) string { return t.judge(r, t.person(r)) }

// judge checks the answer to a question.
func (t *turn) judge(r *request, got reply) string {
	if got.silent {
		return ""
	}
	t.state("running")
	code, _ := got.failure()
	if got.Error != nil && code == -32601 {
		t.checked("capabilities", false, "session/request_permission is not served", got.frames()...)
		return ""
	}
	var result struct {
		Outcome struct {
			Outcome  string
			OptionID string
		}
	}
	_ = json.Unmarshal(got.Result, &result) // the schema is checked elsewhere
	if got.cancelled {
		statement := "permission-cancelled"
		if t.crossed {
			statement = "permission-crossed"
		}
		done := result.Outcome.Outcome == "cancelled" || code == -32800
		t.checked(statement, done, "the question is not answered with cancelled", got.frames()...)
	}
	if result.Outcome.Outcome != "selected" {
		return "cancelled"
	}
	if result.Outcome.OptionID == "" {
		return "" // reported by the schema
	}
	i := slices.IndexFunc(allKinds, func(kind string) bool { return optionID(kind) == result.Outcome.OptionID })
	offered := i >= 0 && strings.Contains(string(r.line), `"`+result.Outcome.OptionID+`"`)
	if !t.checked("permission-options", offered, "the option "+result.Outcome.OptionID+" is not offered", got.frames()...) {
		return ""
	}
	return allKinds[i]
}

// chosen returns a scenario that asks for one answer.
func chosen(want string) func(*turn) {
	return func(t *turn) {
		got := t.answer(t.question("Choose: "+words(want), allKinds...))
		if got != want {
			t.notTried("the client chose %s", words(cmp.Or(got, "nothing")))
		}
	}
}

func twoQuestions(t *turn) {
	first, second := t.question("The first question", allKinds...), t.question("The second question", allKinds...)
	t.answer(second)
	t.answer(first)
}

func withdrawn(t *turn) {
	r := t.question("A question that is withdrawn", allKinds...)
	var id struct{ ID json.RawMessage }
	_ = json.Unmarshal(r.line, &id) // our own frame
	t.send(map[string]any{"method": "$/cancel_request", "params": map[string]any{"requestId": id.ID}})
	t.answer(r)
}

// formSchema is the schema of the form. Version 2 has the same.
const formSchema = `{"type":"object","properties":{
	"name":{"type":"string","title":"Name","minLength":1},
	"colour":{"type":"string","title":"Colour","enum":["red","green"]},
	"count":{"type":"integer","title":"Count","minimum":1,"maximum":9},
	"sure":{"type":"boolean","title":"Sure"}},"required":["name","colour"]}`

func form(t *turn) {
	t.state("requires_action")
	r := t.ask("elicitation/create", map[string]any{
		"mode": "form", "sessionId": t.session, "message": "A form of certify", "requestedSchema": json.RawMessage(formSchema),
	})
	got := t.person(r)
	t.state("running")
	action, content := t.elicited(got)
	if action != "accept" {
		t.notTried("the form was not sent")
		return
	}
	var schema jsonschema.Schema
	err := json.Unmarshal([]byte(formSchema), &schema)
	if resolved, e := schema.Resolve(nil); err == nil && e == nil {
		err = fits(resolved, content)
	}
	what := ""
	if err != nil {
		what = "the content does not fit: " + err.Error()
	}
	t.checked("form-content", err == nil, what, got.frames()...)
}

// elicited returns the action of an answer, and the content of its form.
func (t *turn) elicited(got reply) (action string, content json.RawMessage) {
	if got.silent {
		return "", nil
	}
	code, _ := got.failure()
	t.checked("capabilities", code != -32601, "elicitation/create is declared, but not served", got.frames()...)
	var result struct {
		Action  string
		Content json.RawMessage
	}
	_ = json.Unmarshal(got.Result, &result) // the schema is checked elsewhere
	return result.Action, result.Content
}

func url(t *turn) {
	id := t.name("page")
	t.state("requires_action")
	got := t.person(t.ask("elicitation/create", map[string]any{
		"mode": "url", "sessionId": t.session, "elicitationId": id, "url": "https://example.com/certify", "message": "A page of certify",
	}))
	t.state("running")
	if action, _ := t.elicited(got); action == "accept" {
		t.send(map[string]any{"method": "elicitation/complete", "params": map[string]any{"elicitationId": id}})
	}
}
