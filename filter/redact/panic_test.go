package redact

import "testing"

// A panic of a scan fails a test, although it only masks a line otherwise.
func init() { OnPanic = func(value any) { panic(value) } }

// Texts in which a value ends at the end of the line, or in which only quotes follow a name.
func TestScanOfQuotesAtTheEnd(t *testing.T) {
	for _, name := range []string{"password ", "--password ", "--password=", "PASSWORD ", "passwd: ", "ENV DB_PASSWORD ", "htpasswd -b f u ", "echo "} {
		for _, value := range []string{`"`, "\"`", "`\"'", `""`, `"'`, `\"`, `|`, "| ", `=`, ` " `} {
			for _, end := range []string{"", " ", " | sudo -S ls", " | chpasswd"} {
				text := "a " + name + value + end
				if got, _ := (&Scanner{}).Mask(text); got != text {
					t.Errorf("Mask(%q) = %q, want it unchanged", text, got)
				}
			}
		}
	}
}

// If the scan of a line panics, the line is masked, and the next is shown.
func TestScanPanics(t *testing.T) {
	fail := OnPanic
	defer func() { OnPanic = fail }()
	var got []any
	OnPanic = func(value any) { got = append(got, value) }
	s := &Scanner{}
	all := commonAnchors().clone()
	all.add(anchor{text: []byte("defect"), kind: cloudToken, valueEnd: func([]byte, int, int) int { panic("a defect") }})
	s.anchors.Store(all)
	if masked, _ := s.Mask("one\nthe defect and more\nthree"); masked != "one\n[REDACTED:secret]\nthree" || len(got) != 1 {
		t.Errorf("Mask: %q after the panics %v", masked, got)
	}
}
