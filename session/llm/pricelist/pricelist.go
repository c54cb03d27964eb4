// Package pricelist has the public prices of common models.
//
// Start with [Of]. The list is prices.txt, which update.go writes. Its prices are those of the
// maker's own server; a reseller has other ones.
package pricelist

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

//go:embed prices.txt
var list string

// snapshot matches the date in the name of a snapshot.
var snapshot = lazyregexp.New(`-([0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2})$`)

// Date returns the date of the list, such as 2026-11-28.
func Date() string { return strings.Fields(list)[1] }

// Of returns the price of a model at a server such as api.anthropic.com, or the zero value if it
// is not in the list. A snapshot with a date has the price of its model.
func Of(host, model string) llm.Price {
	rows := rowsOf(host, model)
	if len(rows) == 0 {
		rows = rowsOf(host, snapshot.ReplaceAllString(model, ""))
	}
	var price llm.Price
	for i := len(rows) - 1; i >= 0; i-- { // the longest requests first
		p := llm.Price{Input: rows[i][1], Output: rows[i][2], CacheRead: rows[i][3], CacheWrite: rows[i][4]}
		if i+1 < len(rows) {
			p.Long = &llm.LongPrice{From: int(rows[i+1][0]), Price: price}
		}
		price = p
	}
	return price
}

// rowsOf returns the numbers of the rows of a model: the length of the input from which the row
// holds, in tokens, and the prices.
func rowsOf(host, model string) (rows [][5]float64) {
	rest, key := list, "\n"+host+" "+model+" "
	for host != "" && model != "" {
		_, after, ok := strings.Cut(rest, key)
		if !ok {
			break
		}
		line, _, _ := strings.Cut(after, "\n")
		var row [5]float64
		for i, field := range strings.Fields(line) {
			row[i], _ = strconv.ParseFloat(field, 64) // "-", which is none, becomes 0
		}
		rows, rest = append(rows, row), after[len(line):]
	}
	return rows
}
