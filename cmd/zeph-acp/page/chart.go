package page

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/net/html"
)

// Chart is a chart of stacked bars.
type Chart struct {
	Title  string
	Bar    string   // what a bar stands for, such as "Turn"
	Labels []string // of the bars
	Series []Series // from the bottom up; at most four
	Format func(float64) string
}

// Series are the parts of one kind in all bars.
type Series struct {
	Name   string
	Values []float64 // as many as the chart has labels
}

// The size of the drawing, in its own units. It is stretched to the width of the page,
// so it contains no text.
const (
	chartWidth  = 600.0
	chartHeight = 120.0
)

// maxBars is the number of bars that a reader can distinguish.
const maxBars = 100

// Node returns the chart with its legend, and with the same numbers as a table. If the bars
// are too many, each stands for several labels. A chart of zeros is nil.
func (c Chart) Node() *html.Node {
	c = c.grouped()
	largest := slices.Max(append([]float64{0}, c.sums()...))
	if largest == 0 || math.IsInf(largest, 1) {
		return nil
	}
	title := El("figcaption", "", El("span", "title", Text(c.Title)), c.legend())
	numbers := Fold("numbers", []*html.Node{Text("Show the numbers")}, c.table())
	if len(c.Labels) == 1 {
		if len(c.shown()) == 1 {
			return nil // a bar without parts and without another one beside it says nothing
		}
		return El("figure", "chart", title, El("p", "scale", Text(c.Labels[0]+": "+c.Format(largest))), c.bar(largest), numbers)
	}
	return El("figure", "chart", title,
		El("p", "scale", Text("Highest: "+c.Format(largest))),
		c.bars(largest),
		El("p", "axis", Span("", c.Labels[0]), Span("", c.Labels[len(c.Labels)-1])),
		numbers,
	)
}

// shown returns the numbers of the series that have a value.
func (c Chart) shown() (series []int) {
	for i, s := range c.Series {
		if slices.ContainsFunc(s.Values, func(f float64) bool { return f > 0 }) {
			series = append(series, i)
		}
	}
	return series
}

// grouped returns the chart with at most maxBars bars.
func (c Chart) grouped() Chart {
	each := (len(c.Labels) + maxBars - 1) / maxBars
	if each < 2 {
		return c
	}
	var labels []string
	series := slices.Clone(c.Series)
	for i := range series {
		series[i].Values = nil
	}
	for from := 0; from < len(c.Labels); from += each {
		to := min(from+each, len(c.Labels))
		labels = append(labels, c.Labels[from]+" to "+c.Labels[to-1])
		for i, s := range c.Series {
			sum := 0.0
			for _, v := range s.Values[from:to] {
				sum += v
			}
			series[i].Values = append(series[i].Values, sum)
		}
	}
	c.Labels, c.Series = labels, series
	return c
}

// sums returns the heights of the bars.
func (c Chart) sums() []float64 {
	sums := make([]float64, len(c.Labels))
	for _, s := range c.Series {
		for i, v := range s.Values {
			sums[i] += v
		}
	}
	return sums
}

// legend returns the names of the series that have a value; nil for a single series.
func (c Chart) legend() *html.Node {
	if len(c.Series) < 2 {
		return nil
	}
	legend := El("span", "legend")
	for _, i := range c.shown() {
		legend.AppendChild(El("span", "", With(El("span", fmt.Sprintf("swatch series%d", i+1)), "aria-hidden", "true"), Text(c.Series[i].Name)))
	}
	return legend
}

// bars returns the drawing, in which a bar of the largest sum fills the height.
func (c Chart) bars(largest float64) *html.Node {
	svg := c.drawing("", "a bar for each of "+fmt.Sprint(len(c.Labels)))
	step := chartWidth / float64(len(c.Labels))
	width := min(step*0.72, 48)
	for i := range c.Labels {
		top := chartHeight
		for n, s := range c.Series {
			height := s.Values[i] / largest * chartHeight
			if height <= 0 {
				continue
			}
			height = max(height, 1) // a small part shows, too
			top -= height
			svg.AppendChild(rect(step*float64(i)+(step-width)/2, max(top, 0), width, height, fmt.Sprintf("series%d", n+1)))
		}
	}
	return svg
}

// bar returns the drawing of a single bar, which lies and fills the width.
func (c Chart) bar(sum float64) *html.Node {
	svg := c.drawing("lying", "one bar")
	x := 0.0
	for n, s := range c.Series {
		if width := s.Values[0] / sum * chartWidth; width > 0 {
			svg.AppendChild(rect(x, 0, width, chartHeight, fmt.Sprintf("series%d", n+1)))
			x += width
		}
	}
	return svg
}

// drawing returns an empty drawing with a description.
func (c Chart) drawing(class, what string) *html.Node {
	svg := El("svg", class)
	With(svg, "viewBox", fmt.Sprintf("0 0 %g %g", chartWidth, chartHeight))
	With(svg, "preserveAspectRatio", "none")
	With(svg, "role", "img")
	return With(svg, "aria-label", c.Title+": "+what+"; the numbers are below")
}

// rect returns a rectangle of a drawing.
func rect(x, y, width, height float64, class string) *html.Node {
	n := El("rect", class)
	With(n, "x", fmt.Sprintf("%.2f", x))
	With(n, "y", fmt.Sprintf("%.2f", y))
	With(n, "width", fmt.Sprintf("%.2f", width))
	With(n, "height", fmt.Sprintf("%.2f", height))
	return n
}

// table returns the numbers as a table.
func (c Chart) table() *html.Node {
	columns := []Column{{Title: c.Bar}}
	for _, s := range c.Series {
		columns = append(columns, Column{s.Name, true})
	}
	var rows [][]*html.Node
	for i, label := range c.Labels {
		row := []*html.Node{Text(label)}
		for _, s := range c.Series {
			row = append(row, Text(c.Format(s.Values[i])))
		}
		rows = append(rows, row)
	}
	return Table(c.Title, columns, rows)
}
