// Package entra gets tokens of Microsoft Entra ID for Azure.
//
// Start with [Account]. Its Source looks for the application's secret or a workload identity in the environment, and asks the machine
// for its managed identity if the user allows it. It promises that nothing is asked before the first request, and that no program runs.
//
// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
package entra

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// Account says whose tokens authorise the requests. It may be used concurrently.
type Account struct {
	Getenv func(string) string
	// Resource is the service for which the tokens are, such as https://cognitiveservices.azure.com.
	Resource string
	// Metadata allows asking the machine or the container that runs this process for its identity.
	Metadata bool
}

const (
	// fetchTimeout limits a request for a token.
	fetchTimeout = 20 * time.Second
	// metadataTimeout limits one to a service that may not be there.
	metadataTimeout = 5 * time.Second
	publicAuthority = "https://login.microsoftonline.com"
	machineAddress  = "http://169.254.169.254"
)

// variables are the variables on which the token depends.
var variables = []string{
	"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST", "IDENTITY_ENDPOINT", "IDENTITY_HEADER",
}

// Source returns the source of the account's tokens.
func (a Account) Source(store *wire.Credentials) *wire.Source {
	return store.Source(wire.Source{
		ID:    wire.SourceID("entra", []string{a.Resource, fmt.Sprint(a.Metadata)}, a.Getenv, variables),
		What:  "Entra token",
		Hint:  "check the variables AZURE_…; see docs/clouds.md",
		Check: "give the identity the role Cognitive Services OpenAI User at the resource",
		Fetch: func(ctx context.Context) (*wire.Credential, error) {
			ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
			defer cancel()
			return a.token(ctx)
		},
	})
}

// tenantName matches the ID or the domain of a tenant, which becomes part of an address.
var tenantName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)

// token returns a token of the first identity that the environment has.
func (a Account) token(ctx context.Context) (*wire.Credential, error) {
	tenant, client := a.Getenv("AZURE_TENANT_ID"), a.Getenv("AZURE_CLIENT_ID")
	secret, file := a.Getenv("AZURE_CLIENT_SECRET"), a.Getenv("AZURE_FEDERATED_TOKEN_FILE")
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client}, "scope": {a.Resource + "/.default"}}
	switch {
	case secret != "":
		form.Set("client_secret", secret)
	case file != "":
		assertion, err := wire.ReadTokenFile(file)
		if err != nil {
			return nil, fmt.Errorf("the token of the workload identity: %w", err)
		}
		form.Set("client_assertion", assertion)
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	case a.Metadata:
		return a.managed(ctx, client)
	case a.Getenv("IDENTITY_ENDPOINT") != "":
		return nil, wire.Advised(errNone, "this container has a managed identity: metadata = true of the provider uses it")
	default:
		return nil, wire.Advised(errNone, "run zeph-acp login, or set AZURE_OPENAI_API_KEY, or the variables of an application; see docs/clouds.md")
	}
	switch {
	case client == "":
		return nil, errors.New("AZURE_CLIENT_ID is missing")
	case !tenantName.MatchString(tenant):
		return nil, errors.New("AZURE_TENANT_ID is missing, or not the ID of a tenant")
	}
	authority, err := url.Parse(strings.TrimRight(cmp.Or(a.Getenv("AZURE_AUTHORITY_HOST"), publicAuthority), "/"))
	if err != nil || authority.Host == "" || authority.Scheme != "https" && !(authority.Scheme == "http" && wire.IsLoopback(authority.Hostname())) {
		return nil, errors.New("AZURE_AUTHORITY_HOST must be an address with https")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, authority.String()+"/"+tenant+"/oauth2/v2.0/token", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return fetch(wire.NewClient(""), req)
}

// errNone is returned if the environment has no identity.
var errNone = errors.New("there is neither a key nor an identity")

// managed returns a token of the managed identity of the container or of the machine.
// https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
func (a Account) managed(ctx context.Context, client string) (*wire.Credential, error) {
	ctx, cancel := context.WithTimeout(ctx, metadataTimeout)
	defer cancel()
	query := url.Values{"resource": {a.Resource}, "api-version": {"2018-02-01"}}
	if client != "" {
		query.Set("client_id", client)
	}
	address, header := cmp.Or(a.Getenv("AZURE_POD_IDENTITY_AUTHORITY_HOST"), machineAddress)+"/metadata/identity/oauth2/token", http.Header{"Metadata": {"true"}}
	if endpoint := a.Getenv("IDENTITY_ENDPOINT"); endpoint != "" { // of App Service and Container Apps
		if !isMetadata(endpoint) {
			return nil, errors.New("IDENTITY_ENDPOINT must be an address of this machine, or have https")
		}
		address, header = endpoint, http.Header{"X-Identity-Header": {a.Getenv("IDENTITY_HEADER")}}
		query.Set("api-version", "2019-08-01")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), nil)
	if err != nil {
		return nil, errors.New("IDENTITY_ENDPOINT is not an address")
	}
	req.Header = header
	c, err := fetch(wire.MetadataClient(), req)
	if err != nil {
		return nil, wire.Advised(fmt.Errorf("the managed identity: %w", err), "is this a machine of Azure with an identity? Else see docs/clouds.md")
	}
	return c, nil
}

// isMetadata reports whether an address may be the metadata service of a container: no other host of the internet may see its
// header in plain text.
func isMetadata(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (wire.IsLoopback(u.Hostname()) || ip.IsLinkLocalUnicast() || ip.IsPrivate())
}

// fetch sends a request for a token.
func fetch(c wire.Client, req *http.Request) (*wire.Credential, error) {
	var out struct {
		AccessToken string          `json:"access_token"`
		ExpiresIn   json.RawMessage `json:"expires_in"` // seconds, as a number or as text
		ExpiresOn   json.RawMessage `json:"expires_on"` // seconds since 1970, likewise
	}
	if err := wire.FetchJSON(c, req, &out); err != nil {
		return nil, err
	}
	if out.AccessToken == "" {
		return nil, errors.New("the answer has no access_token")
	}
	var expires time.Time
	if n := seconds(out.ExpiresIn); n > 0 {
		expires = time.Now().Add(time.Duration(n) * time.Second)
	} else if n := seconds(out.ExpiresOn); n > 0 {
		expires = time.Unix(n, 0)
	}
	return wire.Bearer(out.AccessToken, expires), nil
}

// maxSeconds is more than any token lasts, and any time of its end.
const maxSeconds = 1 << 33

// seconds returns a number of seconds; 0 means that there is none.
func seconds(raw json.RawMessage) int64 {
	n, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return min(n, maxSeconds)
}
