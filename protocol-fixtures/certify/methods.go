package certify

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// params are the params of the client's requests that the agent reads.
type params struct {
	ProtocolVersion       int             `json:"protocolVersion"`
	ClientInfo            *Client         `json:"clientInfo"`
	Info                  *Client         `json:"info"` // version 2
	ClientCapabilities    map[string]any  `json:"clientCapabilities"`
	Capabilities          map[string]any  `json:"capabilities"` // version 2
	SessionID             string          `json:"sessionId"`
	CWD                   string          `json:"cwd"`
	AdditionalDirectories []string        `json:"additionalDirectories"`
	MCPServers            []contentBlock  `json:"mcpServers"`
	MethodID              string          `json:"methodId"`
	ModeID                string          `json:"modeId"`
	ConfigID              string          `json:"configId"`
	Value                 any             `json:"value"`
	ReplayFrom            any             `json:"replayFrom"`
	RequestID             json.RawMessage `json:"requestId"`
	Prompt                []contentBlock  `json:"prompt"`
}

// contentBlock is a member of a prompt, or an MCP server.
type contentBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// What an agent advertises, for the prompts, MCP servers and logins of a client.
var (
	blockTypes  = []string{"text", "resource_link", "image", "resource"}
	serverTypes = []string{"", "stdio", "http"}
	loginMethod = "certify"
)

// The values that an agent offers.
var (
	modes      = []string{"ask", "code"}
	styles     = []string{"short", "long"}
	emptyReply = map[string]any{}
)

// handlers are the methods of the agent that both or one of the versions have. Each one answers
// its request.
var handlers = map[string]func(*agent, frame, params){
	"initialize":                (*agent).initialize,
	"authenticate":              (*agent).login,
	"auth/login":                (*agent).login,
	"logout":                    (*agent).ok,
	"auth/logout":               (*agent).ok,
	"session/new":               (*agent).newSession,
	"session/load":              (*agent).load,
	"session/resume":            (*agent).load,
	"session/list":              (*agent).list,
	"session/close":             (*agent).ok,
	"session/delete":            (*agent).ok,
	"session/set_mode":          (*agent).setMode,
	"session/set_config_option": (*agent).setOption,
	"session/prompt":            (*agent).prompt,
	"session/cancel":            (*agent).cancel,
	"$/cancel_request":          (*agent).cancelRequest,
}

// handle handles a request or a notification.
func (a *agent) handle(f frame) {
	var p params
	_ = json.Unmarshal(f.Params, &p) // members of a wrong type are reported by the schema
	key := f.Method + " Request"
	if f.ID == nil {
		key = f.Method + " Notification"
	}
	if f.Method == "initialize" {
		a.negotiate(p)
	} else {
		a.checked("initialize-first", a.speaks() > 0, f.Method+" comes before initialize", clientFrame(f.line))
	}
	version := max(a.speaks(), 1)
	if handlers[f.Method] == nil || !has(version, key) {
		if f.ID != nil {
			known := strings.HasPrefix(f.Method, "_") // an extension may be tried
			a.checked("advertised", known, f.Method+" is no method of an agent of this version", clientFrame(f.line))
			a.refuse(f.ID, -32601, "unknown method: "+f.Method)
		}
		return
	}
	a.mu.Lock()
	a.valid("params", key, f.Params, clientFrame(f.line))
	if p.SessionID != "" {
		_, known := a.sessions[p.SessionID]
		a.note("known-sessions", known || strings.HasPrefix(p.SessionID, "certify-"), "the session "+p.SessionID+" is not known", clientFrame(f.line))
	}
	for _, dir := range append(slices.Clone(p.AdditionalDirectories), p.CWD) {
		a.note("absolute-paths", dir == "" || filepath.IsAbs(dir), "the directory "+dir+" is not absolute", clientFrame(f.line))
	}
	for _, s := range p.MCPServers {
		a.note("advertised", slices.Contains(serverTypes, s.Type), "MCP servers of the type "+s.Type+" are not advertised", clientFrame(f.line))
	}
	for _, b := range p.Prompt {
		a.note("advertised", slices.Contains(blockTypes, b.Type), "content of the type "+b.Type+" is not advertised", clientFrame(f.line))
	}
	a.mu.Unlock()
	handlers[f.Method](a, f, p)
}

// speaks returns the version of the connection; 0 before initialize.
func (a *agent) speaks() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.version
}

// negotiate chooses the version and notes the client's capabilities.
func (a *agent) negotiate(p params) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.version != 0 {
		return
	}
	a.version, a.client = 1, p.ClientCapabilities
	if p.ProtocolVersion >= 2 && a.config.Protocol != "v1" && (p.Info != nil || a.config.Protocol == "v2") {
		a.version, a.client = 2, p.Capabilities
	}
	a.report.Protocol = a.version
	for _, c := range []*Client{p.ClientInfo, p.Info} {
		if c != nil {
			a.report.Client = Client{clip(c.Name, 100), clip(c.Version, 100)}
		}
	}
}

