package integration

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestHostileMCPLists runs servers whose prompts and resources have bad habits in one
// session. None hurts the commands, another server or the turn.
func TestHostileMCPLists(t *testing.T) {
	t.Parallel()
	config, ready := "[tools.information_flow]\nenabled = false\n"+allowReads+mcpTable(t, "good", "library"), []string{"good"}
	for _, habit := range []string{"many", "endless", "names", "nonsense", "storm", "hang", "100 MiB", "exit"} {
		table := hostileTable(t, nameOf(habit), "lists: "+habit)
		if habit == "storm" { // its answer comes after the storm
			table = strings.Replace(table, "timeout_secs = 2", "timeout_secs = 60", 1)
		}
		config += table
		ready = append(ready, nameOf(habit))
	}
	m := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("ok")), fakemodel.Answer(fakemodel.Say("ok")))
	a := connect(t, start{env: m.Env(), config: config})
	s := a.open()
	a.untilReady(s, ready...)

	a.checkContains(a.turnOf(s, "/clear"), "The conversation was cleared") // not the prompt of that name
	a.checkContains(a.turnOf(s, "/nonsense:run"), "`/nonsense:run` failed")
	a.checkContains(a.turnOf(s, "/exit:run"), "`/exit:run` failed")
	a.checkContains(a.turnOf(s, "/hang:run"), "has no prompt `/hang:run`")
	a.checkContains(a.turnOf(s, `/read_resource {"server":"100MiB","uri":"x:run"}`), "more than 64 MiB")
	a.checkContains(a.turnOf(s, `/read_resource {"server":"nonsense","uri":"x:run"}`), `"status":"failed"`)
	a.checkContains(a.turnOf(s, "/storm__run {}"), "done")
	a.turnOf(s, "/names:clear")
	a.turnOf(s, "/good:talk")
	a.checkContains(m.Requests()[0], `"done"`)
	a.checkContains(m.Requests()[1], "And the double of that?")
	a.checkContains(a.turnOf(s, `/read_resource {"server":"good","uri":"note://days/monday"}`), "Notes of monday")

	text := a.turnOf(s, `/list_resources {}`)
	if strings.ContainsAny(text, "\u202e") || strings.Contains(text, `\u001b`) || strings.Contains(text, strings.Repeat("long", 600)) {
		t.Errorf("a URI that cannot be shown: %.3000s", text)
	}
	for _, f := range a.agentFrames() {
		for _, c := range commandsIn(f) {
			name, _, _ := strings.Cut(c, " ")
			if len(name) > 64 || strings.ContainsAny(c, "\x1b\u202e\n") {
				t.Errorf("the command %q", c)
			}
		}
		if n := len(commandsIn(f)); n > 1100 { // 500 of a server, and few servers have so many
			t.Errorf("%d commands", n)
		}
	}
	if n := a.updatesOfCommands(); n > 100 {
		t.Errorf("a storm led to %d updates of the commands", n)
	}
}

// updatesOfCommands counts the updates of the commands.
func (a *agent) updatesOfCommands() int {
	n := 0
	for _, f := range a.agentFrames() {
		if commandsIn(f) != nil {
			n++
		}
	}
	return n
}

// TestHostileMCPListMemory checks that long lists and large resources do not take the
// memory of the agent.
func TestHostileMCPListMemory(t *testing.T) {
	for _, habit := range []string{"many", "100 MiB"} {
		t.Run(habit, func(t *testing.T) {
			t.Parallel()
			a := connect(t, start{config: allowReads + hostileTable(t, "bad", "lists: "+habit)})
			s := a.open()
			a.turnOf(s, `/read_resource {"server":"bad","uri":"x:run"}`)
			a.checkContains(a.turnOf(s, "/bash echo built in"), "built in")
			peak := statusKiB(t, a.cmd.Process.Pid, "VmHWM") >> 10
			t.Logf("%d MiB", peak)
			if peak >= 100 && !raceEnabled() {
				t.Errorf("the agent took %d MiB", peak)
			}
		})
	}
}
