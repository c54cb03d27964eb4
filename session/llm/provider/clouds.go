package provider

import (
	"cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/aws"
	"github.com/zeph-acp/zeph-acp/session/llm/bedrock"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// account returns the AWS account of a provider.
func (p Provider) account(getenv func(string) string) aws.Account {
	return aws.Account{Getenv: getenv, Profile: p.AWSProfile, Region: p.Region, Metadata: p.Metadata}
}

// awsSource returns the source of an account's signatures.
func awsSource(p opening) *wire.Source {
	return p.account(p.getenv).Source(bedrock.Service, p.memory.Credentials)
}

// bedrockAddress returns the address of Bedrock in the provider's region, or "" if that is unknown.
func bedrockAddress(p Provider, getenv func(string) string) string {
	region, err := p.account(getenv).ResolveRegion()
	if err != nil {
		return ""
	}
	return "https://bedrock-runtime." + region + "." + aws.Domain(region)
}

// openBedrock returns the model of a provider of the type bedrock.
func openBedrock(p opening) (llm.Model, error) {
	return bedrock.New(bedrock.Config{Name: p.Name, Model: p.Model, BaseURL: p.BaseURL, KeyEnv: p.APIKeyEnv, APIKey: p.key(p.APIKeyEnv), Source: p.source(),
		MaxTokens: p.MaxTokens, Window: cmp.Or(p.ContextWindow, bedrockWindow(p.Model)), NoImages: p.Images == imagesNo, Price: p.Price, FirstByte: p.firstByte(),
		Region: func() error {
			_, err := p.account(p.getenv).ResolveRegion()
			return err
		},
		Claude: func(name string) bedrock.Thinking { return anthropic.ThinkingOf(name) },
	}), nil
}

// bedrockWindow returns the context window of a model, in tokens; 0 means unknown.
func bedrockWindow(model string) int {
	if name := bedrock.ClaudeName(model); name != "" {
		return anthropic.WindowOf(name)
	}
	return bedrock.WindowOf(model)
}
