// Package aws finds the credentials of an AWS account, and signs requests with them.
//
// Start with [Account]. Its Source looks in the places of AWS's own tools, in their order: the environment, a web identity,
// the profile in ~/.aws, and the role of the container or of the machine. It promises that nothing is read before the first
// request, that no program runs, and that the metadata services are only asked if the user allows it.
//
// https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
package aws

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	// AWS's own signer: the rules for escaping and sorting have many exceptions.
	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// Account says whose credentials sign the requests. It may be used concurrently.
type Account struct {
	Getenv  func(string) string
	Profile string // in ~/.aws; empty means AWS_PROFILE, else the environment's keys and the profile "default"
	Region  string // empty means AWS_REGION, else the region of the profile
	// Metadata allows asking the container or the machine that runs this process for its role.
	Metadata bool
}

// fetchTimeout limits one search for credentials, with all its requests.
const fetchTimeout = 20 * time.Second

// Source returns the source of credentials that sign requests to a service.
func (a Account) Source(service string, store *wire.Credentials) *wire.Source {
	return store.Source(wire.Source{
		ID:      wire.SourceID("aws", []string{service, a.Profile, a.Region, fmt.Sprint(a.Metadata)}, a.Getenv, variables),
		What:    "AWS credentials",
		Hint:    "sign in with: aws sso login, or see docs/clouds.md",
		Check:   "check the AWS credentials with: aws sts get-caller-identity",
		Refuses: refusesCredentials,
		Fetch: func(ctx context.Context) (*wire.Credential, error) {
			ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
			defer cancel()
			region, err := a.ResolveRegion()
			if err != nil {
				return nil, err
			}
			k, err := a.keys(ctx)
			if err != nil {
				return nil, err
			}
			return k.credential(service, region), nil
		},
	})
}

// refusesCredentials reports whether other credentials may be accepted where these failed: they have ended, or the account
// has replaced them.
func refusesCredentials(e *wire.StatusError) bool {
	return slices.Contains([]string{"ExpiredTokenException", "ExpiredToken", "UnrecognizedClientException", "InvalidClientTokenId"}, e.Kind)
}

// keys are the credentials of an account.
type keys struct {
	id, secret string
	token      string // of a session; empty for keys without an end
	expires    time.Time
}

// credential returns what signs requests to a service.
func (k keys) credential(service, region string) *wire.Credential {
	signer := v4.NewSigner() // it keeps the key of the day
	own := sdk.Credentials{AccessKeyID: k.id, SecretAccessKey: k.secret, SessionToken: k.token}
	return &wire.Credential{
		Secrets: slices.DeleteFunc([]string{k.secret, k.token}, func(s string) bool { return s == "" }), Expires: k.expires,
		Authorize: func(req *http.Request, body wire.Body) error {
			sum := sha256.New()
			for _, part := range body {
				_, _ = sum.Write(part)
			}
			return signer.SignHTTP(req.Context(), own, req, hex.EncodeToString(sum.Sum(nil)), service, region, time.Now())
		},
	}
}

// variables are the variables on which the credentials depend.
var variables = []string{
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION",
	"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME",
	"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "HOME", "USERPROFILE",
}

