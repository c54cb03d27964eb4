//go:build ignore

// This program reads the public list of prices that the project LiteLLM keeps,
// model_prices_and_context_window.json, and writes the prices that zeph-acp knows:
//
//	go run update.go 2026-11-28 <model_prices_and_context_window.json >prices.txt
//
// The argument is the date of the list.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hosts are the servers whose prices are kept, by LiteLLM's name of the provider.
var hosts = map[string]string{
	"anthropic": "api.anthropic.com",
	"openai":    "api.openai.com",
	"gemini":    "generativelanguage.googleapis.com",
	"cerebras":  "api.cerebras.ai",
	"deepseek":  "api.deepseek.com",
	"groq":      "api.groq.com",
	"mistral":   "api.mistral.ai",
	"moonshot":  "api.moonshot.ai",
	"xai":       "api.x.ai",
	"zai":       "api.z.ai",
}

var (
	// dated matches the date of a snapshot, whose price is the one of its model.
	dated = regexp.MustCompile(`-(\d{8}|\d{4}-\d{2}-\d{2})$`)
	// other matches models that do not work as agents.
	other = regexp.MustCompile(`image|audio|realtime|live|tts|transcribe|embed|search|moderation|guard|robotics|computer-use|ft:|\bocr\b|voxtral`)
	above = regexp.MustCompile(`^input_cost_per_token_above_(\d+)k_tokens$`)
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run update.go DATE <model_prices_and_context_window.json >prices.txt")
	}
	if _, err := time.Parse(time.DateOnly, os.Args[1]); err != nil {
		log.Fatal(err)
	}
	var models map[string]map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&models); err != nil {
		log.Fatal(err)
	}
	lines := map[string]string{}
	for name, m := range models {
		provider, _ := m["litellm_provider"].(string)
		mode, _ := m["mode"].(string)
		host := hosts[provider]
		name = strings.TrimPrefix(name, provider+"/")
		if host == "" || mode != "chat" && mode != "responses" || price(m, "input_cost_per_token") == "-" || strings.Contains(name, "/") && provider != "groq" || other.MatchString(name) {
			continue
		}
		add := func(from, suffix string) {
			lines[host+" "+name+" "+from] = strings.Join([]string{price(m, "input_cost_per_token"+suffix), price(m, "output_cost_per_token"+suffix),
				price(m, "cache_read_input_token_cost"+suffix), price(m, "cache_creation_input_token_cost"+suffix)}, " ")
		}
		add("0", "")
		for key := range m {
			if k := above.FindStringSubmatch(key); k != nil {
				add(k[1]+"000", "_above_"+k[1]+"k_tokens")
			}
		}
	}
	keys := make([]string, 0, len(lines))
	for key, prices := range lines {
		name := strings.Fields(key)
		if base := dated.ReplaceAllString(name[1], ""); base == name[1] || lines[name[0]+" "+base+" "+name[2]] != prices {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		x, y := strings.Fields(a), strings.Fields(b)
		m, _ := strconv.Atoi(x[2])
		n, _ := strconv.Atoi(y[2])
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(m, n))
	})
	fmt.Println("#", os.Args[1], "USD per million tokens: host, model, longest input from, input, output, read from the cache, written to it")
	for _, key := range keys {
		fmt.Println(key, lines[key])
	}
}

// price returns a price per million tokens, "-" for none.
func price(m map[string]any, key string) string {
	p, ok := m[key].(float64)
	if !ok || p <= 0 {
		return "-"
	}
	return strconv.FormatFloat(math.Round(p*1e12)/1e6, 'f', -1, 64)
}
