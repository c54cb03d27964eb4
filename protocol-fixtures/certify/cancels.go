package certify

var cancelScenarios = []scenario{
	{name: "cancel", about: "A turn that goes on until it is cancelled.", ask: "Cancel it now.", run: cancelStream},
	{name: "cancel-question", about: "A turn that waits for an answer.", ask: "Cancel the turn without an answer.", run: cancelQuestion},
	{name: "cancel-race", about: "A question that crosses the cancel.", ask: "Cancel the turn now.", run: cancelRace},
}

func cancelStream(t *turn) {
	id := t.call(map[string]any{"title": "A long call", "kind": "execute", "status": "in_progress"})
	if !t.waitForCancel() {
		return
	}
	t.say("These words come after the cancel.")
	t.change(id, map[string]any{"status": "failed", "content": []any{textContent("Cancelled.")}})
}

func cancelQuestion(t *turn) {
	r := t.question("Cancel the turn instead of an answer", allKinds...)
	t.wants("cancel")
	got := t.person(r)
	t.wants("")
	answer := t.judge(r, got)
	switch {
	case answer == "":
		t.notTried("the client chose nothing")
	case answer != "cancelled":
		t.notTried("the client chose %s", words(answer))
	case !got.cancelled: // some clients answer first
		t.waitForCancel()
	}
}

func cancelRace(t *turn) {
	if !t.waitForCancel() {
		return
	}
	t.crossed = true
	r := t.question("A question that crosses the cancel", allKinds...)
	t.judge(r, t.within(r, t.config.Patience))
}