// regionName matches the name of a region, which becomes part of host names.
var regionName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)+$`)

// ResolveRegion returns the region of the account. It reads the files in ~/.aws, if need be.
func (a Account) ResolveRegion() (string, error) {
	region := cmp.Or(a.Region, a.Getenv("AWS_REGION"), a.Getenv("AWS_DEFAULT_REGION"))
	if region == "" {
		f, err := a.files()
		if err != nil {
			return "", err
		}
		if err := a.missingProfile(f); err != nil {
			return "", err
		}
		region = f.profiles[a.profile()]["region"]
	}
	switch {
	case region == "":
		return "", wire.Advised(errors.New("no region is set"), "set region of the provider, or AWS_REGION, to one such as us-east-1")
	case !ValidRegion(region):
		return "", wire.Advised(fmt.Errorf("%q is not the name of a region", region), "set region of the provider, or AWS_REGION, to one such as us-east-1")
	}
	return region, nil
}

// ValidRegion reports whether text has the form of a region's name.
func ValidRegion(text string) bool { return len(text) < 40 && regionName.MatchString(text) }

// profile returns the name of the profile in use.
func (a Account) profile() string {
	return cmp.Or(a.Profile, a.Getenv("AWS_PROFILE"), a.Getenv("AWS_DEFAULT_PROFILE"), "default")
}

// home returns the directory of the user, or "".
func (a Account) home() string { return cmp.Or(a.Getenv("HOME"), a.Getenv("USERPROFILE")) }

// keys looks for credentials in the order of AWS's tools.
func (a Account) keys(ctx context.Context) (keys, error) {
	if a.Profile == "" {
		if k := a.environmentKeys(); k.id != "" {
			if k.secret == "" {
				return keys{}, errors.New("AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not")
			}
			return k, nil
		}
		if file := a.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"); file != "" {
			region, err := a.ResolveRegion()
			if err != nil {
				return keys{}, err
			}
			return a.assumeWithToken(ctx, region, file, a.Getenv("AWS_ROLE_ARN"), a.Getenv("AWS_ROLE_SESSION_NAME"))
		}
	}
	f, err := a.files()
	if err != nil {
		return keys{}, err
	}
	if err := a.missingProfile(f); err != nil {
		return keys{}, err
	}
	if name := a.profile(); f.profiles[name] != nil {
		s := profileSearch{a, f, map[string]bool{}}
		switch k, err := s.keys(ctx, name); {
		case err != nil:
			return keys{}, fmt.Errorf("profile %q: %w", name, err)
		case k.id != "":
			return k, nil
		}
	}
	return a.metadataKeys(ctx)
}

// missingProfile returns an error if the profile in use was named, but is not in the files.
func (a Account) missingProfile(f files) error {
	name := a.profile()
	if f.profiles[name] != nil || name == "default" {
		return nil
	}
	return wire.Advised(fmt.Errorf("there is no profile %q in %s", name, strings.Join(f.read, " or ")), "correct the profile, or create it with: aws configure")
}

// environmentKeys returns the keys in the environment.
func (a Account) environmentKeys() keys {
	return keys{id: a.Getenv("AWS_ACCESS_KEY_ID"), secret: a.Getenv("AWS_SECRET_ACCESS_KEY"), token: a.Getenv("AWS_SESSION_TOKEN")}
}

// endpoint returns the address of a service in a region: the one that a variable such as AWS_ENDPOINT_URL_STS sets, or AWS's own.
func (a Account) endpoint(variable, host, region string) string {
	if address := a.Getenv("AWS_ENDPOINT_URL_" + variable); address != "" {
		return strings.TrimRight(address, "/")
	}
	return "https://" + host + "." + region + "." + Domain(region)
}

// Domain returns the domain of the services in a region.
// https://github.com/boto/botocore/blob/develop/botocore/data/partitions.json
func Domain(region string) string {
	for prefix, domain := range map[string]string{
		"cn-": "amazonaws.com.cn", "eusc-": "amazonaws.eu", "us-iso-": "c2s.ic.gov", "us-isob-": "sc2s.sgov.gov",
	} {
		if strings.HasPrefix(region, prefix) {
			return domain
		}
	}
	return "amazonaws.com"
}

// files are the profiles and the SSO sessions of the user, and the names of the files.
type files struct {
	profiles, sessions map[string]section
	read               []string
}

// files reads the files in ~/.aws. Missing ones are empty. The credentials file wins over the configuration, as for AWS's tools.
func (a Account) files() (files, error) {
	dir := filepath.Join(a.home(), ".aws")
	f := files{profiles: map[string]section{}, sessions: map[string]section{}}
	for _, file := range []struct{ variable, name string }{{"AWS_CONFIG_FILE", "config"}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials"}} {
		name := a.Getenv(file.variable)
		if name == "" && a.home() == "" {
			continue
		}
		name = cmp.Or(name, filepath.Join(dir, file.name))
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = filepath.Join(a.home(), rest)
		}
		f.read = append(f.read, name)
		data, err := wire.ReadAccountFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return f, fmt.Errorf("reading the profiles: %w", err)
		}
		f.add(parseINI(data), file.name == "config")
	}
	return f, nil
}
