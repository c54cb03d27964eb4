package main

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// rows returns the parts in rows, from the top. A part is one row above the highest one that it imports.
func (g graph) rows() (rows [][]string, err error) {
	heights := map[string]int{}
	var height func(name string, above []string) int
	height = func(name string, above []string) int {
		if slices.Contains(above, name) {
			err = fmt.Errorf("parts import each other: %s", strings.Join(append(above, name), " → "))
			return 0
		}
		if h, ok := heights[name]; ok {
			return h
		}
		h := 0
		for _, below := range g[name] {
			h = max(h, height(below, append(above, name))+1)
		}
		heights[name] = h
		return h
	}
	for _, p := range parts {
		h := height(p.name, nil)
		for len(rows) <= h {
			rows = append(rows, nil)
		}
		rows[h] = append(rows[h], p.name)
	}
	slices.Reverse(rows)
	return rows, err
}

// reduced returns the graph without the arrows whose ends another path connects.
func (g graph) reduced() graph {
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		return from == to || slices.ContainsFunc(g[from], func(next string) bool { return reaches(next, to) })
	}
	out := graph{}
	for from, all := range g {
		for _, to := range all {
			if !slices.ContainsFunc(all, func(other string) bool { return other != to && reaches(other, to) }) {
				out[from] = append(out[from], to)
			}
		}
	}
	return out
}

// The sizes of the picture, in pixels.
const (
	width     = 900
	boxWidth  = 168
	boxHeight = 44
	rowHeight = 86
	margin    = 12
)

// place is where a box is.
type place struct{ x, y int }

// places distributes each row over the width. A row is sorted so that its boxes are near the boxes above that import them.
func places(g graph, rows [][]string) map[string]place {
	at := map[string]place{}
	for i, row := range rows {
		centre := func(name string) int {
			sum, n := 0, 0
			for from, all := range g {
				if p, placed := at[from]; placed && slices.Contains(all, name) {
					sum, n = sum+p.x, n+1
				}
			}
			if n == 0 {
				return (width - boxWidth) / 2
			}
			return sum / n
		}
		slices.SortStableFunc(row, func(a, b string) int { return centre(a) - centre(b) })
		for j, name := range row {
			room := width - 2*margin
			at[name] = place{margin + (2*j+1)*room/(2*len(row)) - boxWidth/2, margin + i*rowHeight}
		}
	}
	return at
}

// draw returns the picture.
func draw(g graph, rows [][]string) string {
	at := places(g, rows)
	var b strings.Builder
	height := 2*margin + (len(rows)-1)*rowHeight + boxHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="The parts of zeph-acp and their imports">`+"\n",
		width, height, width, height)
	b.WriteString(`<style>
rect{fill:#f4f6fa;stroke:#5b6b84}path{fill:none;stroke:#8a97ab;stroke-width:1.2}text{text-anchor:middle;fill:#1c2430}
.n{font:bold 12px ui-monospace,Menlo,Consolas,monospace}.a{font:11px system-ui,sans-serif}
@media (prefers-color-scheme:dark){rect{fill:#20262f;stroke:#8a97ab}text{fill:#dfe5ee}}
</style>
<defs><marker id="m" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M1 1 7 4 1 7"/></marker></defs>
`)
	for _, p := range parts {
		for _, to := range g[p.name] {
			x1, y1, x2, y2 := at[p.name].x+boxWidth/2, at[p.name].y+boxHeight, at[to].x+boxWidth/2, at[to].y
			bend := (y2 - y1) / 2
			fmt.Fprintf(&b, `<path marker-end="url(#m)" d="M%d %dC%d %d %d %d %d %d"/>`+"\n", x1, y1, x1, y1+bend, x2, y2-bend, x2, y2-1)
		}
	}
	for _, p := range parts {
		x, y := at[p.name].x, at[p.name].y
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="6"/><text class="n" x="%d" y="%d">%s</text><text class="a" x="%d" y="%d">%s</text>`+"\n",
			x, y, boxWidth, boxHeight, x+boxWidth/2, y+18, html.EscapeString(p.name), x+boxWidth/2, y+35, html.EscapeString(p.about))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
