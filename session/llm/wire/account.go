package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxAccountFile bounds a credentials file, in bytes.
const maxAccountFile = 1 << 20

// ReadAccountFile reads a small file of the user's account, never one that could block.
func ReadAccountFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > maxAccountFile:
		return nil, fmt.Errorf("%s is too large", name)
	}
	return os.ReadFile(name)
}

// ReadTokenFile reads a file whose content is a token, which no message shows.
func ReadTokenFile(name string) (string, error) {
	data, err := ReadAccountFile(name)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", fmt.Errorf("%s is empty", name)
	}
	return token, nil
}

// MetadataClient returns the client for metadata services of machines and containers, which no proxy can reach.
var MetadataClient = sync.OnceValue(func() Client {
	c := NewClient("")
	c.Transport = &http.Transport{Proxy: nil, DisableKeepAlives: true}
	return c
})

// FetchJSON sends a request for credentials and decodes the answer, which no error shows.
func FetchJSON(c Client, req *http.Request, out any) error {
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	if err := ReadJSON(res, out); err != nil {
		return errors.New("the answer for the credentials is not JSON")
	}
	return nil
}

// Bearer returns the credential of a token that is sent as a bearer, whatever the header of the endpoint's keys. Its end may be
// zero, which means unknown.
func Bearer(token string, expires time.Time) *Credential {
	return &Credential{Secrets: []string{token}, Expires: expires, Authorize: func(req *http.Request, _ Body) error {
		req.Header.Set("Authorization", "Bearer "+token)
		return nil
	}}
}

// SourceID returns the ID of a source of credentials by all that they depend on: settings, and the values of
// variables. It holds no secret.
func SourceID(kind string, settings []string, getenv func(string) string, variables []string) string {
	all := slices.Clone(settings)
	for _, name := range variables {
		all = append(all, getenv(name))
	}
	digest := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	return kind + " " + hex.EncodeToString(digest[:])
}
