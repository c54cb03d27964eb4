package doctor

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// examine examines a home directory with a configuration.
func examine(t *testing.T, toml string, timeout time.Duration) []Finding {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &Doctor{
		Options: config.Options{Environ: []string{"ZEPH_HOME=" + home, "TEST_KEY=sk-live-key-of-the-test", "TEST_TOKEN=plainwords"}},
		Dir:     home, Timeout: timeout,
		NewApp: func(l *config.Loaded) (*app.App, func()) {
			a := app.New(l, slog.New(slog.DiscardHandler))
			return a, func() { a.CloseTools(); _ = a.Close() }
		},
	}
	return d.Examine(t.Context())
}

// A server that never answers ends as a finding, and the other checks are not lost.
func TestSilentProvider(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(release)
	found := examine(t, "[[llm.providers]]\nname = \"slow\"\ntype = \"compatible\"\nmodel = \"m\"\nbase_url = \""+s.URL+"\"\n", time.Second)
	checks := map[string]Finding{}
	for _, f := range found {
		checks[f.Check] = f
	}
	if f := checks["model"]; f.State != Failure || !strings.Contains(f.Text, "did not answer in time") {
		t.Errorf("model: %+v, want the failure that it did not answer", f)
	}
	for _, name := range []string{"configuration", "directories", "mcp", "lsp", "sandbox", "shell", "git", "database", "audit"} {
		if checks[name].State == "" {
			t.Errorf("%s has no finding", name)
		}
	}
}

// A server that repeats the key in its answer does not bring it into the report.
func TestNoKey(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "you sent "+r.Header.Get("Authorization")+"\n\x1b[2J", http.StatusForbidden)
	}))
	defer s.Close()
	found := examine(t, "[[llm.providers]]\nname = \"loud\"\ntype = \"compatible\"\nmodel = \"m\"\napi_key_env = \"TEST_KEY\"\nbase_url = \""+s.URL+"\"\n"+
		"[[mcp.servers]]\nname = \"s\"\ncommand = \"sh\"\nargs = [\"-c\", \"echo sk-live-key-of-the-test $T $TEST_TOKEN >&2; exit 1\"]\nenv = { T = \"word "+
		"plainvalue\" }\nenv_from = [\"TEST_TOKEN\"]\n", time.Minute)
	for _, f := range found {
		if strings.Contains(f.Text+f.Fix, "live-key") || strings.Contains(f.Text, "plain") || strings.Contains(f.Text, "\n") {
			t.Errorf("a finding has a credential or a line end: %+v", f)
		}
	}
}

// A server that says nothing does not hide the failure of another.
func TestSilentServer(t *testing.T) {
	found := examine(t, "[[mcp.servers]]\nname = \"silent\"\ncommand = \"sleep\"\nargs = [\"1000\"]\n"+
		"[[mcp.servers]]\nname = \"ends\"\ncommand = \"sh\"\nargs = [\"-c\", \"echo no licence >&2; exit 3\"]\n", 3*time.Second)
	var got []string
	for _, f := range found {
		if f.Check == "mcp" {
			got = append(got, string(f.State)+" "+f.Text)
		}
	}
	all := strings.Join(got, "\n")
	if len(got) != 2 || !strings.Contains(all, "warning silent is still starting") || !strings.Contains(all,
		"failure ends does not run: ") || !strings.Contains(all, "no licence") {
		t.Errorf("want a warning about silent and a failure of ends, got\n%s", all)
	}
}

// A file of remembered answers with a mistake is a failure, since it silently changes what is asked.
func TestBrokenAnswers(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, answers.FileName), []byte("[[project.\"/w\".allow]]\ncomand = \"go vet\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &examination{Doctor: &Doctor{Dir: home}, paths: config.Paths{Config: home},
		loaded: &config.Loaded{Config: setting.Default[config.Config](), Getenv: os.Getenv}}
	found := e.configuration(t.Context())
	if len(found) != 1 || found[0].State != Failure || !strings.Contains(found[0].Text, answers.FileName+": line 2") || found[0].Fix == "" {
		t.Errorf("want one failure with the line and a remedy, got %+v", found)
	}
}
