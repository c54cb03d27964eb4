package google

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// credentialSource says where the token of another identity provider is.
// https://google.aip.dev/auth/4117
type credentialSource struct {
	File    string            `json:"file"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Format  struct {
		Type  string `json:"type"` // text or json
		Field string `json:"subject_token_field_name"`
	} `json:"format"`

	// Sources that are not used.
	Executable    json.RawMessage `json:"executable"`
	Certificate   json.RawMessage `json:"certificate"`
	EnvironmentID string          `json:"environment_id"` // of AWS
}

// otherWay is the advice for credentials that another program can turn into a token.
const otherWay = `use api_key_cmd = ["gcloud", "auth", "application-default", "print-access-token"] of the provider, or a file or URL as the source`

// exchange exchanges the token of another identity provider for one of Google.
// https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token
func (a Account) exchange(ctx context.Context, f file) (token, error) {
	subject, err := a.subjectToken(ctx, f.CredentialSource)
	if err != nil {
		return token{}, fmt.Errorf("the token of the other identity: %w", err)
	}
	form := url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
		"audience": {f.Audience}, "scope": {scope}, "subject_token_type": {f.SubjectTokenType}, "subject_token": {subject},
	}
	if f.UserProject != "" && f.ClientID == "" {
		form.Set("options", string(plainjson.MustMarshal(map[string]string{"userProject": f.UserProject})))
	}
	req, err := newRequest(ctx, f.TokenURL, form)
	if err != nil {
		return token{}, err
	}
	if f.ClientID != "" {
		req.SetBasicAuth(f.ClientID, f.ClientSecret)
	}
	var answer tokenAnswer
	if err := wire.FetchJSON(wire.NewClient(""), req, &answer); err != nil {
		return token{}, fmt.Errorf("exchanging the token of the other identity: %w", err)
	}
	t, err := answer.token()
	if err != nil || f.ImpersonationURL == "" {
		return t, err
	}
	return impersonate(ctx, f, t)
}

// subjectToken returns the token of the other identity provider.
func (a Account) subjectToken(ctx context.Context, s credentialSource) (string, error) {
	switch {
	case s.Executable != nil:
		return "", wire.Advised(errors.New("it comes from a program, and zeph-acp runs no program that a file of another tool names"), otherWay)
	case s.Certificate != nil, s.EnvironmentID != "":
		return "", wire.Advised(errors.New("it comes from a certificate, or from a role of AWS, which zeph-acp does not use"), otherWay)
	case s.File != "":
		data, err := wire.ReadAccountFile(s.File)
		if err != nil {
			return "", err
		}
		return s.read(data)
	case s.URL != "":
		return a.askFor(ctx, s)
	}
	return "", errors.New("credential_source names neither a file nor a url")
}

// askFor requests the token at a URL. Without https that is the metadata service of a machine.
func (a Account) askFor(ctx context.Context, s credentialSource) (string, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", errors.New("the url in credential_source is not a web address")
	}
	client := wire.NewClient("")
	if u.Scheme == "http" && !wire.IsLoopback(u.Hostname()) {
		if !a.Metadata {
			return "", wire.Advised(errors.New("it comes from a metadata service"), "metadata = true of the provider allows asking it")
		}
		client = wire.MetadataClient()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return "", errors.New("the url in credential_source is not a web address")
	}
	for name, value := range s.Headers {
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	data, err := readAll(res)
	if err != nil {
		return "", err
	}
	return s.read(data)
}

// read returns the token in its format. No error shows it.
func (s credentialSource) read(data []byte) (string, error) {
	text := strings.TrimSpace(string(data))
	if s.Format.Type == "json" {
		var members map[string]any
		if json.Unmarshal(data, &members) != nil {
			return "", errors.New("it is not in JSON, as credential_source says")
		}
		text, _ = members[cmp.Or(s.Format.Field, "access_token")].(string)
	}
	if text == "" {
		return "", errors.New("it is empty")
	}
	return text, nil
}
