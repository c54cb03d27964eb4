// Package tools is the command "zeph-acp tools", which prints the tools with their
// parameters.
package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/executors"
)

// NewCommand returns the command tools, which prints the tools of the catalogue. The
// catalogue is built only when the command runs.
func NewCommand(catalogue func() []executors.Tool) *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:     "tools",
		Short:   "Print the tools with their parameters",
		Example: "  zeph-acp tools --json",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch out := cmd.OutOrStdout(); {
			case asJSON && asMarkdown:
				return cli.Usagef("--json and --markdown: want one of them")
			case asJSON:
				return WriteJSON(out, catalogue())
			case asMarkdown:
				return writeMarkdown(out, catalogue())
			default:
				return WriteText(out, catalogue())
			}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of name, description, effects, invocation and schema")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print Markdown, schemas included")
	return cmd
}

// effectNames lists the effects of a tool, by the names in the source.
func effectNames(e executors.Effect) []string {
	names := []string{}
	for _, n := range []struct {
		effect executors.Effect
		name   string
	}{
		{executors.Reads, "reads"},
		{executors.Mutates, "mutates"},
		{executors.Network, "network"},
		{executors.Internal, "internal"},
		{executors.Idempotent, "idempotent"},
	} {
		if e.Has(n.effect) {
			names = append(names, n.name)
		}
	}
	return names
}

// WriteText prints the tools with their summaries and parameters.
func WriteText(w io.Writer, tools []executors.Tool) error {
	width := 0
	for _, t := range tools {
		width = max(width, len(t.Name))
	}
	for _, t := range tools {
		summary, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		params, err := parameters(t)
		if err != nil {
			return err
		}
		for i, line := range append(cli.WrapText(summary, max(cli.TextWidth()-width-2, cli.MinColumn)), params...) {
			name := t.Name
			if i > 0 {
				name = ""
			}
			if _, err := fmt.Fprintf(w, "%-*s  %s\n", width, name, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// parameters returns one line per parameter, the required ones first.
func parameters(t executors.Tool) ([]string, error) {
	var schema struct {
		Properties map[string]any
		Required   []string
	}
	if err := json.Unmarshal(t.Schema, &schema); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
	}
	names := slices.Clone(schema.Required)
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var lines []string
	for i, name := range names {
		p, _ := schema.Properties[name].(map[string]any) // "true" is a valid schema without any detail
		kind, ok := p["type"].(string)
		if !ok {
			kind = "any"
		}
		if i >= len(schema.Required) {
			kind += ", optional"
		}
		lines = append(lines, fmt.Sprintf("  %s (%s)", name, kind))
	}
	return lines, nil
}

// WriteJSON prints the tools as a JSON array.
func WriteJSON(w io.Writer, tools []executors.Tool) error {
	type entry struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Effects     []string        `json:"effects"`
		Invocation  string          `json:"invocation"`
		Schema      json.RawMessage `json:"schema"`
	}
	entries := make([]entry, len(tools))
	for i, t := range tools {
		entries[i] = entry{t.Name, t.Description, effectNames(t.Effect), t.Invocation.String(), t.Offered()}
	}
	return cli.WriteJSON(w, entries)
}

// invocation describes how a model without native tool calls calls the tool.
func invocation(i executors.Invocation) string {
	if i.Tag == "" {
		return "a `tool_call` block"
	}
	return "a fenced block `" + i.Tag + "`"
}

// writeMarkdown prints the tools with their whole descriptions and schemas.
func writeMarkdown(w io.Writer, tools []executors.Tool) error {
	var b bytes.Buffer
	for i, t := range tools {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n\nEffects: %s. Invocation: %s.\n\n```json\n", t.Name,
			strings.TrimSpace(t.Description), strings.Join(effectNames(t.Effect), ", "), invocation(t.Invocation))
		if err := json.Indent(&b, t.Offered(), "", "  "); err != nil {
			return fmt.Errorf("schema of %s: %w", t.Name, err)
		}
		b.WriteString("\n```\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}
