package redact

// credKind is a kind of credential, in the order of rules.toml. If a value is of two kinds, the
// lesser one is more specific.
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

// Credential is a kind of credential that a [Scanner] finds.
type Credential struct {
	Category string
	Kind     string `toml:"name"`
	Shapes   string // how values are recognised
	Context  bool   // values are recognised by the text around them
}

// Credentials returns the kinds of credentials, and the user's own patterns last.
func Credentials() []Credential { return rules().Kinds }
