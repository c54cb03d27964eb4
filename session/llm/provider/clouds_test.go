package provider

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

func TestCloudSettings(t *testing.T) {
	for name, tt := range map[string]struct {
		p         Provider
		key, want string // want is a part of the message; empty for none
	}{
		"a cloud":               {Provider{Type: "bedrock", Model: "m", Region: "us-east-1", AWSProfile: "work", Metadata: true}, "", ""},
		"no model":              {Provider{Type: "bedrock"}, "model", "an inference profile"},
		"no region's name":      {Provider{Type: "bedrock", Model: "m", Region: "evil.example/"}, "region", "must be the name of a region"},
		"region elsewhere":      {Provider{Type: "claude", Region: "us-east-1"}, "region", "only these types have a region: bedrock, vertex"},
		"profile elsewhere":     {Provider{Type: "openai", AWSProfile: "work"}, "aws_profile", "only type bedrock"},
		"metadata elsewhere":    {Provider{Type: "ollama", Metadata: true}, "metadata", "only these types"},
		"a key and a command":   {Provider{Type: "bedrock", Model: "m", APIKeyEnv: "K", APIKeyCmd: []string{"op"}}, "api_key_cmd", "has no effect"},
		"a resource":            {Provider{Type: "azure", Model: "m", BaseURL: "https://r.openai.azure.com", APIVersion: "2024-10-21"}, "", ""},
		"no resource":           {Provider{Type: "azure", Model: "m"}, "base_url", "the address of the resource"},
		"no version":            {Provider{Type: "azure", Model: "m", BaseURL: "https://r", APIVersion: "a&b=c"}, "api_version", "must be a version"},
		"version elsewhere":     {Provider{Type: "openai", APIVersion: "2024-10-21"}, "api_version", "only type azure"},
		"no address of a cloud": {Provider{Type: "bedrock", Model: "m", BaseURL: "bedrock"}, "base_url", "must be an address"},
	} {
		got := setting.Check(Config{Providers: []Provider{tt.p}})
		if text := got["providers[0]."+tt.key]; (text == "") != (tt.want == "") || !strings.Contains(text, tt.want) || tt.want == "" && len(got) > 0 {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// The address is the region's: of the setting, of the environment or of the profile. A variable of another tool chooses no provider.
func TestBedrockAddress(t *testing.T) {
	for _, tt := range []struct{ region, env, want string }{
		{"", "AWS_REGION=eu-west-1", "https://bedrock-runtime.eu-west-1.amazonaws.com"},
		{"cn-north-1", "AWS_REGION=eu-west-1", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"},
		{"", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME=https://vpc.example/x", "https://vpc.example/x"},
		{"", "AWS_REGION=evil.example/", ""},
		{"", "A=b", ""},
	} {
		name, value, _ := strings.Cut(tt.env, "=")
		getenv := func(n string) string {
			if n == name {
				return value
			}
			return ""
		}
		p := Provider{Type: TypeBedrock, Model: "m", Region: tt.region}
		if got := p.address(getenv); got != tt.want {
			t.Errorf("region %q, %s: got %q, want %q", tt.region, tt.env, got, tt.want)
		}
		m, err := Select(Config{}, getenv, nil, "")
		if err != nil || m.Name() != "direct" {
			t.Errorf("%s alone chooses %v, %v", tt.env, m, err)
		}
	}
}

// A Claude has the window, the limit and the levels that it has elsewhere.
func TestBedrockClaude(t *testing.T) {
	m, err := Select(Config{Providers: []Provider{{Type: TypeBedrock, Model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0"}}},
		func(string) string { return "" }, nil, "")
	if err != nil || m.Window() != 200_000 || strings.Join(llm.Levels(m), " ") != "off low medium high" || !llm.AcceptsImages(m) {
		t.Errorf("got %v, %d, %q, %v", m, m.Window(), llm.Levels(m), err)
	}
	if err := llm.Ready(m); err == nil {
		t.Error("ready without a region")
	}
}
