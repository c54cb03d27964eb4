package aws

import (
	"cmp"
	"context"
	"crypto/sha1" // AWS's tools name their files so
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// profileSearch looks for the credentials of a profile, and of the profiles that it names.
type profileSearch struct {
	Account
	files
	seen map[string]bool // profiles on the way, since they may name each other
}

// keys returns the credentials of a profile; without an ID if it has none.
func (s profileSearch) keys(ctx context.Context, name string) (keys, error) {
	p := s.profiles[name]
	switch {
	case p == nil:
		return keys{}, fmt.Errorf("there is no profile %q", name)
	case s.seen[name]:
		return s.staticKeys(p)
	}
	s.seen[name] = true
	if p["role_arn"] == "" {
		return s.ownKeys(ctx, name, p)
	}
	if p["mfa_serial"] != "" {
		return keys{}, errors.New("its role needs a code from a device (mfa_serial), which only AWS's tools ask for: export the keys of the role")
	}
	region, err := s.ResolveRegion()
	if err != nil {
		return keys{}, err
	}
	if file := p["web_identity_token_file"]; file != "" {
		return s.assumeWithToken(ctx, region, file, p["role_arn"], p["role_session_name"])
	}
	base, err := s.baseKeys(ctx, p)
	if err != nil {
		return keys{}, err
	}
	if base.id == "" {
		return keys{}, errors.New("it has a role_arn, but neither source_profile nor credential_source has credentials")
	}
	return s.assume(ctx, region, base, p)
}

// baseKeys returns the credentials with which the role of a profile is assumed.
func (s profileSearch) baseKeys(ctx context.Context, p section) (keys, error) {
	if from := p["source_profile"]; from != "" {
		k, err := s.keys(ctx, from)
		if err != nil {
			return keys{}, fmt.Errorf("its source_profile %q: %w", from, err)
		}
		return k, nil
	}
	switch from := p["credential_source"]; from {
	case "":
		return keys{}, nil
	case "Environment":
		return s.environmentKeys(), nil
	case "Ec2InstanceMetadata", "EcsContainer":
		return s.metadataKeys(ctx)
	default:
		return keys{}, fmt.Errorf("its credential_source %q is not known", from)
	}
}

// staticKeys returns the keys that a profile holds itself.
func (s profileSearch) staticKeys(p section) (keys, error) {
	k := keys{id: p["aws_access_key_id"], secret: p["aws_secret_access_key"], token: p["aws_session_token"]}
	if k.id != "" && k.secret == "" {
		return keys{}, errors.New("it has an aws_access_key_id, but no aws_secret_access_key")
	}
	return k, nil
}

// ownKeys returns the credentials of a profile without a role.
func (s profileSearch) ownKeys(ctx context.Context, name string, p section) (keys, error) {
	if k, err := s.staticKeys(p); err != nil || k.id != "" {
		return k, err
	}
	switch {
	case p["sso_session"] != "" || p["sso_start_url"] != "":
		return s.ssoKeys(ctx, name, p)
	case p["credential_process"] != "":
		return keys{}, wire.Advised(errors.New("its credential_process is a program, which zeph-acp does not run"),
			"export its keys first, as with: aws configure export-credentials --format env")
	case p["login_session"] != "":
		return keys{}, wire.Advised(errors.New("its sign-in of aws login can only be used by AWS's tools"),
			"export its keys first, as with: aws configure export-credentials --format env")
	}
	return keys{}, nil
}

// ssoToken is the part of a file in ~/.aws/sso/cache that we use.
type ssoToken struct {
	AccessToken string    `json:"accessToken"`
	ExpiresAt   time.Time `json:"expiresAt"`
}

// ssoKeys exchanges the token of a sign-in for the keys of a role.
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-sso-credentials.html
func (s profileSearch) ssoKeys(ctx context.Context, name string, p section) (keys, error) {
	settings, id := p, p["sso_start_url"]
	if session := p["sso_session"]; session != "" {
		if settings = s.sessions[session]; settings == nil {
			return keys{}, fmt.Errorf("there is no sso-session %q", session)
		}
		id = session
	}
	region := cmp.Or(settings["sso_region"], p["sso_region"])
	if !ValidRegion(region) || p["sso_account_id"] == "" || p["sso_role_name"] == "" {
		return keys{}, errors.New("it signs in with SSO, but lacks sso_region, sso_account_id or sso_role_name")
	}
	login := "aws sso login --profile " + name
	digest := sha1.Sum([]byte(id))
	data, err := wire.ReadAccountFile(filepath.Join(s.home(), ".aws", "sso", "cache", hex.EncodeToString(digest[:])+".json"))
	if errors.Is(err, os.ErrNotExist) {
		return keys{}, wire.Advised(errors.New("it is not signed in"), "sign in with: "+login)
	}
	var token ssoToken
	if err == nil {
		err = json.Unmarshal(data, &token)
	}
	if err != nil {
		return keys{}, wire.Advised(errors.New("its sign-in cannot be read"), "sign in again with: "+login)
	}
	if !time.Now().Before(token.ExpiresAt) || token.AccessToken == "" {
		return keys{}, wire.Advised(errors.New("its sign-in has ended"), "any command of aws renews it, such as aws sts get-caller-identity; else sign in with: "+login)
	}
	query := url.Values{"account_id": {p["sso_account_id"]}, "role_name": {p["sso_role_name"]}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.endpoint("SSO", "portal.sso", region)+"/federation/credentials?"+query.Encode(), nil)
	if err != nil {
		return keys{}, err
	}
	req.Header.Set("X-Amz-Sso_bearer_token", token.AccessToken)
	var out struct {
		RoleCredentials struct {
			AccessKeyID     string `json:"accessKeyId"`
			SecretAccessKey string `json:"secretAccessKey"`
			SessionToken    string `json:"sessionToken"`
			Expiration      int64  `json:"expiration"` // milliseconds
		} `json:"roleCredentials"`
	}
	err = wire.FetchJSON(wire.NewClient(""), req, &out)
	if refused, ok := errors.AsType[*wire.StatusError](err); ok && wire.IsAuth(refused.Status) {
		return keys{}, wire.Advised(err, "sign in again with: "+login)
	}
	if err != nil {
		return keys{}, err
	}
	c := out.RoleCredentials
	return checked(keys{c.AccessKeyID, c.SecretAccessKey, c.SessionToken, time.UnixMilli(c.Expiration)})
}

// checked returns keys that a service sent, or an error if they are incomplete.
func checked(k keys) (keys, error) {
	if k.id == "" || k.secret == "" {
		return keys{}, errors.New("the answer for the credentials has no keys")
	}
	return k, nil
}
