package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/page"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// write returns the source of a page and its parsed form.
func write(t *testing.T, d page.Document) (string, *html.Node) {
	t.Helper()
	var b strings.Builder
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), root
}

// find returns the elements with a tag.
func find(root *html.Node, tag string) (found []*html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == tag {
			found = append(found, n)
		}
	}
	return found
}

const evil = "</title></style></pre><script>x</script>\x1b[2J\u202e\x00\xff\"'&"

// TestDocument checks that texts stay texts in every place.
func TestDocument(t *testing.T) {
	source, root := write(t, page.Document{
		Title: evil, Head: []*html.Node{page.El("h1", "", page.Text(evil))}, Nav: page.Nav(evil, [2]string{evil, evil}), Foot: evil,
		Main: []*html.Node{
			page.Section("s", "", evil, page.Fold("more", []*html.Node{page.Text(evil)}, page.El("pre", "", page.Text("\n"+evil)))),
			page.Figures(page.Figure{Label: evil, Value: evil, Note: evil}, page.Figure{Label: "none"}),
			page.Table(evil, []page.Column{{Title: evil}}, [][]*html.Node{{page.Text(evil)}}),
			page.Chart{Title: evil, Bar: evil, Labels: []string{evil}, Series: []page.Series{{Name: evil, Values: []float64{1}}}, Format: page.Short}.Node(),
		},
	})
	if len(find(root, "script")) > 0 || len(find(root, "style")) != 1 || strings.ContainsAny(source, "\x1b\u202e\x00") {
		t.Errorf("a text became an element, or has control characters:\n%s", source)
	}
	if got := find(root, "pre")[0].FirstChild.Data; got != "\n</title></style></pre><script>x</script><U+001B>[2J<U+202E><U+0000>\uFFFD\"'&" {
		t.Errorf("the text of pre is %q", got)
	}
	if strings.Contains(source, "none") && strings.Contains(source, "<dt>none") {
		t.Error("a figure without a value is shown")
	}
}

// TestPolicy checks that the policy allows the style sheet of the page and nothing else.
func TestPolicy(t *testing.T) {
	_, root := write(t, page.Document{Title: "x"})
	hash := sha256.Sum256([]byte(find(root, "style")[0].FirstChild.Data))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; base-uri 'none'; form-action 'none'"
	for _, meta := range find(root, "meta") {
		if meta.Attr[0].Val == "Content-Security-Policy" {
			if diff := cmp.Diff(want, meta.Attr[1].Val); diff != "" {
				t.Errorf("policy (-want +got)\n%s", diff)
			}
			return
		}
	}
	t.Error("there is no policy")
}

// TestChart checks that no bar leaves the drawing, and that a chart of zeros is left out.
func TestChart(t *testing.T) {
	c := page.Chart{Title: "x", Labels: []string{"a", "b", "c"}, Format: page.Short, Series: []page.Series{
		{Name: "one", Values: []float64{100, 0, 0.001}}, {Name: "two", Values: []float64{0.001, 0, 0}}}}
	_, root := write(t, page.Document{Main: []*html.Node{c.Node()}})
	var got []string
	for _, r := range find(root, "rect") {
		var values []string
		for _, a := range r.Attr[1:] {
			values = append(values, a.Val)
		}
		got = append(got, strings.Join(values, " "))
	}
	want := []string{"76.00 0.00 48.00 120.00", "76.00 0.00 48.00 1.00", "476.00 119.00 48.00 1.00"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bars (-want +got)\n%s", diff)
	}
	many := page.Chart{Title: "x", Bar: "Turn", Format: page.Short, Series: []page.Series{{Name: "one"}}}
	for i := range 250 {
		many.Labels, many.Series[0].Values = append(many.Labels, fmt.Sprint(i)), append(many.Series[0].Values, 1)
	}
	source, root := write(t, page.Document{Main: []*html.Node{many.Node()}})
	if n := len(find(root, "rect")); n != 84 || !strings.Contains(source,
		"<td role=\"cell\" data-label=\"Turn\">249 to 249</td><td class=\"number\" role=\"cell\" data-label=\"one\">1</td>") {
		t.Errorf("%d bars, want 84, the last one named 249 to 249", n)
	}
	single := page.Chart{Title: "x", Labels: []string{"a"}, Format: page.Short, Series: []page.Series{
		{Name: "one", Values: []float64{30}}, {Name: "none", Values: []float64{0}}, {Name: "two", Values: []float64{10}}}}
	source, root = write(t, page.Document{Main: []*html.Node{single.Node()}})
	if all := find(root, "rect"); len(all) != 2 || !strings.Contains(source, `x="450.00" y="0.00" width="150.00" height="120.00"`) ||
		strings.Contains(source, "</span>none<") {
		t.Errorf("a single bar does not lie in two parts:\n%s", source)
	}
	if single.Series = single.Series[:2]; single.Node() != nil {
		t.Error("a single bar without parts is shown")
	}
	if (page.Chart{Labels: []string{"a"}, Series: []page.Series{{Values: []float64{math.MaxFloat64}}, {Values: []float64{math.MaxFloat64}}}}).Node() != nil {
		t.Error("values whose sum is infinite have a chart")
	}
	if (page.Chart{Title: "x", Labels: []string{"a"}, Series: []page.Series{{Values: []float64{0}}}}).Node() != nil || (page.Chart{}).Node() != nil {
		t.Error("a chart without values is shown")
	}
}

func TestNumbers(t *testing.T) {
	for want, got := range map[string]string{
		"":           page.Count(0),
		"12,345":     page.Count(12_345),
		"5.0 kB":     page.Saved(5_000),
		"84,120":     page.Tokens(84_120),
		"1.3M":       page.Tokens(1_300_000),
		"0 B":        quantity.Bytes(0),
		"999 B":      quantity.Bytes(999),
		"1.2 kB":     quantity.Bytes(1_234),
		"34 MB":      quantity.Bytes(34_000_000),
		"950":        page.Short(950),
		"1.2k":       page.Short(1_200),
		"84k":        page.Short(84_000),
		"$0.0012":    page.Money(0.0012, "USD"),
		"€1.50":      page.Money(1.5, "EUR"),
		"2.00 XYZ":   page.Money(2, "XYZ"),
		"80 ms":      page.Took(80 * time.Millisecond),
		"4.2 s":      page.Took(4_200 * time.Millisecond),
		"42 s":       page.Took(42 * time.Second),
		"3 min 5 s":  page.Took(185 * time.Second),
		"2 h 10 min": page.Took(130 * time.Minute),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
