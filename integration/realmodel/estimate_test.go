package realmodel

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// maxEstimateError is how far an estimate may be from the server's count once three rounds of the
// same kind were counted, in percent.
const maxEstimateError = 15

// TestEstimate compares the estimate with the tokenizer of the server for texts of several kinds. As
// in a session, the counts of earlier rounds scale the estimate of the next.
func TestEstimate(t *testing.T) {
	l := serve(t)
	for kind, text := range texts(t) {
		t.Run(kind, func(t *testing.T) {
			const rounds = 4
			piece := func(n int) string { return text[n*len(text)/rounds : (n+1)*len(text)/rounds] }
			estimated, counted := 0, 0
			for n := range rounds - 1 {
				estimated += llm.TextTokens(l.model, piece(n))
				counted += l.tokens(t, piece(n))
			}
			want := l.tokens(t, piece(rounds-1))
			got := llm.TextTokens(l.model, piece(rounds-1)) * counted / estimated
			t.Logf("%d bytes: %d tokens, estimated %d with the ratio %.2f of earlier rounds", len(piece(rounds-1)), want, got, float64(counted)/float64(estimated))
			if diff := 100 * (got - want) / want; diff > maxEstimateError || diff < -maxEstimateError {
				t.Errorf("got %d tokens, want %d within %d %%", got, want, maxEstimateError)
			}
		})
	}
}

// texts returns texts by their kind.
func texts(t *testing.T) map[string]string {
	t.Helper()
	code, err := os.ReadFile("tasks_test.go")
	if err != nil {
		t.Fatal(err)
	}
	prose, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 6000)
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	var rows []map[string]any
	var numbers strings.Builder
	for n := range 200 {
		rows = append(rows, map[string]any{"id": n, "name": fmt.Sprintf("user-%d", rng.IntN(1000)), "active": n%3 == 0, "tags": []string{"a", "beta"}})
		fmt.Fprintf(&numbers, "%d %.3f %d\n", rng.IntN(1_000_000), rng.Float64(), rng.IntN(100))
	}
	object, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"code": string(code), "prose": string(prose), "JSON": string(object), "numbers": numbers.String(),
		"base64": base64.StdEncoding.EncodeToString(random),
		"CJK":    strings.Repeat("会话保存在数据库中，下一次启动时会继续。このファイルは設定を含みます。세션은 데이터베이스에 저장됩니다。\n", 40),
	}
}