func (a *agent) initialize(f frame, p params) {
	a.mu.Lock()
	version, again := a.version, a.report.began
	a.note("initialize-first", !again, "initialize comes twice", clientFrame(f.line))
	a.report.began = true
	a.changed()
	a.mu.Unlock()
	if a.config.Protocol == "v2" && p.ProtocolVersion < 2 {
		a.mu.Lock()
		a.version, a.report.began = 0, false // the client may try again
		a.mu.Unlock()
		a.close(f.ID)
		a.send(map[string]any{"id": f.ID, "error": map[string]any{
			"code": -32022, "message": "only version 2 is tested", "data": map[string]any{"requested": p.ProtocolVersion, "supported": []int{2}},
		}})
		return
	}
	info := map[string]any{"name": "zeph-acp-certify", "title": "zeph-acp certify", "version": a.config.Version}
	if version == 2 {
		a.respond(f.ID, map[string]any{
			"protocolVersion": 2, "info": info,
			"capabilities": map[string]any{"session": map[string]any{
				"prompt": map[string]any{"image": emptyReply, "embeddedContext": emptyReply}, "mcp": map[string]any{"stdio": emptyReply, "http": emptyReply},
				"delete": emptyReply, "additionalDirectories": emptyReply,
			}},
			"authMethods": []any{map[string]any{"type": "agent", "methodId": loginMethod, "name": "Nothing to log in to"}},
		})
		return
	}
	a.respond(f.ID, map[string]any{
		"protocolVersion": 1, "agentInfo": info,
		"agentCapabilities": map[string]any{
			"loadSession": true, "promptCapabilities": map[string]any{"image": true, "embeddedContext": true},
			"mcpCapabilities": map[string]any{"http": true}, "auth": map[string]any{"logout": emptyReply},
			"sessionCapabilities": map[string]any{
				"list": emptyReply, "resume": emptyReply, "close": emptyReply, "delete": emptyReply, "additionalDirectories": emptyReply,
			},
		},
		"authMethods": []any{map[string]any{"id": loginMethod, "name": "Nothing to log in to"}},
	})
}

func (a *agent) login(f frame, p params) {
	a.checked("advertised", p.MethodID == loginMethod, "the login method "+p.MethodID+" is not advertised", clientFrame(f.line))
	a.ok(f, p)
}

func (a *agent) ok(f frame, _ params) { a.respond(f.ID, emptyReply) }

// name returns a new id of a session, message or call.
func (a *agent) name(kind string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lastName++
	return fmt.Sprintf("certify-%s-%d", kind, a.lastName)
}

func (a *agent) newSession(f frame, p params) {
	id := a.name("session")
	a.mu.Lock()
	a.sessions[id] = p.CWD
	a.mu.Unlock()
	result := a.setup()
	result["sessionId"] = id
	a.respond(f.ID, result)
	a.offer(id)
}

// offer sends the list of commands, which version 2 has in its result.
func (a *agent) offer(session string) {
	if a.speaks() == 1 {
		a.update(session, "available_commands_update", map[string]any{"availableCommands": a.commands()})
	}
}

// setup returns the members of a new session's result.
func (a *agent) setup() map[string]any {
	if a.speaks() == 2 {
		return map[string]any{"configOptions": a.options(), "availableCommands": a.commands()}
	}
	return map[string]any{"configOptions": a.options(), "modes": a.modes()}
}

// load replays the conversation of a session, where the client asks for it.
func (a *agent) load(f frame, p params) {
	a.mu.Lock()
	a.sessions[p.SessionID] = p.CWD
	a.report.reached("load")
	a.mu.Unlock()
	if f.Method == "session/load" || p.ReplayFrom != nil {
		a.replay(p.SessionID)
	}
	if a.speaks() == 2 {
		a.update(p.SessionID, "state_update", map[string]any{"state": "idle"})
	}
	a.respond(f.ID, a.setup())
	a.offer(p.SessionID)
}

func (a *agent) list(f frame, p params) {
	dir := p.CWD
	a.mu.Lock()
	for _, known := range a.sessions {
		if dir == "" {
			dir = known
		}
	}
	a.report.reached("list")
	sessions := []any{}
	if dir != "" {
		a.sessions["certify-history"] = dir
		sessions = append(sessions, map[string]any{"sessionId": "certify-history", "cwd": dir, "title": "A session of certify", "updatedAt": "2026-01-02T03:04:05Z"})
	}
	a.mu.Unlock()
	a.respond(f.ID, map[string]any{"sessions": sessions})
}

func (a *agent) setMode(f frame, p params) {
	a.checked("offered-values", slices.Contains(modes, p.ModeID), "the mode "+p.ModeID+" is not offered", clientFrame(f.line))
	a.choose(&a.mode, p.ModeID, modes)
	a.respond(f.ID, emptyReply)
	a.update(p.SessionID, "config_option_update", map[string]any{"configOptions": a.options()})
}

func (a *agent) setOption(f frame, p params) {
	offered, current := styles, &a.value
	if p.ConfigID == "mode" {
		offered, current = modes, &a.mode
	}
	value, _ := p.Value.(string) // the option "verbose" is boolean
	ok := (p.ConfigID == "mode" || p.ConfigID == "style") && slices.Contains(offered, value)
	if p.ConfigID == "verbose" {
		_, ok = p.Value.(bool)
	}
	a.checked("offered-values", ok, fmt.Sprintf("the value %v of the option %s is not offered", p.Value, p.ConfigID), clientFrame(f.line))
	a.choose(current, value, offered)
	a.respond(f.ID, map[string]any{"configOptions": a.options()})
}

// choose sets a value, if it is offered.
func (a *agent) choose(current *string, value string, offered []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.report.reached("options-set")
	if slices.Contains(offered, value) {
		*current = value
	}
}

// cancel cancels the running and the waiting prompts of a session.
func (a *agent) cancel(_ frame, p params) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.prompts {
		if t.session == p.SessionID || slices.Contains(t.children, p.SessionID) {
			t.stop()
		}
	}
}

// cancelRequest cancels a prompt by the id of its request.
func (a *agent) cancelRequest(_ frame, p params) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.prompts {
		if string(t.id) == string(p.RequestID) {
			t.stop()
		}
	}
}
