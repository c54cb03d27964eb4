package ollama

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

const (
	// ollamaWindow is what a model gets of a larger window, in tokens. The
	// server's own default may be 4,096, which a system prompt with tools half
	// fills, and all of the window may need more memory than there is.
	// https://docs.ollama.com/context-length
	defaultWindow = 32_768
	// showTimeout bounds the question what a model can do; the answer takes the
	// server no work.
	showTimeout = 3 * time.Second
)

// ollamaFacts is what a server knows of a model. The zero value is what holds
// until it was asked.
type modelFacts struct {
	window int      // that the model was trained for, in tokens; 0 means unknown
	numCtx int      // that its Modelfile asks for; 0 means that it does not
	remote bool     // runs elsewhere, where the whole window is there
	levels []string // see Levels
	blind  bool     // takes no images
}

// use is the window that is used where want is configured; 0 means that nothing
// is.
func (f modelFacts) use(want int) int {
	switch {
	case want > 0:
	case f.remote && f.window > 0:
		want = f.window
	case f.numCtx > 0:
		want = f.numCtx
	default:
		want = defaultWindow
	}
	if f.window > 0 { // the server does not give more
		want = min(want, f.window)
	}
	return want
}

// ollamaKnown is shared by all models of one name at one address, since each
// session has a Model of its own.
type serverFacts struct {
	begin  sync.Once
	asking chan struct{} // has room for the one who asks the server; made by begin
	mu     sync.Mutex
	facts  modelFacts
	asked  bool
}

func (o *Model) memory(name string) *serverFacts {
	k := wire.Recall[serverFacts](o.cfg.Memory, o.base.String(), name)
	k.begin.Do(func() { k.asking = make(chan struct{}, 1) })
	return k
}

// known gives what is known of the model already.
func (o *Model) known() (f modelFacts, asked bool) {
	name := o.picked()
	if name == "" {
		return modelFacts{remote: IsHosted(o.base)}, false
	}
	return o.memory(name).get(IsHosted(o.base))
}

func (k *serverFacts) get(remote bool) (modelFacts, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.facts
	f.remote = f.remote || remote
	return f, k.asked
}

// Learn asks the server what it knows of the model, unless that is known. It
// reports whether something was learned.
func (o *Model) Learn(ctx context.Context) bool {
	if o.Ready() != nil {
		return false
	}
	name, err := o.pick(ctx)
	return err == nil && o.learn(ctx, name)
}

// learn asks once; a server that does not answer is asked again the next time.
func (o *Model) learn(ctx context.Context, name string) bool {
	k := o.memory(name)
	select {
	case k.asking <- struct{}{}:
		defer func() { <-k.asking }()
	case <-ctx.Done():
		return false
	}
	if _, asked := k.get(false); asked {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, showTimeout)
	defer cancel()
	var show api.ShowResponse
	if err := o.call(ctx, http.MethodPost, "api/show", api.ShowRequest{Model: name}, &show); err != nil {
		return false // what is wrong the request itself will tell
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.facts, k.asked = factsOf(show), true
	return true
}

// ollamaFactsOf reads the answer of /api/show. Servers before 0.6.4 tell nothing
// of capabilities; then images are sent, and the thinking is left alone.
// https://docs.ollama.com/api-reference/show-model-details
func factsOf(show api.ShowResponse) modelFacts {
	f := modelFacts{
		window: contextLength(show.ModelInfo),
		numCtx: numCtx(show.Parameters),
		remote: show.RemoteHost != "",
		blind:  len(show.Capabilities) > 0 && !slices.Contains(show.Capabilities, model.CapabilityVision),
	}
	if !slices.Contains(show.Capabilities, model.CapabilityThinking) {
		return f
	}
	// Only these take a level, and cannot be told to think not at all.
	// https://docs.ollama.com/capabilities/thinking
	family := strings.ReplaceAll(show.Details.Family, "-", "")
	if show.Parser == "harmony" || family == "gptoss" {
		f.levels = []string{"low", "medium", "high"}
	} else {
		f.levels = []string{llm.ThoughtOff, thinkOn}
	}
	return f
}

// thinkOn is the level of a model that only can think or not.
const thinkOn = "on"

// contextLength finds the window among the facts of a model file, whose names
// begin with its architecture.
func contextLength(facts map[string]any) int {
	arch, _ := facts["general.architecture"].(string)
	if n, ok := facts[arch+".context_length"].(float64); ok && n > 0 {
		return int(n)
	}
	window := 0
	for key, value := range facts { // the longest, where a model is made of two
		if n, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
			window = max(window, int(n))
		}
	}
	return window
}

// numCtx finds the parameter of that name in a Modelfile's: a name and a value on
// each line.
func numCtx(parameters string) int {
	for line := range strings.Lines(parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			n, err := strconv.Atoi(f[1])
			if err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}
