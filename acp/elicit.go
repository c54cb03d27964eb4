package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/sourcegraph/jsonrpc2"
)

// ElicitRequest asks the user for information: with a form if Schema is set, else with a
// visit to URL. https://agentclientprotocol.com/protocol/v1/elicitation
type ElicitRequest struct {
	SessionID  string
	ToolCallID string // may be empty
	Message    string // the request and its reason
	// Schema is a JSON Schema of a flat object: each property is a string, a
	// number, an integer, a boolean or an array of strings. Clients show the
	// properties in their order.
	Schema json.RawMessage
	// URL is http or https. ElicitationID is for [Client.ElicitComplete].
	URL, ElicitationID string
}

// elicitation is an ElicitRequest on the wire.
type elicitation struct {
	SessionID       string          `json:"sessionId"`
	ToolCallID      string          `json:"toolCallId,omitempty"`
	Message         string          `json:"message"`
	Mode            string          `json:"mode"`
	RequestedSchema json.RawMessage `json:"requestedSchema,omitempty"`
	ElicitationID   string          `json:"elicitationId,omitempty"`
	URL             string          `json:"url,omitempty" texts:"-"`
}

// ElicitAction is the user's reaction to an [ElicitRequest].
type ElicitAction string

// The actions. ElicitDecline is a refusal, ElicitCancel no answer.
const (
	ElicitAccept  ElicitAction = "accept"
	ElicitDecline ElicitAction = "decline"
	ElicitCancel  ElicitAction = "cancel"
)

// ElicitResult is the user's answer.
type ElicitResult struct {
	Action ElicitAction
	// Content is the user's input, an object, after ElicitAccept of a form. The
	// client may not have validated it against the schema.
	Content json.RawMessage
}

// UnmarshalJSON reads an unknown action as ElicitCancel.
func (r *ElicitResult) UnmarshalJSON(b []byte) error {
	if kind := jsonKind(b); kind != "object" {
		return fmt.Errorf("%s instead of an object", kind)
	}
	var wire struct {
		Action  json.RawMessage `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(b, &wire); err != nil {
		return err
	}
	*r = ElicitResult{Action: ElicitCancel}
	switch string(wire.Action) {
	case `"decline"`:
		r.Action = ElicitDecline
	case `"accept"`:
		switch kind := jsonKind(wire.Content); {
		case kind == "", kind == "null", isEmpty(wire.Content):
			r.Content = json.RawMessage("{}")
		case kind == "object":
			r.Content = wire.Content
		default:
			return fmt.Errorf("content is %s instead of an object", kind)
		}
		r.Action = ElicitAccept
	}
	return nil
}

// Elicit asks the user. If the client does not support this, nothing is sent and the
// error is a *ClientError whose Unsupported method returns true.
func (c *Client) Elicit(ctx context.Context, p ElicitRequest) (ElicitResult, error) {
	const method = "elicitation/create"
	supported, err := c.Capabilities().ElicitForm, checkFormSchema(p.Schema)
	if p.Schema == nil {
		supported, err = c.Capabilities().ElicitURL, p.checkURL()
	}
	if !supported {
		return ElicitResult{}, unsupported(method)
	}
	if err != nil {
		return ElicitResult{}, fmt.Errorf("%s: %w", method, err)
	}
	wire := elicitation{SessionID: p.SessionID, ToolCallID: p.ToolCallID, Message: shownText(p.Message), Mode: "form", RequestedSchema: shownSchema(p.Schema)}
	if p.Schema == nil {
		wire.Mode, wire.ElicitationID, wire.URL = "url", p.ElicitationID, p.URL
	}
	done, err := c.asking(ctx, p.SessionID, p.ToolCallID)
	if err != nil {
		return ElicitResult{}, err
	}
	defer done()
	var r ElicitResult
	if err := c.call(ctx, method, wire, &r); err != nil {
		return ElicitResult{}, err // a malformed answer may be decoded in part
	}
	return r, nil
}

// ElicitComplete notifies the client that the action of an ElicitRequest with a
// URL is complete, so that it can remove its question. It needs ElicitURL.
func (c *Client) ElicitComplete(elicitationID string) error {
	const method = "elicitation/complete"
	if !c.Capabilities().ElicitURL {
		return unsupported(method)
	}
	return c.stream.write(notification{"2.0", method, map[string]string{"elicitationId": elicitationID}})
}

func unsupported(method string) error {
	return &ClientError{Method: method, Code: jsonrpc2.CodeMethodNotFound, Message: "the client does not support it"}
}

func (p ElicitRequest) checkURL() error {
	u, err := url.Parse(p.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("%q is not an http or https URL", p.URL)
	}
	if p.ElicitationID == "" {
		return fmt.Errorf("no id for %s", p.URL)
	}
	return nil
}

// checkFormSchema returns an error for a schema that no form can show. Schemas also come
// from MCP servers.
func checkFormSchema(schema json.RawMessage) error {
	var s struct {
		Type       string `json:"type"`
		Properties map[string]struct {
			Type  string `json:"type"`
			Enum  []any  `json:"enum"`
			Items *struct {
				Type string `json:"type"`
				Enum []any  `json:"enum"`
			} `json:"items"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("schema of a form: %w", wrongType(err))
	}
	if s.Type != "object" {
		return fmt.Errorf("schema of a form: type is %q instead of object", s.Type)
	}
	for name, p := range s.Properties {
		values := append(p.Enum, name)
		if p.Items != nil {
			values = append(values, p.Items.Enum...)
		}
		if err := checkShown(values); err != nil {
			return fmt.Errorf("schema of a form: %w", err)
		}
		switch p.Type {
		case "string", "number", "integer", "boolean":
		case "array":
			if p.Items == nil || p.Items.Type != "string" && p.Items.Type != "" { // without a type it lists titled strings
				return fmt.Errorf("schema of a form: %s is an array of values other than strings", name)
			}
		default:
			return fmt.Errorf("schema of a form: %s is of type %q, which no form can show", name, p.Type)
		}
	}
	return nil
}
