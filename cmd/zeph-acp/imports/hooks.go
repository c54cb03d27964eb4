package imports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/gates/hooks"
)

// hookGroup is the hooks of an event that have the same matcher, as a file has them.
type hookGroup struct {
	event string
	text  string // JSON without spaces
	file  string
}

// readHooks collects the hooks of a file, by event.
func (i *importer) readHooks(file string, raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	groups, err := groupsOf(raw)
	if err == nil {
		var wrapped []byte
		if wrapped, err = json.Marshal(map[string]json.RawMessage{"hooks": raw}); err == nil {
			mistakes, warnings := hooks.Check(wrapped, hooks.Config{TimeoutSecs: 60})
			for _, w := range slices.Concat(mistakes, warnings) {
				i.note(leaves, "hooks of "+i.shown(file), "%s", w)
			}
		}
	}
	if err != nil {
		i.unread(file, fmt.Errorf("hooks: %w", err))
		return
	}
	for _, g := range groups {
		if !slices.Contains(hooks.Events(), hooks.Event(g.event)) {
			continue // noted above
		}
		g.file = file
		i.hooks = append(i.hooks, g)
	}
}

// groupsOf returns the groups of hooks in the member hooks of a file.
func groupsOf(raw []byte) (all []hookGroup, err error) {
	var events map[string][]json.RawMessage
	if err := json.Unmarshal(raw, &events); err != nil {
		return nil, err
	}
	for _, event := range slices.Sorted(maps.Keys(events)) {
		for _, group := range events[event] {
			var compact bytes.Buffer
			if err := json.Compact(&compact, group); err != nil {
				return nil, err
			}
			all = append(all, hookGroup{event: event, text: compact.String()})
		}
	}
	return all, nil
}

// addHooks adds the collected hooks that the user's file does not have.
func (i *importer) addHooks() {
	if len(i.hooks) == 0 {
		return
	}
	file := filepath.Join(i.loaded.Paths.Config, hooks.FileName)
	old := i.read(file)
	if _, err := mergeHooks(old, i.hooks); err != nil {
		i.unread(file, err)
		return
	}
	var have []hookGroup
	var members map[string]json.RawMessage
	if json.Unmarshal(old, &members) == nil {
		have, _ = groupsOf(members["hooks"]) // none if it has no hooks
	}
	var fresh []hookGroup
	var shown []string
	count := 0
	for _, g := range i.hooks {
		same := func(o hookGroup) bool { return o.event == g.event && o.text == g.text }
		if slices.ContainsFunc(have, same) || slices.ContainsFunc(fresh, same) {
			count++
			continue
		}
		fresh, shown = append(fresh, g), append(shown, g.event+" "+g.text)
	}
	if count > 0 {
		i.note(there, "hooks", "%d of them, in %s", count, i.shown(file))
	}
	if len(fresh) == 0 {
		return
	}
	i.add(step{
		state: adds, what: "hooks, which run in all your sessions without a question", why: "to " + i.shown(file), text: shown,
		do: func() error {
			return keys.EditFile(file, func(old []byte) ([]byte, error) { return mergeHooks(old, fresh) })
		},
	})
}

// mergeHooks returns a file of hooks with more groups.
func mergeHooks(old []byte, groups []hookGroup) ([]byte, error) {
	members := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(old)) > 0 {
		if err := json.Unmarshal(old, &members); err != nil {
			return nil, err
		}
	}
	events := map[string][]json.RawMessage{}
	if raw := members["hooks"]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &events); err != nil {
			return nil, err
		}
	}
	for _, g := range groups {
		events[g.event] = append(events[g.event], json.RawMessage(g.text))
	}
	raw, err := json.Marshal(events)
	if err != nil {
		return nil, err
	}
	members["hooks"] = raw
	return json.MarshalIndent(members, "", "  ")
}
