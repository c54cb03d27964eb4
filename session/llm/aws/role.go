package aws

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// sessionName names the sessions of roles in the records of the account.
const sessionName = "zeph-acp"

// assume assumes the role of a profile.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
func (a Account) assume(ctx context.Context, region string, base keys, p section) (keys, error) {
	form := url.Values{"Action": {"AssumeRole"}, "RoleArn": {p["role_arn"]}, "RoleSessionName": {cmp.Or(p["role_session_name"], sessionName)}}
	for name, key := range map[string]string{"ExternalId": "external_id", "DurationSeconds": "duration_seconds"} {
		if p[key] != "" {
			form.Set(name, p[key])
		}
	}
	return a.askSTS(ctx, region, form, &base)
}

// assumeWithToken assumes a role with the token of a web identity, as in a Kubernetes cluster.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
func (a Account) assumeWithToken(ctx context.Context, region, file, role, session string) (keys, error) {
	if role == "" {
		return keys{}, errors.New("a web identity needs the role, in AWS_ROLE_ARN or role_arn")
	}
	token, err := wire.ReadTokenFile(file)
	if err != nil {
		return keys{}, fmt.Errorf("the token of the web identity: %w", err)
	}
	return a.askSTS(ctx, region, url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "RoleArn": {role}, "WebIdentityToken": {token},
		"RoleSessionName": {cmp.Or(session, sessionName)}}, nil)
}

// askSTS sends a request to the security token service. Nil keys leave it unsigned.
func (a Account) askSTS(ctx context.Context, region string, form url.Values, signedBy *keys) (keys, error) {
	form.Set("Version", "2011-06-15")
	body := form.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.endpoint("STS", "sts", region)+"/", strings.NewReader(body))
	if err != nil {
		return keys{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if signedBy != nil {
		if err := signedBy.credential("sts", region).Authorize(req, wire.Body{[]byte(body)}); err != nil {
			return keys{}, err
		}
	}
	res, err := wire.NewClient("").Do(req)
	if err != nil {
		return keys{}, err
	}
	defer res.Body.Close()
	type credentials struct {
		AccessKeyID     string `xml:"AccessKeyId"`
		SecretAccessKey string
		SessionToken    string
		Expiration      time.Time
	}
	var out struct {
		Role        credentials `xml:"AssumeRoleResult>Credentials"`
		WebIdentity credentials `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	}
	if err := xml.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&out); err != nil {
		return keys{}, errors.New("the answer for the credentials is not XML") // it may hold secrets
	}
	c := cmp.Or(out.Role, out.WebIdentity)
	return checked(keys{c.AccessKeyID, c.SecretAccessKey, c.SessionToken, c.Expiration})
}

// Addresses of the metadata services, and the limit of one request to a service that may not be there.
const (
	containerHost   = "http://169.254.170.2"
	instanceAddress = "http://169.254.169.254"
	metadataTimeout = 2 * time.Second
)

// errNoCredentials is returned after all places have been searched.
var errNoCredentials = errors.New("neither the environment nor a profile in ~/.aws has any")

// metadataKeys asks the container or the machine for the keys of its role, if the user allows it.
func (a Account) metadataKeys(ctx context.Context) (keys, error) {
	address := a.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := a.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		address = containerHost + "/" + strings.TrimPrefix(path, "/")
	}
	switch {
	case !a.Metadata && address != "":
		return keys{}, wire.Advised(errNoCredentials, "this container has a role: metadata = true of the provider uses it")
	case !a.Metadata:
		return keys{}, errNoCredentials
	case address != "":
		return a.containerKeys(ctx, address)
	case strings.EqualFold(a.Getenv("AWS_EC2_METADATA_DISABLED"), "true"):
		return keys{}, wire.Advised(errNoCredentials, "AWS_EC2_METADATA_DISABLED forbids asking this machine")
	}
	return a.instanceKeys(ctx)
}

// metadataAnswer holds the keys that a metadata service returns.
type metadataAnswer struct {
	Code            string
	AccessKeyID     string `json:"AccessKeyId"`
	SecretAccessKey string
	Token           string
	Expiration      time.Time
}

func (m metadataAnswer) keys() (keys, error) {
	return checked(keys{m.AccessKeyID, m.SecretAccessKey, m.Token, m.Expiration})
}

// containerKeys returns the keys of the role of a container.
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html
func (a Account) containerKeys(ctx context.Context, address string) (keys, error) {
	u, err := url.Parse(address)
	if err != nil || !mayHoldMetadata(u) {
		return keys{}, errors.New("AWS_CONTAINER_CREDENTIALS_FULL_URI must have https, or an address of this machine or of its container service")
	}
	token := a.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := a.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		if token, err = wire.ReadTokenFile(file); err != nil {
			return keys{}, fmt.Errorf("the token of the container: %w", err)
		}
	}
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", token)
	}
	var out metadataAnswer
	if err := askMetadata(ctx, http.MethodGet, address, header, &out); err != nil {
		return keys{}, fmt.Errorf("the role of the container: %w", err)
	}
	return out.keys()
}

// mayHoldMetadata reports whether an address may be the credentials' endpoint of a container: no other host of the network may see
// the token.
func mayHoldMetadata(u *url.URL) bool {
	if u.Scheme != "http" || u.User != nil {
		return u.Scheme == "https" && u.Host != "" && u.User == nil
	}
	return wire.IsLoopback(u.Hostname()) || slices.ContainsFunc([]string{"169.254.170.2", "169.254.170.23", "fd00:ec2::23"}, func(host string) bool {
		return net.ParseIP(u.Hostname()).Equal(net.ParseIP(host))
	})
}

// instanceKeys returns the keys of the role of the machine, with version 2 of its service.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
func (a Account) instanceKeys(ctx context.Context) (keys, error) {
	base := strings.TrimRight(cmp.Or(a.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), instanceAddress), "/")
	fail := func(err error) (keys, error) {
		return keys{}, wire.Advised(fmt.Errorf("the role of this machine: %w", err), "is this a machine of EC2 with a role? Else see docs/clouds.md")
	}
	var token, role string
	header := http.Header{"X-Aws-Ec2-Metadata-Token-Ttl-Seconds": {"21600"}}
	if err := askMetadata(ctx, http.MethodPut, base+"/latest/api/token", header, &token); err != nil {
		return fail(err)
	}
	const roles = "/latest/meta-data/iam/security-credentials/"
	header = http.Header{"X-Aws-Ec2-Metadata-Token": {token}}
	if err := askMetadata(ctx, http.MethodGet, base+roles, header, &role); err != nil {
		return fail(err)
	}
	role, _, _ = strings.Cut(role, "\n")
	var out metadataAnswer
	if err := askMetadata(ctx, http.MethodGet, base+roles+url.PathEscape(strings.TrimSpace(role)), header, &out); err != nil {
		return fail(err)
	}
	return out.keys()
}

// askMetadata sends a request to a metadata service. Out is a string for plain text.
func askMetadata(ctx context.Context, method, address string, header http.Header, out any) error {
	ctx, cancel := context.WithTimeout(ctx, metadataTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return err
	}
	req.Header = header
	text, ok := out.(*string)
	if !ok {
		return wire.FetchJSON(wire.MetadataClient(), req, out)
	}
	res, err := wire.MetadataClient().Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	*text = string(data)
	return err
}
