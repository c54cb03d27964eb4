package redact

import "github.com/zeph-acp/zeph-acp/filter/text"

// credKind is a kind of credential. If a value is of two kinds, the lesser one
// is more specific.
type credKind uint8

const (
	privateKey credKind = iota
	awsKey
	googleKey
	azureKey
	cloudToken
	githubToken
	gitlabToken
	npmToken
	registryToken
	aiKey
	chatToken
	paymentKey
	serviceKey
	sessionToken
	authorization
	urlPassword
	namedSecret
	userPattern
	credKindCount
)

// foundByContext reports whether values of the kind are recognised by the text around
// them.
func (k credKind) foundByContext() bool {
	switch k {
	case awsKey, azureKey, npmToken, authorization, urlPassword, namedSecret:
		return true
	}
	return false
}

// Credential is a kind of credential that a [Scanner] finds.
type Credential struct {
	Category, Kind string
	Shapes         string // how values are recognised
}

// Credentials are 17 kinds in 6 categories, and the user's own patterns.
var Credentials = [credKindCount]Credential{
	privateKey: {
		"private keys",
		"private key",
		"PEM blocks, also with \\n for line ends, in Base64, or truncated; PuTTY, PGP, age and JWK keys",
	},
	awsKey:    {"cloud", "aws key", "AKIA..., ASIA..., the secret of 40 characters near one, X-Amz-Signature=, amzn.mws."},
	googleKey: {"cloud", "google key", "AIza..., GOCSPX-..., ya29...."},
	azureKey: {
		"cloud",
		"azure key",
		"AccountKey=, SharedAccessKey=, the sig= of a shared access URL, client secrets with Q~, keys with AZDO or JQQJ99",
	},
	cloudToken: {
		"cloud",
		"cloud token",
		"DigitalOcean, Vault, Terraform Cloud, Doppler, Tailscale, Fly, Pulumi, Supabase, Netlify, " +
			"PlanetScale, Heroku, Vercel, Render, Neon, Cloudflare, Aiven",
	},
	githubToken: {"forges and registries", "github token", "ghp_, gho_, ghu_, ghs_, ghr_, github_pat_"},
	gitlabToken: {"forges and registries", "gitlab token", "glpat-, gldt-, glrt-, glcbt-, glptt-, glft-, glsoat-, glagent-"},
	npmToken:    {"forges and registries", "npm token", "npm_..., _authToken="},
	registryToken: {
		"forges and registries",
		"registry token",
		"pypi-, dckr_pat_, rubygems_, CircleCI, Buildkite, Atlassian, Bitbucket, JFrog; Docker logins in Base64",
	},
	aiKey: {
		"services",
		"ai key",
		"sk-..., sk-proj-, sk-ant-, sk-or-, hf_, gsk_, xai-, r8_, pplx-, nvapi-, tvly-, csk-, fw_, lsv2_, e2b_, ElevenLabs",
	},
	chatToken: {
		"services",
		"chat token",
		"Slack xoxb- and similar, xapp-; webhooks of Slack, Discord and Teams; Discord and Telegram bots",
	},
	paymentKey: {"services", "payment key", "Stripe sk_live_, rk_live_, whsec_; Shopify, Square"},
	serviceKey: {
		"services",
		"service key",
		"SendGrid, Mailgun, Mailchimp, Brevo, Twilio, Sentry, Grafana, New Relic, Linear, Notion, Figma, " +
			"Postman, HubSpot, Airtable, PostHog, Sourcegraph, Snyk, Contentful, Typeform, Prefect, dbt, " +
			"1Password, Harness, Facebook, Dropbox",
	},
	sessionToken:  {"sessions", "session token", "JSON web tokens, session cookies"},
	authorization: {"sessions", "authorization", "Authorization: Bearer, Basic and others"},
	urlPassword:   {"passwords", "url password", "scheme://user:password@host, also encoded in Base64"},
	namedSecret: {
		"passwords",
		"secret",
		"values of names such as password, secret, token or key: password=, \"apiKey\": \"...\", --token " +
			"..., X-Api-Key:, <password>; connection strings, .netrc, .pgpass; columns of tables; texts with the word password in Base64; passwords in commands such as curl -u, htpasswd, keytool, sqlplus and vault login, and in here-strings; password hashes",
	},
	userPattern: {"of the user's own", "extra pattern", "extra_patterns"},
}

