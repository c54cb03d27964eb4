// Package editions has the JSON Schemas of the protocol, compressed.
package editions

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"
)

// Copies let the fixtures run where the module coder/acp-go-sdk is not unpacked in the module cache:
// their packages do not import it, so the go command need not fetch it for them.
//
//go:embed *.gz */*.gz
var files embed.FS

// The newest edition of each version of the protocol: of the crate agent-client-protocol-schema
// 1.20.0 (of the ACP project, Apache-2.0).
const (
	V1 = "1.20.0/schema.json"
	V2 = "2/schema.json"
)

// Read returns a schema by its path without .gz.
func Read(name string) ([]byte, error) {
	f, err := files.Open(name + ".gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return io.ReadAll(r)
}
