// Package google finds the application default credentials of a Google Cloud account.
//
// Start with [Account]. Its Source looks in the places of Google's own tools, in their order: the file that
// GOOGLE_APPLICATION_CREDENTIALS names, the file of gcloud, and the metadata service of the machine. It promises that nothing is
// sent before the first request, that no program runs, and that the metadata service is only asked if the user allows it.
//
// Why not the package google of golang.org/x/oauth2? It compiles expressions at the start of each process, which takes 0.16 ms
// also where no cloud is used, and contains a way to start programs.
//
// https://cloud.google.com/docs/authentication/application-default-credentials
package google

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// Account says whose credentials authorise the requests, and where the models run. It may be used concurrently.
type Account struct {
	Getenv   func(string) string
	Project  string // ID; empty means GOOGLE_CLOUD_PROJECT, else the project in the credentials file
	Location string // empty means GOOGLE_CLOUD_LOCATION, else "global"
	// Metadata allows asking the machine that runs this process for its role.
	Metadata bool
}

const (
	// fetchTimeout limits one search for credentials, with all its requests.
	fetchTimeout = 20 * time.Second
	signIn       = "sign in with: gcloud auth application-default login"
)

// variables are the variables on which the credentials depend.
var variables = []string{
	credentialsFile, "CLOUDSDK_CONFIG", "HOME", "USERPROFILE", "APPDATA", "GCE_METADATA_HOST", quotaProject,
}

const (
	credentialsFile = "GOOGLE_APPLICATION_CREDENTIALS"
	quotaProject    = "GOOGLE_CLOUD_QUOTA_PROJECT"
)

// Source returns the source of the account's access tokens.
func (a Account) Source(store *wire.Credentials) *wire.Source {
	return store.Source(wire.Source{
		ID:   wire.SourceID("google", []string{fmt.Sprint(a.Metadata)}, a.Getenv, variables),
		What: "Google Cloud credentials", Hint: signIn + ", or see docs/clouds.md",
		Check: "check the credentials with: gcloud auth application-default print-access-token, and that the account may use Vertex AI in the project",
		Fetch: func(ctx context.Context) (*wire.Credential, error) {
			ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
			defer cancel()
			f, err := a.find()
			if err != nil {
				return nil, err
			}
			t, err := a.token(ctx, f, 0)
			if err != nil {
				return nil, err
			}
			return a.credential(f, t), nil
		},
	})
}

// token is an access token.
type token struct {
	value   string
	expires time.Time // zero means unknown
}

// credential returns the token as a bearer of requests, and names the project that is billed for the calls of a user.
func (a Account) credential(f file, t token) *wire.Credential {
	c := &wire.Credential{Key: t.value, Expires: t.expires}
	if project := cmp.Or(a.Getenv(quotaProject), f.QuotaProject); project != "" {
		c.Authorize = func(req *http.Request, _ wire.Body) error {
			req.Header.Set("X-Goog-User-Project", project)
			return nil
		}
	}
	return c
}

// projectID matches the ID of a project, and locationName the name of a location. Both become parts of addresses.
var (
	projectID    = lazyregexp.New(`^([a-z][a-z0-9.-]*:)?[a-z0-9][a-z0-9-]{0,62}$`)
	locationName = lazyregexp.New(`^[a-z]+(-[a-z]+[0-9]+)?$`)
)

// ValidProject and ValidLocation report whether text has the form of an ID or a name.
func ValidProject(text string) bool  { return projectID.MatchString(text) }
func ValidLocation(text string) bool { return len(text) < 40 && locationName.MatchString(text) }

// ResolveProject returns the ID of the project. It reads the credentials file, if need be.
func (a Account) ResolveProject() (string, error) {
	project := cmp.Or(a.Project, a.Getenv("GOOGLE_CLOUD_PROJECT"))
	if project == "" {
		if f, err := a.find(); err == nil {
			project = cmp.Or(f.Project, f.QuotaProject)
		}
	}
	const hint = "set project of the provider, or GOOGLE_CLOUD_PROJECT, to the ID of the project"
	switch {
	case project == "":
		return "", wire.Advised(errors.New("no project is set"), hint)
	case !ValidProject(project):
		return "", wire.Advised(fmt.Errorf("%q is not the ID of a project", project), hint)
	}
	return project, nil
}