// prefixedTokens are the tokens that are recognised by their first bytes.
var prefixedTokens = []struct {
	kind     credKind
	begin    string
	body     *text.ByteSet
	shortest int  // length of the body
	longest  int  // 0 means no limit
	random   bool // the prefix alone is weak evidence
}{
	{awsKey, "AKIA", &text.CapitalSet, 16, 16, false},
	{awsKey, "ASIA", &text.CapitalSet, 16, 16, false},
	{googleKey, "AIza", &text.TokenSet, 30, 60, false},
	{googleKey, "GOCSPX-", &text.TokenSet, 20, 0, false},
	{googleKey, "ya29.", &text.TokenSet, 30, 0, false},
	{cloudToken, "dop_v1_", &text.HexSet, 40, 0, false},
	{cloudToken, "doo_v1_", &text.HexSet, 40, 0, false},
	{cloudToken, "dor_v1_", &text.HexSet, 40, 0, false},
	{cloudToken, "hvs.", &text.TokenSet, 20, 0, true},
	{cloudToken, "hvb.", &text.TokenSet, 20, 0, true},
	{cloudToken, "hvr.", &text.TokenSet, 20, 0, true},
	{cloudToken, "dp.pt.", &text.AlnumSet, 30, 0, false},
	{cloudToken, "dp.st.", &text.DottedSet, 30, 0, false},
	{cloudToken, "tskey-", &text.TokenSet, 20, 0, true},
	{cloudToken, "fm2_", &text.Base64Set, 40, 0, true},
	{cloudToken, "fo1_", &text.TokenSet, 30, 0, true},
	{cloudToken, "pul-", &text.HexSet, 40, 40, false},
	{cloudToken, "sbp_", &text.HexSet, 40, 0, false},
	{cloudToken, "sb_secret_", &text.TokenSet, 20, 0, true},
	{cloudToken, "nfp_", &text.AlnumSet, 30, 0, true},
	{cloudToken, "pscale_tkn_", &text.TokenSet, 30, 0, true},
	{cloudToken, "pscale_pw_", &text.TokenSet, 30, 0, true},
	{cloudToken, "HRKU-", &text.TokenSet, 30, 0, false},
	{cloudToken, "vcp_", &text.TokenSet, 24, 0, true},
	{cloudToken, "vca_", &text.TokenSet, 24, 0, true},
	{cloudToken, "vck_", &text.TokenSet, 24, 0, true},
	{cloudToken, "rnd_", &text.AlnumSet, 28, 0, true},
	{cloudToken, "napi_", &text.AlnumSet, 60, 0, true},
	{cloudToken, "v1.0-", &text.TokenSet, 150, 0, true},
	{awsKey, "amzn.mws.", &text.TokenSet, 36, 36, false},
	{cloudToken, "AVNS_", &text.TokenSet, 15, 30, true},
	{cloudToken, "dapi", &text.HexSet, 32, 32, true},
	{cloudToken, "LTAI", &text.AlnumSet, 16, 24, true},
	{cloudToken, "AKID", &text.AlnumSet, 32, 32, true},
	{cloudToken, "AQVN", &text.TokenSet, 35, 40, true},
	{cloudToken, "y0_Ag", &text.TokenSet, 40, 0, true},
	{cloudToken, "hcaik_", &text.AlnumSet, 50, 0, true},
	{googleKey, "GOOG1E", &text.CapitalSet, 55, 55, true},
	{githubToken, "ghp_", &text.AlnumSet, 30, 0, false},
	{githubToken, "gho_", &text.AlnumSet, 30, 0, false},
	{githubToken, "ghu_", &text.AlnumSet, 30, 0, false},
	{githubToken, "ghs_", &text.DottedSet, 30, 0, true},
	{githubToken, "ghr_", &text.AlnumSet, 30, 0, false},
	{githubToken, "github_pat_", &text.TokenSet, 30, 0, false},
	{githubToken, "Z2hwX", &text.Base64Set, 40, 0, true}, // ghp_ in Base64
	{githubToken, "Z2l0aHViX3BhdF", &text.Base64Set, 40, 0, true},
	{gitlabToken, "glpat-", &text.DottedSet, 20, 0, false},
	{gitlabToken, "gldt-", &text.TokenSet, 20, 0, false},
	{gitlabToken, "glrt-", &text.DottedSet, 20, 0, false},
	{gitlabToken, "glcbt-", &text.TokenSet, 20, 0, false},
	{gitlabToken, "glptt-", &text.TokenSet, 20, 0, false},
	{gitlabToken, "glft-", &text.TokenSet, 20, 0, false},
	{gitlabToken, "glsoat-", &text.TokenSet, 20, 0, false},
	{gitlabToken, "gloas-", &text.TokenSet, 20, 0, false},
	{gitlabToken, "glffct-", &text.TokenSet, 20, 0, false},
	{gitlabToken, "glimt-", &text.TokenSet, 20, 0, false},
	{gitlabToken, "glagent-", &text.TokenSet, 20, 0, true},
	{gitlabToken, "Z2xwYXQt", &text.Base64Set, 24, 0, true}, // glpat- in Base64
	{npmToken, "npm_", &text.AlnumSet, 36, 0, true},
	{registryToken, "pypi-", &text.TokenSet, 50, 0, true},
	{registryToken, "dckr_pat_", &text.TokenSet, 20, 0, false},
	{registryToken, "dckr_oat_", &text.TokenSet, 20, 0, false},
	{registryToken, "rubygems_", &text.HexSet, 40, 0, false},
	{registryToken, "CCIPAT_", &text.TokenSet, 30, 0, true},
	{registryToken, "bkua_", &text.HexSet, 40, 0, false},
	{registryToken, "ATBB", &text.AlnumSet, 28, 40, true},
	{registryToken, "ATATT3xFfGF0", &text.Base64OrTokenSet, 50, 0, false},
	{registryToken, "ATCTT3xFfGN0", &text.Base64OrTokenSet, 50, 0, false},
	{registryToken, "AKCp", &text.AlnumSet, 60, 80, true},
	{registryToken, "cmVmdGtu", &text.AlnumSet, 56, 56, true},
	{registryToken, "sqp_", &text.HexSet, 40, 40, false},
	{registryToken, "squ_", &text.HexSet, 40, 40, false},
	{registryToken, "sqa_", &text.HexSet, 40, 40, false},
	{registryToken, "oy2", &text.AlnumSet, 43, 43, true},
	{aiKey, "e2b_", &text.HexSet, 40, 40, false},
	{aiKey, "pcsk_", &text.TokenSet, 40, 0, true},
	{aiKey, "sk-", &text.TokenSet, 20, 0, true},
	{aiKey, "hf_", &text.AlnumSet, 30, 0, true},
	{aiKey, "gsk_", &text.AlnumSet, 40, 0, true},
	{aiKey, "xai-", &text.AlnumSet, 60, 0, true},
	{aiKey, "r8_", &text.AlnumSet, 36, 0, true},
	{aiKey, "pplx-", &text.AlnumSet, 40, 0, true},
	{aiKey, "nvapi-", &text.TokenSet, 50, 0, true},
	{aiKey, "tvly-", &text.TokenSet, 20, 0, true},
	{aiKey, "sk_", &text.HexSet, 48, 48, false},
	{aiKey, "csk-", &text.AlnumSet, 40, 0, true},
	{aiKey, "fw_", &text.AlnumSet, 22, 28, true},
	{aiKey, "AQ.Ab", &text.TokenSet, 40, 0, true},
	{aiKey, "lsv2_", &text.TokenSet, 40, 0, false},
	{aiKey, "c2stYW50L", &text.Base64Set, 60, 0, true}, // sk-ant- and sk-proj- in Base64
	{aiKey, "c2stcHJvai", &text.Base64Set, 60, 0, true},
	{chatToken, "xoxb-", &text.TokenSet, 20, 0, true},
	{chatToken, "xoxp-", &text.TokenSet, 20, 0, true},
	{chatToken, "xoxa-", &text.TokenSet, 20, 0, true},
	{chatToken, "xoxr-", &text.TokenSet, 20, 0, true},
	{chatToken, "xoxs-", &text.TokenSet, 20, 0, true},
	{chatToken, "xoxo-", &text.TokenSet, 20, 0, true},
	{chatToken, "xoxc-", &text.TokenSet, 20, 0, true},
	{chatToken, "xoxd-", &text.URLSet, 20, 0, true},
	{chatToken, "xoxe-", &text.TokenSet, 20, 0, true},
	{chatToken, "xoxe.", &text.TokenSet, 20, 0, true},
	{chatToken, "xapp-", &text.TokenSet, 20, 0, true},
	{chatToken, "eG94Yi0", &text.Base64Set, 40, 0, true}, // xoxb- in Base64
	{paymentKey, "sk_live_", &text.AlnumSet, 16, 0, false},
	{paymentKey, "rk_live_", &text.AlnumSet, 16, 0, false},
	{paymentKey, "sk_test_", &text.AlnumSet, 16, 0, true},
	{paymentKey, "rk_test_", &text.AlnumSet, 16, 0, true},
	{paymentKey, "whsec_", &text.Base64Set, 24, 0, true},
	{paymentKey, "shpat_", &text.AlnumSet, 32, 0, false},
	{paymentKey, "shpss_", &text.AlnumSet, 32, 0, false},
	{paymentKey, "shpca_", &text.AlnumSet, 32, 0, false},
	{paymentKey, "shppa_", &text.AlnumSet, 32, 0, false},
	{paymentKey, "EAAA", &text.TokenSet, 60, 60, true},
	{paymentKey, "sq0csp-", &text.TokenSet, 30, 0, false},
	{paymentKey, "sq0atp-", &text.TokenSet, 20, 0, false},
	{paymentKey, "FLWSECK-", &text.TokenSet, 20, 0, true},
	{serviceKey, "SG.", &text.DottedSet, 50, 0, true},
	{serviceKey, "xkeysib-", &text.TokenSet, 60, 0, false},
	{serviceKey, "EAA", &text.AlnumSet, 100, 0, true},
	{serviceKey, "sl.", &text.DottedSet, 130, 0, true},
	{serviceKey, "SK", &text.HexSet, 32, 32, false},
	{serviceKey, "sntrys_", &text.Base64OrTokenSet, 40, 0, true},
	{serviceKey, "sntryu_", &text.HexSet, 40, 0, false},
	{serviceKey, "glsa_", &text.TokenSet, 32, 0, true},
	{serviceKey, "glc_", &text.Base64Set, 32, 0, true},
	{serviceKey, "NRAK-", &text.CapitalSet, 20, 0, false},
	{serviceKey, "lin_api_", &text.AlnumSet, 30, 0, false},
	{serviceKey, "ntn_", &text.AlnumSet, 40, 0, true},
	{serviceKey, "figd_", &text.TokenSet, 30, 0, true},
	{serviceKey, "PMAK-", &text.TokenSet, 40, 0, true},
	{serviceKey, "pat-na1-", &text.TokenSet, 30, 0, false},
	{serviceKey, "pat-eu1-", &text.TokenSet, 30, 0, false},
	{serviceKey, "re_", &text.TokenSet, 28, 40, true},
	{serviceKey, "phx_", &text.AlnumSet, 40, 0, true},
	{serviceKey, "sgp_", &text.TokenSet, 40, 0, true},
	{serviceKey, "snyk_uat.", &text.DottedSet, 50, 0, true},
	{serviceKey, "CFPAT-", &text.TokenSet, 40, 0, true},
	{serviceKey, "tfp_", &text.TokenSet, 40, 70, true},
	{serviceKey, "pnu_", &text.AlnumSet, 36, 0, true},
	{serviceKey, "dbtu_", &text.TokenSet, 40, 0, true},
	{serviceKey, "dbtc_", &text.TokenSet, 40, 0, true},
	{serviceKey, "secret_", &text.AlnumSet, 43, 43, true},
	{serviceKey, "ops_eyJ", &text.Base64OrTokenSet, 100, 0, true},
	{serviceKey, "pat.", &text.DottedSet, 68, 72, true},
	{privateKey, "b3BlbnNzaC1rZXktdjE", &text.Base64Set, 20, 0, false}, // the magic of an OpenSSH key in Base64
	{privateKey, "AGE-SECRET-KEY-1", &text.CapitalSet, 50, 0, false},
}
