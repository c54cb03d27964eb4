package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
)

// Elicit asks the person for each field of a form, or to open an address. An empty line declines a field that is
// required, and leaves out any other.
func (u *User) Elicit(ctx context.Context, p acp.ElicitRequest) acp.ElicitResult {
	u.asking.Lock()
	defer u.asking.Unlock()
	if ctx.Err() != nil || u.Keyboard == nil || u.Screen == nil {
		return acp.ElicitResult{Action: acp.ElicitCancel}
	}
	call := acp.ToolCall{ToolCallID: p.ToolCallID, Title: "Question", Kind: "other"}
	question := u.Keyboard.begin()
	defer u.Keyboard.end()
	read := func(text string) (string, bool) {
		u.Screen.prompt(call, text)
		line, err := u.Keyboard.line(ctx, question)
		if err != nil {
			if ctx.Err() != nil {
				u.Screen.Interrupted()
			}
			return "", false
		}
		u.Screen.entered(line)
		return strings.TrimSpace(line), true
	}
	u.Screen.details(call, p.Message)
	r := acp.ElicitResult{Action: acp.ElicitCancel}
	if p.Schema == nil {
		u.Screen.details(call, p.URL)
		if line, ok := read("Open it, then press Enter; n declines: "); ok {
			r.Action = acp.ElicitAccept
			if strings.HasPrefix(strings.ToLower(line), "n") {
				r.Action = acp.ElicitDecline
			}
		}
	} else {
		r = u.fill(call, fieldsOf(p.Schema), read)
	}
	u.Screen.answered(call, map[acp.ElicitAction]string{acp.ElicitAccept: "answered", acp.ElicitDecline: "declined", acp.ElicitCancel: "no answer"}[r.Action])
	return r
}

// fill asks for the fields of a form.
func (u *User) fill(call acp.ToolCall, fields []field, read func(text string) (string, bool)) acp.ElicitResult {
	values := map[string]any{}
	for _, f := range fields {
		u.Screen.details(call, f.text())
		for {
			line, ok := read(f.hint())
			if !ok {
				return acp.ElicitResult{Action: acp.ElicitCancel}
			}
			if line == "" && f.Default == nil {
				if f.required {
					return acp.ElicitResult{Action: acp.ElicitDecline}
				}
				break
			}
			if value, ok := f.value(line); ok {
				values[f.name] = value
				break
			}
			u.Screen.details(call, noAnswer(line, f.possible()))
		}
	}
	return acp.ElicitResult{Action: acp.ElicitAccept, Content: encoded(values)}
}

// field is a property in the schema of a form.
type field struct {
	name     string
	required bool

	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     any             `json:"default"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []titled        `json:"oneOf"`
	Items       json.RawMessage `json:"items"`
}

// titled is a value with a name.
type titled struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// fieldsOf returns the properties of a schema, in their order.
func fieldsOf(schema json.RawMessage) (fields []field) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(s.Properties))
	if _, err := dec.Token(); err != nil { // the brace
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		f := field{name: fmt.Sprint(name)}
		if err != nil || dec.Decode(&f) != nil {
			return fields
		}
		f.required = slices.Contains(s.Required, f.name)
		fields = append(fields, f)
	}
	return fields
}

// choices returns the values that the field may have; nil if it may have any.
func (f field) choices() (all []titled) {
	of := f
	if f.Type == "array" {
		of = field{}
		var items struct {
			field
			AnyOf []titled `json:"anyOf"`
		}
		if json.Unmarshal(f.Items, &items) == nil {
			of = items.field
			of.OneOf = append(of.OneOf, items.AnyOf...)
		}
	}
	all = append(all, of.OneOf...)
	for i, v := range of.Enum {
		c := titled{Const: v}
		if i < len(of.EnumNames) {
			c.Title = of.EnumNames[i]
		}
		all = append(all, c)
	}
	return all
}

// text returns the field as the person reads it.
func (f field) text() string {
	text := f.name
	if f.Title != "" {
		text = f.Title
	}
	if f.Description != "" {
		text += ": " + f.Description
	}
	for i, c := range f.choices() {
		name := c.Const
		if c.Title != "" {
			name = c.Title
		}
		text += fmt.Sprintf("\n  %d  %s", i+1, executors.WholeLine(name))
	}
	return text
}

// hint says what can be typed.
func (f field) hint() string {
	hint := "an answer"
	switch n := len(f.choices()); {
	case f.Type == "array" && n > 0:
		hint = fmt.Sprintf("numbers from 1 to %d", n)
	case n > 0:
		hint = fmt.Sprintf("1-%d", n)
	case f.Type == "boolean":
		hint = "y, n"
	case f.Type == "number", f.Type == "integer":
		hint = "a number"
	}
	switch {
	case f.Default != nil:
		return fmt.Sprintf("%s, Enter for %s: ", hint, executors.WholeLine(fmt.Sprint(f.Default)))
	case f.required:
		return hint + ", Enter declines: "
	}
	return hint + ", Enter for none: "
}

// possible says what can be typed, for a person who has typed something else.
func (f field) possible() string {
	switch n := len(f.choices()); {
	case f.Type == "array" && n > 1:
		return numberOf(n) + ", or several with commas between"
	case n > 0:
		return numberOf(n)
	case f.Type == "boolean":
		return "y for yes, or n for no"
	case f.Type == "integer":
		return "a whole number"
	case f.Type == "number":
		return "a number"
	}
	return "an answer"
}

// value returns the value for a line; ok is false if the field cannot have it.
func (f field) value(line string) (value any, ok bool) {
	if line == "" {
		return f.Default, true
	}
	switch f.Type {
	case "boolean":
		word := strings.ToLower(line)
		yes := word == "y" || word == "yes"
		return yes, yes || word == "n" || word == "no"
	case "integer":
		n, err := strconv.ParseInt(line, 10, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(line, 64)
		return n, err == nil
	case "array":
		values := []string{}
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' }) {
			v, ok := f.choice(word)
			if !ok {
				return nil, false
			}
			values = append(values, v)
		}
		return values, true
	}
	return f.choice(line)
}

// choice returns the value that a person has typed, or the number of it.
func (f field) choice(word string) (string, bool) {
	all := f.choices()
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(all) {
		return all[n-1].Const, true
	}
	return word, len(all) == 0 || slices.ContainsFunc(all, func(c titled) bool { return c.Const == word })
}
