package client

import "encoding/json"

// The parts of the Language Server Protocol that are used:
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/

type position struct {
	Line      uint32 `json:"line"`      // 0-based
	Character uint32 `json:"character"` // 0-based, in UTF-16 code units
}

// hint is the severity of diagnostics that are not shown.
const hint = 4

// serverCancelled is the code of an error with which a server asks for the request again.
const serverCancelled = -32802

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type diagnostic struct {
	Range    span            `json:"range"`
	Severity int             `json:"severity"` // 1 error, 2 warning, 3 information, 4 hint; 0: the client decides
	Code     json.RawMessage `json:"code"`     // a number or a text
	Source   string          `json:"source"`
	Message  string          `json:"message"`
}

// textDocument is a document in the params of any method; only some members are set.
type textDocument struct {
	URI        string  `json:"uri"`
	LanguageID string  `json:"languageId,omitempty"`
	Version    int     `json:"version,omitempty"`
	Text       *string `json:"text,omitempty"`
}

type documentParams struct {
	TextDocument textDocument `json:"textDocument"`
	Changes      []textChange `json:"contentChanges,omitempty"`
}

// textChange replaces the whole text.
type textChange struct {
	Text string `json:"text"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

// pullReport answers textDocument/diagnostic.
type pullReport struct {
	Kind    string                `json:"kind"` // full or unchanged
	Items   []diagnostic          `json:"items"`
	Related map[string]pullReport `json:"relatedDocuments"`
}

type watchedFile struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}

type folder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

type object map[string]any

// capabilities returns the capabilities of this client. It does not offer to pull
// diagnostics, since some servers would then no longer publish them. It does not offer to
// watch files, so that servers watch them if they can.
func capabilities() object {
	return object{
		"general": object{"positionEncodings": []string{"utf-16"}},
		"window":  object{"workDoneProgress": true},
		"workspace": object{"configuration": true, "workspaceFolders": true, "applyEdit": false,
			"didChangeConfiguration": object{"dynamicRegistration": true}},
		"textDocument": object{
			"synchronization":    object{"didSave": true},
			"publishDiagnostics": object{"versionSupport": true},
		},
	}
}

// initialized is the part of a server's answer to initialize that is used.
type initialized struct {
	Capabilities struct {
		Diagnostics json.RawMessage `json:"diagnosticProvider"`
	} `json:"capabilities"`
}
