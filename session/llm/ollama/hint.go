package ollama

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// errNoModels is returned for a server without a model that can chat.
var errNoModels = errors.New("it has no model to chat with")

// hintFor adds hints for failures that are Ollama's own.
// https://docs.ollama.com/api/errors
func (o *Model) hintFor(f *llm.Error, err error) {
	model := o.modelName()
	u, network := errors.AsType[*url.Error](err)
	message := strings.ToLower(f.Message)
	switch {
	case errors.Is(err, errNoModels):
		f.Hint, f.Retryable = "pull one, such as: ollama pull qwen3", false
	case network && wire.AnotherProtocol(u):
	case network && !IsHosted(o.base):
		// A server that is not running on this machine will not start by itself.
		op, dialling := errors.AsType[*net.OpError](err)
		f.Retryable = f.Retryable && !(dialling && op.Op == "dial" && wire.IsLoopback(o.base.Hostname()))
		f.Hint = fmt.Sprintf("is Ollama running at %s? Else start it with: ollama serve", o.base.Host)
	case network:
	case f.TooLong:
		f.Hint, f.Retryable = fmt.Sprintf("the window is %s: type /compact, or set a larger context_window", quantity.Count(o.Window(), "token")), false
	case strings.Contains(message, "requires more system memory"), strings.Contains(message, "out of memory"):
		f.Hint, f.Retryable = "pick a smaller model, or set a smaller context_window", false
	case f.Status == http.StatusNotFound && model != "" && strings.Contains(message, "not found") &&
		strings.Contains(message, "model") && !IsHosted(o.base):
		f.Hint = "run: ollama pull " + model
	case wire.IsAuth(f.Status) && o.endpoint.KeyEnv == "" && o.endpoint.Source == nil:
		f.Hint = "run: ollama signin, or name the variable of a key with api_key_env"
	}
}
