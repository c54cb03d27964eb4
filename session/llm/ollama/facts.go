package ollama

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

const (
	// defaultWindow is how much of a larger window is used, in tokens. The server's own default
	// may be 4,096, and a system prompt with tools fills half of that. The whole window may need
	// more memory than the machine has. https://docs.ollama.com/context-length
	defaultWindow = 32_768
	// showTimeout bounds the request for a model's properties, which a server answers
	// without loading the model.
	showTimeout = 3 * time.Second
)

// modelFacts are a server's facts about a model. The zero value applies until the
// server was asked.
type modelFacts struct {
	window   int      // of the model's training, in tokens; 0 means unknown
	numCtx   int      // window in its Modelfile; 0 means there is none
	remote   bool     // runs elsewhere, with its whole window
	levels   []string // see Levels
	noImages bool     // the model accepts no images
}

// windowFor returns the window to request. want is the configured one; 0 means none.
func (f modelFacts) windowFor(want int) int {
	switch {
	case want > 0:
	case f.remote && f.window > 0:
		want = f.window
	case f.numCtx > 0:
		want = f.numCtx
	default:
		want = defaultWindow
	}
	if f.window > 0 { // the server does not allow more
		want = min(want, f.window)
	}
	return want
}

// serverFacts are shared by all models of one name at one address, since each session
// has its own Model.
type serverFacts struct {
	begin  sync.Once
	asking chan struct{} // held while asking the server; made by begin
	mu     sync.Mutex
	facts  modelFacts
	asked  bool
}

// sharedFacts returns the shared facts about the model of that name.
func (o *Model) sharedFacts(name string) *serverFacts {
	k := wire.Recall[serverFacts](o.cfg.Memory, o.base.String(), name)
	k.begin.Do(func() { k.asking = make(chan struct{}, 1) })
	return k
}

// facts returns the facts about the model so far.
func (o *Model) facts() modelFacts {
	name := o.modelName()
	if name == "" {
		return modelFacts{remote: IsHosted(o.base)}
	}
	f, _ := o.sharedFacts(name).known()
	f.remote = f.remote || IsHosted(o.base)
	return f
}

// known returns the facts so far, and whether the server was asked.
func (k *serverFacts) known() (f modelFacts, asked bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.facts, k.asked
}

// Learn asks the server about the model, unless that was done. It reports whether
// something was learned.
func (o *Model) Learn(ctx context.Context) bool {
	if o.Ready() != nil {
		return false
	}
	name, err := o.resolveModel(ctx)
	return err == nil && o.learn(ctx, name)
}

// learn asks once. A server that does not answer is asked again the next time.
func (o *Model) learn(ctx context.Context, name string) bool {
	k := o.sharedFacts(name)
	select {
	case k.asking <- struct{}{}:
		defer func() { <-k.asking }()
	case <-ctx.Done():
		return false
	}
	if _, asked := k.known(); asked {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, showTimeout)
	defer cancel()
	var show wire.ShowResponse
	if err := o.call(ctx, http.MethodPost, "api/show", wire.ShowRequest{Model: name}, &show); err != nil {
		return false // the request itself will report the failure
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.facts, k.asked = factsOf(show), true
	return true
}

// factsOf reads the answer of /api/show. Servers before 0.6.4 list no
// capabilities; then images are sent, and thinking is not configured.
func factsOf(show wire.ShowResponse) modelFacts {
	f := modelFacts{
		window:   show.TrainedWindow(),
		numCtx:   show.WindowParameter(),
		remote:   show.RemoteHost != "",
		noImages: show.Lacks("vision"),
	}
	if !slices.Contains(show.Capabilities, "thinking") {
		return f
	}
	// Only these accept a level, and their thinking cannot be turned off.
	// https://docs.ollama.com/capabilities/thinking
	family := strings.ReplaceAll(show.Details.Family, "-", "")
	if show.Parser == "harmony" || family == "gptoss" {
		f.levels = []string{"low", "medium", "high"}
	} else {
		f.levels = []string{llm.ThoughtOff, thinkOn}
	}
	return f
}

// thinkOn is the level that turns thinking on, for models without degrees.
const thinkOn = "on"
