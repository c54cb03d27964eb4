package chat

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// chooseListed reports whether a text answers the list of models, and acts on it.
func (c *Chat) chooseListed(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	listed := c.offeredModels
	if listed == nil {
		return false
	}
	c.offeredModels = nil
	c.work.Go(func() { c.choose(listed, text) })
	return true
}

// listModels shows the models to choose from.
func (c *Chat) listModels(models []choice) {
	var lines []string
	for i, m := range models {
		mark := " "
		if m.Current {
			mark = "*"
		}
		lines = append(lines, strconv.Itoa(i+1)+mark+" "+headless.Visible(m.Name))
	}
	c.screen.Say(strings.Join(append(lines, "Type a number, or Enter for no change."), "\n"))
}

// choose selects the model that the user chose.
func (c *Chat) choose(models []choice, text string) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(models) {
		c.screen.Say("The model is not changed.")
		return
	}
	m := models[n-1]
	params := map[string]any{"sessionId": c.session.id(), "configId": m.Option, "value": m.Value}
	var result json.RawMessage
	if err := c.call("session/set_config_option", params, &result); err != nil {
		c.screen.Say("The model is not changed: " + err.Error())
		return
	}
	c.mu.Lock()
	c.stored = true
	c.mu.Unlock()
	c.session.update(result)
	c.screen.Say("The model is " + headless.Visible(m.Name) + ".")
}
