package filter

// credKind is one of the patterns of credentials. Of two kinds that one value is of,
// the lesser says more.
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
	extra
	secretKinds
)

// named reports whether values of the kind are known by what stands beside them,
// not by what they look like.
func (k credKind) named() bool {
	switch k {
	case awsKey, azureKey, npmToken, authorization, urlPassword, namedSecret:
		return true
	}
	return false
}

// Credential is a kind of credential that a [Scanner] knows.
type Credential struct {
	Category, Kind string
	Shapes         string // what it is known by
}

// Credentials are 17 kinds in 6 categories, and the user's own patterns.
var Credentials = [secretKinds]Credential{
	privateKey:    {"private keys", "private key", "PEM blocks of private keys, line by line, also with \\n for line ends, encoded in Base64, or cut at either end; PuTTY, PGP, age and JWK keys"},
	awsKey:        {"cloud", "aws key", "AKIA..., ASIA..., the secret of 40 characters beside one, X-Amz-Signature="},
	googleKey:     {"cloud", "google key", "AIza..., GOCSPX-..., ya29...."},
	azureKey:      {"cloud", "azure key", "AccountKey=, SharedAccessKey=, the sig= of a shared access URL, client secrets with Q~"},
	cloudToken:    {"cloud", "cloud token", "DigitalOcean, Vault, Terraform Cloud, Doppler, Tailscale, Fly, Pulumi, Supabase, Netlify, PlanetScale, Heroku"},
	githubToken:   {"forges and registries", "github token", "ghp_, gho_, ghu_, ghs_, ghr_, github_pat_"},
	gitlabToken:   {"forges and registries", "gitlab token", "glpat-, gldt-, glrt-, glcbt-, glptt-, glft-, glsoat-, glagent-"},
	npmToken:      {"forges and registries", "npm token", "npm_..., _authToken="},
	registryToken: {"forges and registries", "registry token", "pypi-, dckr_pat_, rubygems_, CircleCI, Buildkite, Atlassian, Bitbucket; logins of Docker in Base64"},
	aiKey:         {"services", "ai key", "sk-..., sk-proj-, sk-ant-, sk-or-, hf_, gsk_, xai-, r8_, pplx-, nvapi-, tvly-"},
	chatToken:     {"services", "chat token", "Slack xoxb- and its like, xapp-, webhooks of Slack, Discord and Teams, Discord and Telegram bots"},
	paymentKey:    {"services", "payment key", "Stripe sk_live_, rk_live_, whsec_; Shopify, Square"},
	serviceKey:    {"services", "service key", "SendGrid, Mailgun, Mailchimp, Brevo, Twilio, Sentry, Grafana, New Relic, Linear, Notion, Figma, Postman, HubSpot, Airtable"},
	sessionToken:  {"sessions", "session token", "JSON web tokens, cookies with the name of a session"},
	authorization: {"sessions", "authorization", "Authorization: Bearer, Basic and others"},
	urlPassword:   {"passwords", "url password", "scheme://user:password@host, also encoded in Base64"},
	namedSecret:   {"passwords", "secret", "what is assigned to a name of a password, secret, token or key: password=, \"apiKey\": \"...\", --token ..., X-Api-Key:, <password>, Password=...; of connection strings, .netrc, .pgpass, curl -u; hashes of passwords"},
	extra:         {"of the user's own", "extra pattern", "extra_patterns"},
}

