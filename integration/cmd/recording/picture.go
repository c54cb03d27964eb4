package main

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
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

// look is what the screens of a picture share.
type look struct {
	title         string // for those who cannot see it
	columns, rows int
	page, text    string // the usual colors
}

// picture draws the screens as an SVG in which each is shown for its time, then again from
// the first. Without animation it shows the last one.
func picture(l look, frames []frame) string {
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
		fmt.Fprintf(&body, "<g class=\"f%s\" style=\"animation-name:f%d\">\n%s</g>\n", last, i, l.screen(f.text))
	}
	width, height := float64(l.columns)*cell+2*margin, float64(l.rows*line+2*margin)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]g" width="%[1]g" height="%[2]g" role="img" aria-label="%[6]s">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:%[7]s;white-space:pre}
.b{font-weight:bold}.d{opacity:.65}.i{font-style:italic}.u{text-decoration:underline}
.f{opacity:0;animation-duration:%.1[3]fs;animation-iteration-count:infinite;animation-timing-function:step-end}
@media (prefers-reduced-motion:reduce){.f{animation:none}.last{opacity:1}}
%[4]s</style>
<rect width="100%%" height="100%%" rx="8" fill="%[8]s"/>
%[5]s</svg>
`, width, height, total, style.String(), body.String(), html.EscapeString(l.title), l.text, l.page)
}

// screen draws the lines of one screen. A style lasts until the next one, also over the end of
// a line.
func (l look) screen(text string) string {
	var b strings.Builder
	var style styled
	for row, text := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		column := 0
		for _, r := range style.runs(text) {
			n := ansi.StringWidth(r.text)
			x, y, width := margin+float64(column)*cell, margin+row*line, float64(n)*cell
			column += n
			color, background := r.colors(l)
			if background != l.page {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", x, y, width, line, background)
			}
			if strings.TrimSpace(r.text) != "" {
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>`+"\n", x, y+line-4, width, r.attributes(color, l.text), html.EscapeString(r.text))
			}
		}
	}
	return b.String()
}

// styled is a text in one style.
type styled struct {
	text                                  string
	bold, dim, italic, underline, reverse bool
	color, background                     string // empty means the usual one
}

// colors returns the colors of the text and of its background.
func (s styled) colors(l look) (color, background string) {
	color, background = cmp.Or(s.color, l.text), cmp.Or(s.background, l.page)
	if s.reverse {
		return background, color
	}
	return color, background
}

func (s styled) attributes(color, usual string) string {
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
	if color != usual {
		out += ` style="fill:` + color + `"`
	}
	return out
}

// escape matches an escape sequence of a style, or any other, which is dropped.
var escape = regexp.MustCompile("\x1b\\[([0-9;:]*)m|\x1b[()][A-Z0-9]|[\x0e\x0f]")

// runs divides a line, which begins in the style s, into texts of one style. Then s is the style
// of its end.
func (s *styled) runs(text string) (out []styled) {
	at := 0
	add := func(part string) {
		if part != "" {
			r := *s
			r.text = part
			out = append(out, r)
		}
	}
	for _, m := range escape.FindAllStringSubmatchIndex(text, -1) {
		add(text[at:m[0]])
		at = m[1]
		if m[2] >= 0 {
			s.apply(text[m[2]:m[3]])
		}
	}
	add(text[at:])
	return out
}

// apply applies the parameters of a sequence: https://en.wikipedia.org/wiki/ANSI_escape_code#SGR
func (s *styled) apply(parameters string) {
	codes := strings.Split(parameters, ";")
	for i := 0; i < len(codes); i++ {
		code, kind, _ := strings.Cut(codes[i], ":") // 4:3 is a kind of underline, 4:0 is none
		n, _ := strconv.Atoi(code)                  // an empty one is 0
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
			s.underline = kind != "0"
		case n == 7:
			s.reverse = true
		case n == 22:
			s.bold, s.dim = false, false
		case n == 23:
			s.italic = false
		case n == 24:
			s.underline = false
		case n == 27:
			s.reverse = false
		case n >= 30 && n <= 37:
			s.color = colors[n-30]
		case n >= 90 && n <= 97:
			s.color = colors[n-90+8]
		case n >= 40 && n <= 47:
			s.background = colors[n-40]
		case n >= 100 && n <= 107:
			s.background = colors[n-100+8]
		case (n == 38 || n == 48 || n == 58) && kind == "": // the last one is the color of an underline
			color, length := extended(codes[i+1:])
			switch i += length; {
			case n == 38 && color != "":
				s.color = color
			case n == 48 && color != "":
				s.background = color
			}
		case n == 39:
			s.color = ""
		case n == 49:
			s.background = ""
		}
	}
}

// extended returns the color that parameters begin with, and their number: 5 and a number of
// [colors], or 2 and the parts red, green and blue.
func extended(codes []string) (color string, length int) {
	var n [4]int
	for i := range min(len(codes), len(n)) {
		n[i], _ = strconv.Atoi(codes[i])
	}
	switch {
	case n[0] == 5 && len(codes) >= 2:
		if n[1] >= 0 && n[1] < len(colors) {
			color = colors[n[1]]
		}
		return color, 2
	case n[0] == 2 && len(codes) >= 4:
		return fmt.Sprintf("#%02x%02x%02x", uint8(n[1]), uint8(n[2]), uint8(n[3])), 4
	}
	return "", len(codes)
}
