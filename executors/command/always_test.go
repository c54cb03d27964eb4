package command

import (
	"strings"
	"testing"
)

// An option is known only as it is declared: not abbreviated, not negated, not in another bundle.
func TestOptionUse(t *testing.T) {
	for _, tt := range []struct {
		words, option string
		want          OptionUse
	}{
		{"go test", "-run=X", OptionHarmless}, {"go test", "-run", OptionHarmlessValue}, {"go test", "--run", OptionUnknown},
		{"go test", "-runx", OptionUnknown}, {"go test", "-exec", OptionUnknown}, {"go test", "-x", OptionSwitch}, {"go", "-race", OptionUnknown},
		{"pytest", "-xvs", OptionHarmless}, {"pytest", "-xk", OptionHarmlessValue}, {"pytest", "-n4", OptionHarmless}, {"pytest", "-pevil", OptionUnknown},
		{"pytest", "-xpevil", OptionUnknown}, {"pytest", "--tb=short", OptionHarmless}, {"pytest", "--no-tb", OptionUnknown},
		{"kubectl get", "-nx", OptionUnknown}, {"kubectl get", "-n", OptionHarmlessValue}, {"kubectl get", "--kubeconfig=x", OptionUnknown},
		{"kubectl delete", "-n", OptionUnknown}, {"gcc", "-DX=1", OptionHarmless}, {"gcc", "-Wl,-plugin", OptionUnknown},
		{"tar", "-xz", OptionSwitch}, {"tar", "-xI", OptionUnknown}, {"npm", "--silent", OptionHarmless}, {"unknown", "-v", OptionUnknown},
	} {
		if got := OptionsOf(strings.Fields(tt.words)).Use(tt.option); got != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.words, tt.option, got, tt.want)
		}
	}
}