// prefixed are the tokens that are known by how they begin.
var prefixed = []struct {
	kind     credKind
	begin    string
	body     *byteSet
	shortest int  // the body
	longest  int  // 0 means any
	random   bool // the begin alone says little
}{
	{awsKey, "AKIA", capitalSet, 16, 16, false},
	{awsKey, "ASIA", capitalSet, 16, 16, false},
	{googleKey, "AIza", tokenSet, 30, 60, false},
	{googleKey, "GOCSPX-", tokenSet, 20, 0, false},
	{googleKey, "ya29.", tokenSet, 30, 0, false},
	{cloudToken, "dop_v1_", hexSet, 40, 0, false},
	{cloudToken, "doo_v1_", hexSet, 40, 0, false},
	{cloudToken, "dor_v1_", hexSet, 40, 0, false},
	{cloudToken, "hvs.", tokenSet, 20, 0, true},
	{cloudToken, "hvb.", tokenSet, 20, 0, true},
	{cloudToken, "hvr.", tokenSet, 20, 0, true},
	{cloudToken, "dp.pt.", alnumSet, 30, 0, false},
	{cloudToken, "dp.st.", dottedSet, 30, 0, false},
	{cloudToken, "tskey-", tokenSet, 20, 0, true},
	{cloudToken, "fm2_", base64Set, 40, 0, true},
	{cloudToken, "fo1_", tokenSet, 30, 0, true},
	{cloudToken, "pul-", hexSet, 40, 40, false},
	{cloudToken, "sbp_", hexSet, 40, 0, false},
	{cloudToken, "sb_secret_", tokenSet, 20, 0, true},
	{cloudToken, "nfp_", alnumSet, 30, 0, true},
	{cloudToken, "pscale_tkn_", tokenSet, 30, 0, true},
	{cloudToken, "pscale_pw_", tokenSet, 30, 0, true},
	{cloudToken, "HRKU-", tokenSet, 30, 0, false},
	{githubToken, "ghp_", alnumSet, 30, 0, false},
	{githubToken, "gho_", alnumSet, 30, 0, false},
	{githubToken, "ghu_", alnumSet, 30, 0, false},
	{githubToken, "ghs_", dottedSet, 30, 0, true},
	{githubToken, "ghr_", alnumSet, 30, 0, false},
	{githubToken, "github_pat_", tokenSet, 30, 0, false},
	{gitlabToken, "glpat-", dottedSet, 20, 0, false},
	{gitlabToken, "gldt-", tokenSet, 20, 0, false},
	{gitlabToken, "glrt-", dottedSet, 20, 0, false},
	{gitlabToken, "glcbt-", tokenSet, 20, 0, false},
	{gitlabToken, "glptt-", tokenSet, 20, 0, false},
	{gitlabToken, "glft-", tokenSet, 20, 0, false},
	{gitlabToken, "glsoat-", tokenSet, 20, 0, false},
	{gitlabToken, "gloas-", tokenSet, 20, 0, false},
	{gitlabToken, "glffct-", tokenSet, 20, 0, false},
	{gitlabToken, "glimt-", tokenSet, 20, 0, false},
	{gitlabToken, "glagent-", tokenSet, 20, 0, true},
	{npmToken, "npm_", alnumSet, 36, 0, true},
	{registryToken, "pypi-", tokenSet, 50, 0, true},
	{registryToken, "dckr_pat_", tokenSet, 20, 0, false},
	{registryToken, "dckr_oat_", tokenSet, 20, 0, false},
	{registryToken, "rubygems_", hexSet, 40, 0, false},
	{registryToken, "CCIPAT_", tokenSet, 30, 0, true},
	{registryToken, "bkua_", hexSet, 40, 0, false},
	{registryToken, "ATBB", alnumSet, 28, 40, true},
	{registryToken, "ATATT3xFfGF0", base64OrTokenSet, 50, 0, false},
	{aiKey, "sk-", tokenSet, 20, 0, true},
	{aiKey, "hf_", alnumSet, 30, 0, true},
	{aiKey, "gsk_", alnumSet, 40, 0, true},
	{aiKey, "xai-", alnumSet, 60, 0, true},
	{aiKey, "r8_", alnumSet, 36, 0, true},
	{aiKey, "pplx-", alnumSet, 40, 0, true},
	{aiKey, "nvapi-", tokenSet, 50, 0, true},
	{aiKey, "tvly-", tokenSet, 20, 0, true},
	{chatToken, "xoxb-", tokenSet, 20, 0, true},
	{chatToken, "xoxp-", tokenSet, 20, 0, true},
	{chatToken, "xoxa-", tokenSet, 20, 0, true},
	{chatToken, "xoxr-", tokenSet, 20, 0, true},
	{chatToken, "xoxs-", tokenSet, 20, 0, true},
	{chatToken, "xoxo-", tokenSet, 20, 0, true},
	{chatToken, "xoxc-", tokenSet, 20, 0, true},
	{chatToken, "xoxd-", urlSet, 20, 0, true},
	{chatToken, "xoxe-", tokenSet, 20, 0, true},
	{chatToken, "xoxe.", tokenSet, 20, 0, true},
	{chatToken, "xapp-", tokenSet, 20, 0, true},
	{paymentKey, "sk_live_", alnumSet, 16, 0, false},
	{paymentKey, "rk_live_", alnumSet, 16, 0, false},
	{paymentKey, "sk_test_", alnumSet, 16, 0, true},
	{paymentKey, "rk_test_", alnumSet, 16, 0, true},
	{paymentKey, "whsec_", base64Set, 24, 0, true},
	{paymentKey, "shpat_", alnumSet, 32, 0, false},
	{paymentKey, "shpss_", alnumSet, 32, 0, false},
	{paymentKey, "shpca_", alnumSet, 32, 0, false},
	{paymentKey, "shppa_", alnumSet, 32, 0, false},
	{paymentKey, "sq0csp-", tokenSet, 30, 0, false},
	{paymentKey, "sq0atp-", tokenSet, 20, 0, false},
	{paymentKey, "FLWSECK-", tokenSet, 20, 0, true},
	{serviceKey, "SG.", dottedSet, 50, 0, true},
	{serviceKey, "xkeysib-", tokenSet, 60, 0, true},
	{serviceKey, "SK", hexSet, 32, 32, false},
	{serviceKey, "sntrys_", base64OrTokenSet, 40, 0, true},
	{serviceKey, "sntryu_", hexSet, 40, 0, false},
	{serviceKey, "glsa_", tokenSet, 32, 0, true},
	{serviceKey, "glc_", base64Set, 32, 0, true},
	{serviceKey, "NRAK-", capitalSet, 20, 0, false},
	{serviceKey, "lin_api_", alnumSet, 30, 0, false},
	{serviceKey, "ntn_", alnumSet, 40, 0, true},
	{serviceKey, "figd_", tokenSet, 30, 0, true},
	{serviceKey, "PMAK-", tokenSet, 40, 0, true},
	{serviceKey, "pat-na1-", tokenSet, 30, 0, false},
	{serviceKey, "pat-eu1-", tokenSet, 30, 0, false},
	{serviceKey, "re_", tokenSet, 28, 40, true},
	{privateKey, "AGE-SECRET-KEY-1", capitalSet, 50, 0, false},
}
