package acp

import (
	"context"
	"errors"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// Categories of session config options. Clients have a fixed place in their interface for options
// of these categories: https://agentclientprotocol.com/protocol/v1/session-config-options
const (
	CategoryMode    = "mode"
	CategoryModel   = "model"
	CategoryThought = "thought_level"
)

// ConfigOption is a setting of a session that the user may change. Without
// Options it is a boolean, which may only be sent to clients with
// [ClientCapabilities].BooleanOptions.
type ConfigOption struct {
	ID          string
	Name        string
	Description string // may be empty
	Category    string // may be empty
	Value       OptionValue
	Options     []ConfigChoice
}

// ConfigChoice is a possible value of a ConfigOption.
type ConfigChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// typeAndValue returns the type of the option, select or boolean, and its value in the form of the type.
func (o ConfigOption) typeAndValue() (kind string, value any) {
	if o.Options == nil {
		return "boolean", o.Value.On
	}
	return "select", o.Value.Text
}

// MarshalJSON writes the type and the value in the form of the type.
func (o ConfigOption) MarshalJSON() ([]byte, error) {
	kind, value := o.typeAndValue()
	return plainjson.Marshal(struct {
		ID           string         `json:"id"`
		Name         string         `json:"name"`
		Description  string         `json:"description,omitempty"`
		Category     string         `json:"category,omitempty"`
		Type         string         `json:"type"`
		CurrentValue any            `json:"currentValue"`
		Options      []ConfigChoice `json:"options,omitempty"`
	}{o.ID, o.Name, o.Description, o.Category, kind, value, o.Options})
}

// OptionValue is the value of a config option: Text for a select, On for a boolean.
type OptionValue struct {
	Text string
	On   bool
	Bool bool // whether On is the value, rather than Text
}

type setOptionRequest struct {
	sessionRequest
	id    string
	value OptionValue
}

// decode parses the params of session/set_config_option. Older clients send no
// type. A value of an unknown type may have the form of a known one.
func (p *setOptionRequest) decode(raw []byte) error {
	o := objectOf(raw, "", "sessionId", "configId", "type", "value")
	session, err := o.requiredString("sessionId")
	if err != nil {
		return err
	}
	p.SessionID = &session
	if p.id, err = o.requiredString("configId"); err != nil {
		return err
	}
	value := o.members["value"]
	switch kind := jsonKind(value); {
	case kind == "boolean":
		p.value = OptionValue{Bool: true, On: string(value) == "true"}
	case o.optionalString("type") == "boolean" && o.has("value"):
		return ParamsErrorf("value", "must be a boolean, not %s", kind)
	case o.has("value") && kind != "string":
		return ParamsErrorf("value", "must be a string or a boolean, not %s", kind)
	default:
		p.value.Text, err = o.requiredString("value")
	}
	return err
}

// setOption answers session/set_config_option, in frame order, even during a
// turn.
func (s *Server) setOption(_ context.Context, p setOptionRequest) (secondPhase, error) {
	sess, err := s.find(p.sessionRequest)
	if err != nil {
		return secondPhase{}, err
	}
	if err := sess.SetOption(p.id, p.value); err != nil {
		return secondPhase{}, err
	}
	return secondPhase{result: setOptionResponse{sess.State().ConfigOptions}, sent: sess.Sync}, nil
}

type setOptionResponse struct {
	ConfigOptions []ConfigOption `json:"configOptions"` // all of them
}

type setModelRequest struct {
	sessionRequest
	ModelID *string `json:"modelId"`
}

func (p *setModelRequest) validate() error {
	if p.ModelID == nil {
		return ParamsErrorf("modelId", "is required")
	}
	return p.sessionRequest.validate()
}

// setModel answers session/set_model, which older clients send instead of
// session/set_config_option.
func (s *Server) setModel(_ context.Context, p setModelRequest) (secondPhase, error) {
	sess, err := s.find(p.sessionRequest)
	if err != nil {
		return secondPhase{}, err
	}
	err = sess.SetOption(CategoryModel, OptionValue{Text: *p.ModelID})
	if wrong, ok := errors.AsType[*ParamsError](err); ok {
		err = ParamsErrorf("modelId", "%s", wrong.Reason)
	}
	return secondPhase{sent: sess.Sync}, err
}
