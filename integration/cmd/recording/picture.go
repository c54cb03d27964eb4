package main

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// The measures of the picture, in pixels.
const (
	cell   = 8.4
	line   = 18
	margin = 14
)

// colors are the terminal's colors: dark grey to white, then the bright ones.
var colors = []string{
	"#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0",
	"#7f8796", "#ef8a92", "#b1d99a", "#f0d398", "#86c3f7", "#d79ae6", "#7fd0da", "#ffffff",
}

// picture draws the screens as an SVG in which each is shown for its time, then again from
// the first. Without animation it shows the last one.
func picture(frames []frame) string {
	total := 0.0
	for _, f := range frames {
		total += f.seconds
	}
	var style, body strings.Builder
	began := 0.0
	for i, f := range frames {
		from, to := 100*began/total, 100*(began+f.seconds)/total
		began += f.seconds
		fmt.Fprintf(&style, "@keyframes f%d{0%%{opacity:0}%.2f%%{opacity:1}%.2f%%{opacity:0}}\n", i, from, to)
		last := ""
		if i == len(frames)-1 {
			last = " last"
		}
		fmt.Fprintf(&body, "<g class=\"f%s\" style=\"animation-name:f%d\">\n%s</g>\n", last, i, screen(f.text))
	}
	width, height := columns*cell+2*margin, float64(rows*line+2*margin)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]g" width="%[1]g" height="%[2]g" role="img" aria-label="A turn of zeph-acp in a terminal">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dae0;white-space:pre}
.b{font-weight:bold}.d{opacity:.65}.i{font-style:italic}.u{text-decoration:underline}
.f{opacity:0;animation-duration:%.1[3]fs;animation-iteration-count:infinite;animation-timing-function:step-end}
@media (prefers-reduced-motion:reduce){.f{animation:none}.last{opacity:1}}
%[4]s</style>
<rect width="100%%" height="100%%" rx="8" fill="#1e222a"/>
%[5]s</svg>
`, width, height, total, style.String(), body.String())
}

// screen draws the lines of one screen.
func screen(text string) string {
	var b strings.Builder
	for row, text := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		column := 0
		for _, r := range runs(text) {
			if strings.TrimSpace(r.text) != "" {
				n := len([]rune(r.text))
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>`+"\n",
					margin+float64(column)*cell, margin+(row+1)*line-4, float64(n)*cell, r.attributes(), html.EscapeString(r.text))
			}
			column += len([]rune(r.text))
		}
	}
	return b.String()
}

// styled is a text in one style.
type styled struct {
	text                         string
	bold, dim, italic, underline bool
	color                        string // empty means the usual one
}

func (s styled) attributes() string {
	var classes []string
	for _, c := range []struct {
		on   bool
		name string
	}{{s.bold, "b"}, {s.dim, "d"}, {s.italic, "i"}, {s.underline, "u"}} {
		if c.on {
			classes = append(classes, c.name)
		}
	}
	out := ""
	if len(classes) > 0 {
		out = ` class="` + strings.Join(classes, " ") + `"`
	}
	if s.color != "" {
		out += ` style="fill:` + s.color + `"`
	}
	return out
}

// escape matches an escape sequence of a style, or any other, which is dropped.
var escape = regexp.MustCompile("\x1b\\[([0-9;]*)m|\x1b[()][A-Z0-9]|[\x0e\x0f]")

// runs divides a line into texts of one style.
func runs(text string) (out []styled) {
	style, at := styled{}, 0
	add := func(part string) {
		if part != "" {
			s := style
			s.text = part
			out = append(out, s)
		}
	}
	for _, m := range escape.FindAllStringSubmatchIndex(text, -1) {
		add(text[at:m[0]])
		at = m[1]
		if m[2] >= 0 {
			style.apply(text[m[2]:m[3]])
		}
	}
	add(text[at:])
	return out
}

// apply applies the parameters of a sequence: https://en.wikipedia.org/wiki/ANSI_escape_code#SGR
func (s *styled) apply(parameters string) {
	codes := strings.Split(parameters, ";")
	for i := 0; i < len(codes); i++ {
		n, _ := strconv.Atoi(codes[i]) // an empty one is 0
		switch {
		case n == 0:
			*s = styled{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.dim = true
		case n == 3:
			s.italic = true
		case n == 4:
			s.underline = true
		case n == 22:
			s.bold, s.dim = false, false
		case n == 23:
			s.italic = false
		case n == 24:
			s.underline = false
		case n >= 30 && n <= 37:
			s.color = colors[n-30]
		case n >= 90 && n <= 97:
			s.color = colors[n-90+8]
		case n == 38 && i+2 < len(codes) && codes[i+1] == "5":
			if c, _ := strconv.Atoi(codes[i+2]); c < len(colors) {
				s.color = colors[c]
			}
			i += 2
		case n == 39:
			s.color = ""
		}
	}
}
