package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// speed measures start, turns and memory beside other agents.
func (o *options) speed(root, dir string) (string, error) {
	load := loadAverage()
	if err := workspace(root); err != nil {
		return "", err
	}
	all, err := findPeers(root, dir, o.binary)
	if err != nil {
		return "", err
	}
	defer func() {
		for _, p := range all {
			if p.model != nil {
				_ = p.model.Quit()
			}
		}
	}()
	measurePeers(all, filepath.Join(root, "work"), o.rounds)
	if all[0].failed != nil {
		return "", all[0].failed
	}
	return besideTable(all) + fmt.Sprintf("\nThe machine: %s. Medians of %d rounds.\n", machine(load), o.rounds), nil
}

// besideTable writes the figures of all agents, their versions, and where ours is not first.
func besideTable(all []*peer) string {
	var failed, versions, behind []string
	for _, p := range all {
		if p.failed != nil {
			failed = append(failed, fmt.Sprintf("- %s was not measured: %s", p.name, oneLine(p.failed.Error())))
			continue
		}
		version := p.version
		if version == "" { // our binary, or a program by itself
			version = p.name + " (the version of this page)"
		}
		versions = append(versions, version)
	}
	text := columns(all, timeColumns) + "\n" + columns(all, memoryColumns) + "\nVersions: " + strings.Join(versions, ", ") + ".\n"
	for _, r := range slices.Concat(timeColumns, memoryColumns) {
		ours, _ := all[0].median(r)
		for _, p := range all[1:] {
			if v, ok := p.median(r); ok && p.failed == nil && v < ours {
				behind = append(behind, fmt.Sprintf("%s (%s)", r.name, p.name))
			}
		}
	}
	switch {
	case len(behind) > 0:
		text += "\nzeph-acp is not first in: " + strings.Join(behind, ", ") + ".\n"
	case len(versions) > 1:
		text += "\nzeph-acp is first in each column.\n"
	}
	if len(failed) > 0 {
		text += "\n" + strings.Join(failed, "\n") + "\n"
	}
	return text
}

// columns writes a table with a row for each agent that was measured.
func columns(all []*peer, rows []*row) string {
	var t table
	head := []string{"agent"}
	for _, r := range rows {
		head = append(head, r.name+", "+r.unit)
	}
	t.head(head...)
	for _, p := range all {
		if p.failed != nil {
			continue
		}
		cells := []string{p.name}
		for _, r := range rows {
			cells = append(cells, p.cell(r, all[0]))
		}
		t.row(cells...)
	}
	return t.String()
}

// cell returns a figure, and for peers its ratio to ours.
func (p *peer) cell(r *row, ours *peer) string {
	v, ok := p.median(r)
	if !ok {
		return "–"
	}
	if base, ok := ours.median(r); ok && p != ours {
		return fmt.Sprintf("%s (%s ×)", figure(v), figure(v/base))
	}
	return figure(v)
}

// figure writes a number with two or three significant digits.
func figure(v float64) string {
	switch {
	case v >= 99.5:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.95:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	}
	return fmt.Sprintf("%.2g", math.Round(v*100)/100)
}

// oneLine returns the beginning of a message on one line.
func oneLine(text string) string {
	const most = 200
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
