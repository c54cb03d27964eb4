package wire

import (
	"slices"
	"strconv"
	"strings"
)

// ShowRequest asks an Ollama for a model's properties, and ShowResponse is the part of the answer
// that we use.
// https://docs.ollama.com/api-reference/show-model-details
type ShowRequest struct {
	Model string `json:"model"`
}

type ShowResponse struct {
	Parameters string `json:"parameters"` // of the Modelfile
	Parser     string `json:"parser"`
	Details    struct {
		Family string `json:"family"`
	} `json:"details"`
	RemoteHost   string         `json:"remote_host"`
	ModelInfo    map[string]any `json:"model_info"`
	Capabilities []string       `json:"capabilities"`
}

// Lacks reports whether the model has capabilities, but not this one. Servers before 0.6.4 list
// no capabilities.
func (s ShowResponse) Lacks(capability string) bool {
	return len(s.Capabilities) > 0 && !slices.Contains(s.Capabilities, capability)
}

// TrainedWindow returns the window in the facts of a model file, whose names begin with the
// architecture; 0 means unknown.
func (s ShowResponse) TrainedWindow() int {
	arch, _ := s.ModelInfo["general.architecture"].(string)
	if n, ok := s.ModelInfo[arch+".context_length"].(float64); ok && n > 0 {
		return int(n)
	}
	window := 0
	for key, value := range s.ModelInfo { // the longest, for a model made of two
		if n, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
			window = max(window, int(n))
		}
	}
	return window
}

// WindowParameter returns the parameter num_ctx of a Modelfile, which has a name and a value on each
// line; 0 means that it has none.
func (s ShowResponse) WindowParameter() int {
	for line := range strings.Lines(s.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			n, err := strconv.Atoi(f[1])
			if err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}
