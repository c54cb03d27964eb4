// Package oracle compares the adapters of session/llm with the official SDKs of the
// providers. Each request of an adapter must be a request of the SDK, and both must read
// the same answer from a stream.
//
// It is a module of its own, so that building the binary does not download the SDKs.
// Run its tests in this directory: go test ./...
//
// Each provider has a file. [roundTrip] decodes a request by the types of an SDK and
// encodes it again: a member that the SDK does not have is lost there, one of another
// type is an error, and one that it requires appears.
package oracle
