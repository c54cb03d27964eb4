// Package oracle holds the adapters of session/llm against the official SDKs of the
// providers: what an adapter sends must be a request of the SDK, and what it reads must
// be the answer that the SDK reads.
//
// It is a module of its own, so that neither the binary nor a build of it downloads the
// SDKs. Run its tests in this directory: go test ./...
//
// Each provider has a file. [roundTrip] decodes a request by the types of an SDK and
// encodes it again: a member that the SDK does not have is lost there, one of another
// type is an error, and one that it requires appears.
package oracle
