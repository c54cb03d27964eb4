package acp

// dialect is one version of the protocol as a connection speaks it. Everything else in this package
// and all packages above it use the same values for every version: updates, questions, requests. A
// dialect is chosen by the first initialize, on the read goroutine, and then stays.
//
// The neutral types of updates have the form in which sessions are stored. Version 1 sends that form, without
// the members that it does not have, and plans in the form that the client asked for.
type dialect interface {
	// methods returns the handlers of all requests and notifications; the answer to any other
	// request is -32601.
	methods() map[string]handler
	// update writes the frames of a session update: none if the version has no such update, or
	// several in a row.
	update(c *Client, session string, u SessionUpdate) error
	// question returns the params of a session/request_permission.
	question(p RequestPermissionRequest) any
	// replayed writes the frames of an update that belongs to the history of a session.
	replayed(c *Client, session string, u SessionUpdate) error
	// replayEnded is called after the last of them, when the client has the response.
	replayEnded(session string)
	// asking is called before a question to the user about a tool call, whose id may be empty, and
	// done after it; ended says that the work that asks was cancelled.
	asking(c *Client, session, call string) (done func(ended bool))
	// closed is called after the last update of a session that was closed.
	closed(session string)
	// withdraws reports whether $/cancel_request is sent for a request of ours whose answer is no
	// longer needed, for that cause.
	withdraws(c *Client, cause error) bool
}

// version1 is the dialect of version 1.
type version1 struct{}

func (version1) methods() map[string]handler { return handlers }

func (version1) update(c *Client, session string, u SessionUpdate) error {
	if u = c.Capabilities().form(v1Update(u)); u == nil {
		return nil
	}
	if call, ok := u.(ToolCall); ok {
		u = c.fit(call)
	}
	return c.stream.write(notification{"2.0", "session/update", sessionNotification{session, u}})
}

func (d version1) replayed(c *Client, session string, u SessionUpdate) error {
	return d.update(c, session, u)
}

func (version1) closed(string) {}

func (version1) replayEnded(string) {}

func (version1) asking(*Client, string, string) func(bool) { return func(bool) {} }

func (version1) question(p RequestPermissionRequest) any {
	p.ToolCall.Content = v1Content(p.ToolCall.Content)
	return p
}

// withdraws is false after session/cancel: the client then settles its requests itself, and some
// clients fail on a notification about a settled request. The protocol lets clients ignore it, so it
// is sent only to those that declare support.
func (version1) withdraws(c *Client, cause error) bool {
	return cause != ErrTurnCancelled && c.Capabilities().CancelRequest
}