// ResolveLocation returns the location of the models.
func (a Account) ResolveLocation() (string, error) {
	location := cmp.Or(a.Location, a.Getenv("GOOGLE_CLOUD_LOCATION"), "global")
	if !ValidLocation(location) {
		return "", wire.Advised(fmt.Errorf("%q is not the name of a location", location), "set region of the provider, or GOOGLE_CLOUD_LOCATION, to one such as global or europe-west4")
	}
	return location, nil
}

// VertexHost returns the host of Vertex AI at a location.
// https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations
func VertexHost(location string) string {
	switch location {
	case "global":
		return "aiplatform.googleapis.com"
	case "us", "eu":
		return "aiplatform." + location + ".rep.googleapis.com"
	}
	return location + "-aiplatform.googleapis.com"
}

// file is a credentials file. Which members it has depends on its type.
// https://cloud.google.com/docs/authentication/application-default-credentials#order
type file struct {
	name string // of the file, for messages; empty for the metadata service

	Type         string `json:"type"`
	Project      string `json:"project_id"`
	QuotaProject string `json:"quota_project_id"`
	Universe     string `json:"universe_domain"`

	// service_account
	Email      string `json:"client_email"`
	PrivateKey string `json:"private_key"`
	KeyID      string `json:"private_key_id"`
	TokenURI   string `json:"token_uri"`

	// authorized_user and external_account_authorized_user
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`

	// external_account
	Audience         string           `json:"audience"`
	SubjectTokenType string           `json:"subject_token_type"`
	TokenURL         string           `json:"token_url"`
	UserProject      string           `json:"workforce_pool_user_project"`
	CredentialSource credentialSource `json:"credential_source"`

	// impersonated_service_account, and external_account that acts as a service account
	ImpersonationURL string          `json:"service_account_impersonation_url"`
	Delegates        []string        `json:"delegates"`
	Source           json.RawMessage `json:"source_credentials"` // a file in this one
	Impersonation    struct {
		Lifetime int `json:"token_lifetime_seconds"`
	} `json:"service_account_impersonation"`
}

// find returns the credentials file. Without one it returns the metadata service, if the user allows it.
func (a Account) find() (file, error) {
	name := a.Getenv(credentialsFile)
	if name == "" {
		name = a.wellKnownFile()
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(a.home(), rest)
	}
	data, err := wire.ReadAccountFile(name)
	switch {
	case err == nil:
	case errors.Is(err, os.ErrNotExist) && a.Getenv(credentialsFile) == "" && a.Metadata:
		return file{Type: typeMetadata}, nil
	case errors.Is(err, os.ErrNotExist) && a.Getenv(credentialsFile) == "":
		return file{}, wire.Advised(errors.New("there are no application default credentials"), signIn+"; metadata = true of the provider asks the machine for its role")
	default:
		return file{}, wire.Advised(fmt.Errorf("reading the credentials: %w", err), "check "+credentialsFile)
	}
	f := file{name: name}
	if json.Unmarshal(data, &f) != nil { // the error may show a secret
		return file{}, wire.Advised(fmt.Errorf("%s is not a credentials file", name), "check "+credentialsFile)
	}
	return f, nil
}

// wellKnownFile returns the name of gcloud's file.
func (a Account) wellKnownFile() string {
	dir := a.Getenv("CLOUDSDK_CONFIG")
	switch {
	case dir != "":
	case runtime.GOOS == "windows":
		dir = filepath.Join(a.Getenv("APPDATA"), "gcloud")
	default:
		dir = filepath.Join(a.home(), ".config", "gcloud")
	}
	return filepath.Join(dir, "application_default_credentials.json")
}

// home returns the directory of the user, or "".
func (a Account) home() string { return cmp.Or(a.Getenv("HOME"), a.Getenv("USERPROFILE")) }
