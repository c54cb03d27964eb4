package provider

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
)

func TestCost(t *testing.T) {
	full := llm.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, Currency: "EUR"}
	cfg := Config{Providers: []Provider{
		{Type: "claude", Price: full},
		{Name: "plain", Type: "claude", Price: llm.Price{Input: 2, Output: 10}},
		{Name: "free", Type: "claude", Price: llm.Price{Currency: "credits"}},
		{Name: "none", Type: "claude"},
		{Name: "proxy", Type: "claude", BaseURL: "https://models.example.com"},
		{Type: "script", Model: "testdata/text.jsonl", Price: full},
		{Type: "openai", Price: full},
		{Type: "gemini", Price: full},
		{Type: "compatible", Model: "m", BaseURL: "http://127.0.0.1:1", Price: full},
		{Type: "ollama", Model: "m", Price: full},
		{Type: "direct"},
	}}
	usage := llm.Usage{Input: 1_000_000, Output: 100_000, CacheRead: 600_000, CacheWrite: 200_000}
	for want, tt := range map[string]struct {
		usage    llm.Usage
		amount   float64
		currency string
		ok       bool
	}{
		"claude":                           {usage, 0.6 + 1.5 + 0.18 + 0.75, "EUR", true},
		"claude:" + anthropic.DefaultModel: {usage, 3.03, "EUR", true},
		"claude:other":                     {usage, 0, "", false}, // the price belongs to the configured model
		"plain":                            {usage, 3, "USD", true},
		"free":                             {usage, 0, "credits", true},
		"none":                             {usage, 1.96, "USD", true},                               // the public price
		"proxy":                            {usage, 0, "", false},                                    // what its owner wants is not known
		"script":                           {llm.Usage{Input: 5, CacheRead: 9}, 2.7e-6, "EUR", true}, // more cached tokens than input tokens
		"openai":                           {usage, 3.03, "EUR", true},
		"openai:other":                     {usage, 0, "", false},
		"gemini":                           {usage, 3.03, "EUR", true},
		"compatible":                       {usage, 3.03, "EUR", true},
		"ollama":                           {usage, 3.03, "EUR", true},
		"ollama:other":                     {usage, 0, "", false},
		"direct":                           {usage, 0, "", false},
	} {
		t.Run(want, func(t *testing.T) {
			m, err := Select(cfg, func(string) string { return "" }, nil, want)
			if err != nil {
				t.Fatal(err)
			}
			amount, currency, ok := llm.Cost(m, tt.usage)
			if math.Abs(amount-tt.amount) > 1e-12 || currency != tt.currency || ok != tt.ok {
				t.Errorf("Cost: %g %s %t", amount, currency, ok)
			}
		})
	}
}

// TestDefaultsHavePrices asks for the public price of the default models.
func TestDefaultsHavePrices(t *testing.T) {
	for _, k := range kinds {
		if !k.public {
			continue
		}
		m, err := Select(Config{Providers: []Provider{{Type: k.name}}}, func(string) string { return "" }, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok := llm.Cost(m, llm.Usage{Input: 1}); !ok {
			t.Errorf("%s is not in the list of prices", m.Name())
		}
	}
}

func TestPriceValidate(t *testing.T) {
	for name, tt := range map[string]struct {
		price llm.Price
		want  map[string]string
	}{
		"none":    {llm.Price{}, map[string]string{}},
		"full":    {llm.Price{Input: 3, Output: 1e6, CacheRead: 0.3, CacheWrite: 3.75, Currency: "USD"}, map[string]string{}},
		"credits": {llm.Price{Currency: "credits"}, map[string]string{}},
		"numbers": {llm.Price{Input: -1, Output: math.NaN(), CacheRead: math.Inf(1), CacheWrite: 1e7, Currency: "usd"}, map[string]string{
			"input":       "-1 is not from 0 to 1000000",
			"output":      "NaN is not from 0 to 1000000",
			"cache_read":  "+Inf is not from 0 to 1000000; 0: the price of other input",
			"cache_write": "1e+07 is not from 0 to 1000000; 0: the price of other input",
			"currency":    `must be three capital letters such as USD, or a unit such as credits, got "usd"`,
		}},
		"a sign": {llm.Price{Currency: "$"}, map[string]string{
			"currency": `must be three capital letters such as USD, or a unit such as credits, got "$"`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, setting.Check(tt.price)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
